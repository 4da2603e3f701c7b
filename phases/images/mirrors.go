package images

import (
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/images/trust"
)

// Mirrors says where else the images of a source may be found, in the terms of the type ImageDigestMirrors of
// github.com/openshift/api.
type Mirrors struct {
	// Source is host[:port], that with a path, or *.host for all hosts under one.
	Source string
	// Mirrors take the place of Source in a reference, the first one first.
	Mirrors []string
	// NeverSource forbids asking the source itself when no mirror has the image.
	NeverSource bool
}

// places returns the references under which an image may be found, in the order in which to ask, and whether the source
// itself is excluded. Only the most specific source counts. A mirror that makes no valid reference is left out, and one
// that is a source itself and excluded as such: nodes block it.
func places(ref Ref, all []Mirrors) (found []Ref, sourceExcluded bool) {
	replaced, lists, sourceExcluded := mostSpecific(ref, all)
	for _, mirror := range merged(lists) {
		place, err := ParseRef(mirror + string(ref)[replaced:])
		if err != nil || place == ref {
			continue
		}
		if _, _, excluded := mostSpecific(place, all); !excluded {
			found = append(found, place)
		}
	}
	if !sourceExcluded {
		found = append(found, ref)
	}
	return found, sourceExcluded
}

// mostSpecific returns how much of a reference the most specific source stands for that has mirrors, their lists, and
// whether it may not be asked itself.
func mostSpecific(ref Ref, all []Mirrors) (replaced int, lists [][]string, excluded bool) {
	name, _, _ := strings.Cut(string(ref), "@")
	specific := 0
	for _, m := range all {
		length := matched(m.Source, name)
		rank := len(strings.TrimPrefix(m.Source, "*"))
		if length == 0 || len(m.Mirrors) == 0 || rank < specific {
			continue
		}
		if rank > specific {
			replaced, specific, lists, excluded = length, rank, nil, false
		}
		lists = append(lists, m.Mirrors)
		excluded = excluded || m.NeverSource
	}
	return replaced, lists, excluded
}

// allowed returns the places of an image that may be asked, in the order in which to ask. What is allowed is a scope of
// the container runtime's policy on nodes, what is blocked is one too and a prefix in its registries.conf: hence a host
// without its port blocks the host with every port, and allows none of them.
func (a Access) allowed(ref Ref) ([]Ref, bool, *Error) {
	if len(a.Allowed) > 0 {
		scopes, err := trust.ScopesOf(string(ref))
		if err != nil {
			return nil, false, fail(KindPolicy, "%w", err)
		}
		if !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(a.Allowed, scope) }) {
			name, _, _ := strings.Cut(string(ref), "@")
			return nil, false, fail(KindPolicy, "%s is not under any of the allowedRegistries of Image cluster (images.config.openshift.io), "+
				"%s; add it there, or list the image from where it is allowed", name, message.Shorten(strings.Join(a.Allowed, ", "), 160))
		}
	}
	found, sourceExcluded := places(ref, a.Mirrors)
	var left []Ref
	for _, place := range found {
		if !slices.ContainsFunc(a.Blocked, func(blocked string) bool { return matched(blocked, string(place)) > 0 }) {
			left = append(left, place)
		}
	}
	if len(found) > 0 && len(left) == 0 {
		return nil, false, fail(KindPolicy, "each place that has it is under one of the blockedRegistries of Image cluster (images.config.openshift.io), "+
			"%s; take it out there, or name a mirror that is not blocked", message.Shorten(strings.Join(a.Blocked, ", "), 160))
	}
	return left, sourceExcluded, nil
}

// matched returns how many bytes of a name, as host/path, a source stands for: whole hosts, with or without their port,
// and whole parts of the path only. It is that of registries.conf on nodes, refMatchingPrefix in
// https://github.com/containers/container-libs/blob/main/image/pkg/sysregistriesv2/system_registries_v2.go.
func matched(source, name string) int {
	if under, ok := strings.CutPrefix(source, "*"); ok {
		host, _, _ := strings.Cut(name, "/")
		host, _, _ = strings.Cut(host, ":")
		if strings.HasSuffix(host, under) && len(host) > len(under) {
			return len(host)
		}
		return 0
	}
	rest, begins := strings.CutPrefix(name, source)
	if source != "" && begins && (rest == "" || strings.ContainsRune(":/@", rune(rest[0]))) {
		return len(source)
	}
	return 0
}

// merged puts lists together so that the order of each is kept, as long as they do not contradict each other.
func merged(lists [][]string) []string {
	var all []string
	for _, list := range lists {
		for _, mirror := range list {
			if !slices.Contains(all, mirror) {
				all = append(all, mirror)
			}
		}
	}
	var done []string
	for len(all) > 0 {
		next := max(0, slices.IndexFunc(all, func(mirror string) bool { return !behind(mirror, all, lists) }))
		done = append(done, all[next])
		all = slices.Delete(all, next, next+1)
	}
	return done
}

// behind reports whether some list has one of the others before a mirror.
func behind(mirror string, others []string, lists [][]string) bool {
	return slices.ContainsFunc(lists, func(list []string) bool {
		at := slices.Index(list, mirror)
		return at > 0 && slices.ContainsFunc(list[:at], func(before string) bool {
			return before != mirror && slices.Contains(others, before)
		})
	})
}
