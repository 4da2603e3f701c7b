package crdschema

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capstan-capi/capstan/message"
)

// Compare judges whether a live definition, which must not be nil, has what is needed.
func (n *Need) Compare(live *apiextensionsv1.CustomResourceDefinition) Verdict {
	var verdict Verdict
	if live.Spec.Names.Kind != n.kind {
		verdict.miss("the kind is not %s", n.kind)
	}
	if live.Spec.Scope != n.scope {
		verdict.miss("the scope is not %s", n.scope)
	}
	for _, version := range live.Spec.Versions {
		if version.Storage && version.Name != n.storage {
			verdict.warn("the storage version is %s, and not %s", version.Name, n.storage)
		}
	}
	demands := 0
	for _, name := range n.selected {
		n.compareVersion(name, live, &verdict, &demands)
	}
	if more := demands - maxDemands; more > 0 {
		verdict.warn("%d more fields are required, and unknown to the requirement", more)
	}
	return verdict.sorted()
}

// Bounds of what is told of a live definition. All else is told once for a field of the requirement at most, of which the paths
// are bounded.
const (
	// maxDemands is how many fields are told that are required and unknown to the requirement.
	maxDemands = 1000
	maxPath    = 1024 // bytes of each
)

func (n *Need) compareVersion(name string, live *apiextensionsv1.CustomResourceDefinition, verdict *Verdict, demands *int) {
	version := versionOf(live, name)
	if version == nil {
		verdict.miss("%s%s", name, versionMissing)
		return
	}
	needed := n.versions[name]
	if needed.served && !version.Served {
		verdict.miss("%s: the version is not served", name)
	}
	if needed.status && (version.Subresources == nil || version.Subresources.Status == nil) {
		verdict.miss("%s: the status subresource%s", name, isMissing)
	}
	if needed.scale && (version.Subresources == nil || version.Subresources.Scale == nil) {
		verdict.miss("%s: the scale subresource%s", name, isMissing)
	}
	c := comparison{version: name, verdict: verdict, demands: demands, unpruned: live.Spec.PreserveUnknownFields}
	c.compare(needed.root, tree(version.Schema, true), pair{excluded: n.excluded[name]})
}

// What lines end with, for those that compare them.
const (
	isMissing      = " is missing"
	versionMissing = ": the version" + isMissing
)

func (v *Verdict) miss(format string, arguments ...any) {
	v.Missing = append(v.Missing, fmt.Sprintf(format, arguments...))
}

func (v *Verdict) warn(format string, arguments ...any) {
	v.Warnings = append(v.Warnings, fmt.Sprintf(format, arguments...))
}

// comparison is that of one version.
type comparison struct {
	version  string
	verdict  *Verdict
	unpruned bool // the live definition preserves what it does not know, everywhere
	demands  *int // how many fields are required and unknown
}

// pair is where two nodes are, and what they have of the nodes around them.
type pair struct {
	path     string
	excluded Exclusions
	// preserved says that lists around them preserve unknown fields: that holds for their items.
	needPreserves, livePreserves bool
}

// implied are the fields of an embedded resource.
var implied = []string{"apiVersion", "kind", "metadata"}

func (c *comparison) compare(need, live *node, at pair) {
	at.needPreserves = at.needPreserves || need.preserves
	at.livePreserves = at.livePreserves || live.preserves || c.unpruned
	// What is of any type has objects, too: it preserves their fields or loses them.
	open := live.kind == anything && need.kind == object && len(need.fields) > 0
	switch {
	case open:
	case need.kind != live.kind, need.kind == object && c.mapForObject(need, live, at):
		c.warn(at.path, "the type changed from %s to %s", need, live)
		return
	case need.topology != live.topology:
		c.warn(at.path, "the type of the %s changed from %s to %s", need, need.topology, live.topology)
		return
	}
	// A list preserves nothing itself: its items do.
	if at.needPreserves && !at.livePreserves && need.kind != list {
		c.warn(at.path, "unknown fields are not preserved")
	}
	c.compareFields(need, live, at)
	c.compareInner(need, live, at)
	c.compareDemands(need, live, at)
}

// mapForObject says that one of two objects is a map and the other has fields of its own. An object without either has lost
// them, or never had them.
func (c *comparison) mapForObject(need, live *node, at pair) bool {
	return len(need.fields) > 0 && live.isMap() || need.isMap() && len(live.fields) > 0 && !at.livePreserves
}

func (c *comparison) compareFields(need, live *node, at pair) {
	for i := range need.fields {
		field := &need.fields[i]
		if at.excluded.Has(field.name) || at.path == "" && slices.Contains(implied, field.name) {
			continue
		}
		if has := live.field(field.name); has != nil {
			c.compare(field, has, pair{path: join(at.path, field.name), excluded: at.excluded.below(field.name)})
		} else if !live.embedded || !slices.Contains(implied, field.name) {
			c.lost(join(at.path, field.name), at)
		}
	}
	if !need.embedded || live.embedded {
		return
	}
	for _, name := range implied {
		if need.field(name) == nil && live.field(name) == nil {
			c.lost(join(at.path, name), at)
		}
	}
}

// compareInner compares the items of two lists, or the values of two maps. Exclusions walk into items only.
func (c *comparison) compareInner(need, live *node, at pair) {
	if need.inner == nil {
		return
	}
	inner := pair{path: at.path + "{*}"}
	if need.kind == list {
		inner = pair{path: at.path + "[*]", excluded: at.excluded, needPreserves: at.needPreserves, livePreserves: at.livePreserves}
	}
	if live.inner == nil {
		c.lost(inner.path, at)
		return
	}
	c.compare(need.inner, live.inner, inner)
}

// compareDemands warns of fields that objects written by those who have the need will lack.
func (c *comparison) compareDemands(need, live *node, at pair) {
	for _, name := range live.required {
		if need.field(name) == nil && (!need.embedded || !slices.Contains(implied, name)) {
			if *c.demands++; *c.demands <= maxDemands {
				c.warn(message.ShortenInside(join(at.path, name), maxPath), "is required, and unknown to the requirement")
			}
		}
	}
}

// lost tells of a field that the live definition does not have, unless it preserves it.
func (c *comparison) lost(path string, at pair) {
	if at.livePreserves {
		c.warn(path, "is only preserved as an unknown field")
		return
	}
	c.verdict.miss("%s: %s%s", c.version, path, isMissing)
}

func (c *comparison) warn(path, format string, arguments ...any) {
	if path != "" {
		path += ": "
	}
	c.verdict.warn(c.version+": "+path+format, arguments...)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
