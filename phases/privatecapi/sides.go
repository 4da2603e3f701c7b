package privatecapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/phases/rewrite"
)

// Side is where objects of Cluster API are stored.
type Side string

// The sides.
const (
	Standard Side = "standard"
	Private  Side = "private"
)

// Other is the other side.
func (s Side) Other() Side {
	if s == Standard {
		return Private
	}
	return Standard
}

// to maps the text of this side to that of the other one.
func (s Side) to(groupVersion string) string {
	direction := rewrite.ToServer
	if s == Private {
		direction = rewrite.ToClient
	}
	mapped, _ := direction.GroupVersion(groupVersion)
	return mapped
}

// SideOf is the side that a group of Cluster API is on, empty for other groups.
func SideOf(group string) Side {
	if isStandard(group) {
		return Standard
	}
	if mapped, match := rewrite.ToClient.Group(group); match == rewrite.Mapped && isStandard(mapped) {
		return Private
	}
	return ""
}

// isStandard says that a group is one whose objects are stored in a private group for a hosted cluster.
func isStandard(group string) bool {
	mapped, match := rewrite.ToServer.Group(group)
	return match == rewrite.Mapped && strings.HasSuffix(mapped, rewrite.Private)
}

// paired is a kind that both sides serve, each with the version that both serve first.
type paired struct {
	source, target Kind
	// served are all versions of the target.
	served []string
}

// pair finds for each kind of a side the one of the other side. Kinds of either side without one come back by themselves.
func pair(kinds []Kind, source Side) (pairs []paired, alone []Kind) {
	on := map[string]Kind{}
	for _, k := range kinds {
		on[k.Group+"/"+k.Resource] = k
	}
	for _, k := range kinds {
		side := SideOf(k.Group)
		if side == "" {
			continue
		}
		other, found := on[side.to(k.Group)+"/"+k.Resource]
		version := slices.IndexFunc(k.Versions, func(v string) bool { return slices.Contains(other.Versions, v) })
		switch {
		case !found || version < 0:
			alone = append(alone, k)
		case side == source:
			served, both := other.Versions, []string{k.Versions[version]}
			k.Versions, other.Versions = both, both
			pairs = append(pairs, paired{source: k, target: other, served: served})
		}
	}
	slices.SortFunc(pairs, func(a, b paired) int { return cmp.Compare(a.source.name(), b.source.name()) })
	return pairs, alone
}

// couple is an object of the source and its counterpart of the target. One of them may be nil.
type couple struct {
	kinds          paired
	source, target *unstructured.Unstructured
}

// isCopy says that the target was made for the source.
func (c couple) isCopy() bool {
	return c.source != nil && c.target != nil && c.target.GetAnnotations()[guards.MigratedFromAnnotation] == string(c.source.GetUID())
}

// isPair says that the target is the copy of the source, or that the source was brought to where the target was that was born there.
func (c couple) isPair() bool { return c.isCopy() || c.source != nil && c.target != nil && c.isNoted() }

// isStranger says that the target was there before the move, or came behind the fence: nothing there runs yet that could have made it.
func (s *sides) isStranger(c couple) bool {
	return !s.ran && c.target != nil && !c.isPair() && c.target.GetAnnotations()[guards.MigratedByAnnotation] == ""
}

// name is the couple for people.
func (c couple) name() string {
	if c.source != nil {
		return nameOf(c.source)
	}
	return nameOf(c.target)
}

