package engine

import (
	"slices"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// manifest is one object of a revision: packed, and what a plan has to know of it without unpacking it.
type manifest struct {
	key   Key
	fault string // why it can never be applied as it stands, or nothing
	policy
	defines    schema.GroupKind // of a CRD
	namespaced bool             // of a CRD: what it defines
	packed     packed           // cleaned
}

func manifestOf(obj *unstructured.Unstructured) *manifest {
	m := &manifest{key: KeyOf(obj), fault: faultOf(obj), packed: pack(jsonOf(cleaned(obj.Object)))}
	if asked, fault := policyOf(obj); m.fault == "" {
		m.policy, m.fault = asked, fault
	}
	if m.key.isCRD() {
		m.defines.Group, _, _ = unstructured.NestedString(obj.Object, "spec", "group")
		m.defines.Kind, _, _ = unstructured.NestedString(obj.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(obj.Object, "spec", "scope")
		m.namespaced = scope == "Namespaced"
	}
	return m
}

// desired is an object of a revision as it is sent. What is absent is decided on without.
type desired struct {
	*manifest
	payload *unstructured.Unstructured
}

// desired unpacks a manifest. Nobody keeps what it gives for longer than it takes to decide.
func (m *manifest) desired(s stamp) desired {
	return desired{m, payloadOf(m.packed.unpack(), s)}
}

// body is what is sent for a manifest, as JSON: its text with other metadata. A version binds it to the copy of that
// resourceVersion, empty to none.
func (m *manifest) body(s stamp, version string) []byte {
	text := m.packed.text()
	said := gjson.GetBytes(text, "metadata")
	meta := s.on(treeOf([]byte(said.Raw)))
	if version != "" {
		meta["resourceVersion"] = version
	}
	return slices.Concat(text[:said.Index], jsonOf(meta), text[said.Index+len(said.Raw):])
}
