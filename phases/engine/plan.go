package engine

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// plan is a revision made ready to apply: checked, sorted into waves, stamped. It is built once per revision and
// remembers what was concluded about each object, so that looking again costs nothing while nothing changed.
type plan struct {
	rev     *Revision
	waves   []wave
	targets []*target                    // all of them, in order of waves
	crds    map[schema.GroupKind]*target // the managed CRDs of the revision, by the kind they define
	keys    map[Key]*target              // by identity
	err     error                        // what makes the revision impossible to apply, whatever the cluster holds

	pass sync.Mutex // one pass at a time
	mu   sync.Mutex // guards what was concluded: the lower half of every target, and best
	best progress
	gone map[Key]bool // orphans that were seen to go, by identity: nothing of this revision brings them back
}

// target is one object of a plan.
type target struct {
	key       Key
	component string
	wave      int // index in plan.waves
	adopt     bool
	payload   *unstructured.Unstructured // what is sent; shares unchanged parts with the caller's object

	verdict  *verdict // for the actual object it was concluded from
	obstacle *verdict // a collision with an object that the watches cannot see
	refusal  *refusal // of an update of a CRD, nil when none was refused
	err      error    // of the last write that was tried, nil after one that worked
	settled  string   // the difference that remained after a write: the server keeps it, so it is not fought
}

// planOf checks and sorts a revision. What is wrong with it ends up in plan.err, which is terminal.
func planOf(rev *Revision, owner string) *plan {
	p := &plan{rev: rev, crds: map[schema.GroupKind]*target{}, keys: map[Key]*target{}, gone: map[Key]bool{}}
	var faults []string
	if rev.Number < 1 {
		faults = append(faults, fmt.Sprintf("revision number %d is below 1", rev.Number))
	}
	unmanaged := set(rev.Unmanaged)
	for _, component := range rev.Components {
		byClass := map[class][]*target{}
		for _, obj := range component.Objects {
			key := KeyOf(obj)
			if fault := faultOf(obj); fault != "" {
				faults = append(faults, fmt.Sprintf("%s (component %s): %s", key, component.Name, fault))
				continue
			}
			if key.isCRD() && unmanaged[key.Name] {
				continue
			}
			t := &target{key: key, component: component.Name, adopt: obj.GetAnnotations()[AdoptAnnotation] == adoptAlways}
			if first, twice := p.keys[key.identity()]; twice {
				faults = append(faults, fmt.Sprintf("%s is given twice, by component %s and by component %s", key, first.component, component.Name))
				continue
			}
			t.payload = payloadOf(obj, component.Name, owner, rev.Number)
			p.keys[key.identity()] = t
			p.noteCRD(t)
			byClass[classOf(key)] = append(byClass[classOf(key)], t)
		}
		p.addWaves(component.Name, byClass)
	}
	if len(faults) > 0 {
		p.err = &RevisionError{Revision: rev.Name, Faults: faults}
	}
	return p
}

func (p *plan) addWaves(component string, byClass map[class][]*target) {
	for c := compatibility; c <= others; c++ {
		if len(byClass[c]) == 0 {
			continue
		}
		for _, t := range byClass[c] {
			t.wave = len(p.waves)
		}
		p.waves = append(p.waves, wave{number: len(p.waves) + 1, component: component, class: c, targets: byClass[c]})
		p.targets = append(p.targets, byClass[c]...)
	}
}

func (p *plan) noteCRD(t *target) {
	if !t.key.isCRD() {
		return
	}
	group, _, _ := unstructured.NestedString(t.payload.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(t.payload.Object, "spec", "names", "kind")
	p.crds[schema.GroupKind{Group: group, Kind: kind}] = t
}

// faultOf says why an object can never be applied as it stands, or nothing.
func faultOf(obj *unstructured.Unstructured) string {
	switch {
	case obj.GetAPIVersion() == "" || obj.GetKind() == "":
		return "apiVersion or kind is empty"
	case strings.HasSuffix(obj.GetKind(), "List") && obj.Object["items"] != nil:
		return "a list is not an object; give its items one by one"
	case obj.GetName() == "":
		return "metadata.name is empty"
	}
	meta, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range [...]string{
		"generateName", "uid", "resourceVersion", "generation", "deletionTimestamp",
		"finalizers", "ownerReferences", "managedFields", "selfLink",
	} {
		if !empty(meta[field]) {
			return "metadata." + field + " must not be set in a manifest"
		}
	}
	for _, annotation := range [...]string{RevisionAnnotation, OwnerAnnotation} {
		if _, given := obj.GetAnnotations()[annotation]; given {
			return "annotation " + annotation + " must not be set in a manifest"
		}
	}
	return ""
}

// payloadOf is what is sent for an object: cleaned of what is not ours to say, and stamped. The given object is not
// changed; parts that stay the same are shared with it.
func payloadOf(obj *unstructured.Unstructured, component, owner string, number int64) *unstructured.Unstructured {
	body := cleaned(obj.Object)
	meta := shallow(body["metadata"])
	labels, annotations := shallow(meta["labels"]), shallow(meta["annotations"])
	if _, labelled := labels[ManagedByLabel]; !labelled {
		labels[ManagedByLabel] = component
	}
	annotations[RevisionAnnotation] = strconv.FormatInt(number, 10)
	annotations[OwnerAnnotation] = owner
	meta["labels"], meta["annotations"] = labels, annotations
	body["metadata"] = meta
	return &unstructured.Unstructured{Object: body}
}

func shallow(v any) map[string]any {
	m, _ := v.(map[string]any)
	out := make(map[string]any, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}

func set(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}
