package images

import (
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
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
// itself is excluded. Only the most specific source counts. A mirror that makes no valid reference is left out.
func places(ref Ref, all []Mirrors) (found []Ref, sourceExcluded bool) {
	name, _, _ := strings.Cut(string(ref), "@")
	var replaced, specific int
	var lists [][]string
	for _, m := range all {
		length := matched(m.Source, name)
		rank := len(strings.TrimPrefix(m.Source, "*"))
		if length == 0 || len(m.Mirrors) == 0 || rank < specific {
			continue
		}
		if rank > specific {
			replaced, specific, lists, sourceExcluded = length, rank, nil, false
		}
		lists = append(lists, m.Mirrors)
		sourceExcluded = sourceExcluded || m.NeverSource
	}
	for _, mirror := range merged(lists) {
		if place, err := ParseRef(mirror + string(ref)[replaced:]); err == nil && place != ref {
			found = append(found, place)
		}
	}
	if !sourceExcluded {
		found = append(found, ref)
	}
	return found, sourceExcluded
}

// allowed returns the places of an image that may be asked, in the order in which to ask.
func (a Access) allowed(ref Ref) ([]Ref, bool, *Error) {
	name, _, _ := strings.Cut(string(ref), "@")
	if len(a.Allowed) > 0 && !covers(a.Allowed, name) {
		return nil, false, fail(KindPolicy, "%s is not under any of the allowedRegistries of Image cluster (images.config.openshift.io), "+
			"%s; add it there, or list the image from where it is allowed", name, message.Shorten(strings.Join(a.Allowed, ", "), 160))
	}
	found, sourceExcluded := places(ref, a.Mirrors)
	var left []Ref
	for _, place := range found {
		if name, _, _ := strings.Cut(string(place), "@"); !covers(a.Blocked, name) {
			left = append(left, place)
		}
	}
	if len(found) > 0 && len(left) == 0 {
		return nil, false, fail(KindPolicy, "each place that has it is under one of the blockedRegistries of Image cluster (images.config.openshift.io), "+
			"%s; take it out there, or name a mirror that is not blocked", message.Shorten(strings.Join(a.Blocked, ", "), 160))
	}
	return left, sourceExcluded, nil
}

func covers(sources []string, name string) bool {
	return slices.ContainsFunc(sources, func(source string) bool { return matched(source, name) > 0 })
}

// matched returns how many bytes of a name, as host/path, a source stands for: whole hosts and whole parts of the path
// only.
func matched(source, name string) int {
	host, _, _ := strings.Cut(name, "/")
	if under, ok := strings.CutPrefix(source, "*"); ok {
		if strings.HasSuffix(host, under) && len(host) > len(under) {
			return len(host)
		}
		return 0
	}
	if name == source || strings.HasPrefix(name, source+"/") {
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