func nameOf(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// sides are all objects of Cluster API of a hosted cluster.
type sides struct {
	source Side
	// move names the move that copies are made by, and its stage; ran says that the target runs, or may have.
	move string
	ran  bool
	// couples are ordered: owners first.
	couples []couple
	// alone are objects of kinds that the other side does not have.
	alone []*unstructured.Unstructured
	// copied and uncopied map UIDs of source objects to those of their counterparts, and back.
	copied, uncopied map[types.UID]types.UID
}

func newSides(source Side, couples []couple, alone []*unstructured.Unstructured) *sides {
	s := &sides{source: source, couples: couples, alone: alone, copied: map[types.UID]types.UID{}, uncopied: map[types.UID]types.UID{}}
	for _, c := range couples {
		if c.source != nil && c.target != nil {
			s.copied[c.source.GetUID()] = c.target.GetUID()
			s.uncopied[c.target.GetUID()] = c.source.GetUID()
		}
	}
	s.order()
	return s
}

// order puts owners before what they own.
func (s *sides) order() {
	owned := map[types.UID][]types.UID{}
	for _, c := range s.couples {
		for _, o := range []*unstructured.Unstructured{c.source, c.target} {
			if o == nil {
				continue
			}
			for _, ref := range owners(o) {
				owned[o.GetUID()] = append(owned[o.GetUID()], ref.UID)
			}
		}
	}
	depths := map[types.UID]int{}
	var depth func(uid types.UID, left int) int
	depth = func(uid types.UID, left int) int {
		if known, is := depths[uid]; is || left == 0 { // a circle of owners ends where it is met
			return known
		}
		most := 0
		for _, owner := range owned[uid] {
			most = max(most, 1+depth(owner, left-1))
		}
		depths[uid] = most
		return most
	}
	const deepest = 64
	rank := func(c couple) int {
		most := 0
		for _, o := range []*unstructured.Unstructured{c.source, c.target} {
			if o != nil {
				most = max(most, depth(o.GetUID(), deepest))
			}
		}
		return most
	}
	slices.SortStableFunc(s.couples, func(a, b couple) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.kinds.source.name(), b.kinds.source.name()), cmp.Compare(a.name(), b.name()))
	})
}

// oneOfEach is of each kind the first couple that has an object at the source.
func (s *sides) oneOfEach() []couple {
	var first []couple
	seen := map[string]bool{}
	for _, c := range s.couples {
		if c.source != nil && !seen[c.kinds.source.name()] {
			seen[c.kinds.source.name()] = true
			first = append(first, c)
		}
	}
	return first
}

// counts are how many objects lie on a side.
func (s *sides) counts() (source, target int) {
	for _, c := range s.couples {
		if c.source != nil {
			source++
		}
		if c.target != nil {
			target++
		}
	}
	for _, o := range s.alone {
		if SideOf(groupOf(o.GetAPIVersion())) == s.source {
			source++
		} else {
			target++
		}
	}
	return source, target
}

func (s *sides) essenceOfSource(c couple) map[string]any {
	return essence(c.source, func(text string) string { return text }, nil)
}

func (s *sides) essenceOfTarget(c couple) map[string]any {
	return essence(c.target, s.source.Other().to, s.uncopied)
}

// sidesIn reads all objects of Cluster API in a namespace. Kinds that cannot be listed come back with why.
func (p *Phases) sidesIn(ctx context.Context, kinds []Kind, source Side, namespace string) (_ *sides, unlisted map[string]error) {
	pairs, alone := pair(kinds, source)
	unlisted = map[string]error{}
	list := func(kind, named Kind) []*unstructured.Unstructured {
		if !kind.Namespaced || unlisted[named.name()] != nil {
			return nil
		}
		found, err := p.API.List(ctx, kind, namespace, "")
		if err != nil {
			unlisted[named.name()] = fmt.Errorf("listing %s: %w", kind.name(), err)
		}
		return found
	}
	var couples []couple
	for _, kind := range pairs {
		of, to := list(kind.source, kind.source), list(kind.target, kind.source)
		if unlisted[kind.source.name()] == nil {
			couples = append(couples, coupled(kind, of, to)...)
		}
	}
	var rest []*unstructured.Unstructured
	for _, kind := range alone {
		rest = append(rest, list(kind, kind)...)
	}
	return newSides(source, couples, rest), unlisted
}

func coupled(kinds paired, of, to []*unstructured.Unstructured) []couple {
	at := map[string]int{}
	var couples []couple
	for _, source := range of {
		at[source.GetName()] = len(couples)
		couples = append(couples, couple{kinds: kinds, source: source})
	}
	for _, target := range to {
		if i, known := at[target.GetName()]; known {
			couples[i].target = target
			continue
		}
		couples = append(couples, couple{kinds: kinds, target: target})
	}
	return couples
}

// Counterpart is the group of the other side, of a group of Cluster API.
func Counterpart(group string) string { return SideOf(group).to(group) }

// StandardText is an apiVersion as the standard side has it.
func StandardText(apiVersion string) string {
	if SideOf(groupOf(apiVersion)) == Private {
		return Private.to(apiVersion)
	}
	return apiVersion
}

// SeenByClient is an object of the private side as a component sees it through the proxy.
func SeenByClient(o *unstructured.Unstructured) *unstructured.Unstructured {
	body, _ := renamed(o.Object, Private.to).(map[string]any)
	return &unstructured.Unstructured{Object: body}
}
