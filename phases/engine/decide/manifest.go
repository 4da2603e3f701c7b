package decide

import (
	"slices"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Manifest is one object of a revision: packed, and what a plan has to know of it without unpacking it.
type Manifest struct {
	Key   Key
	Fault Fault // why it can never be applied as it stands
	policy
	Defines    schema.GroupKind       // of a CRD
	Namespaced bool                   // of a CRD: what it defines
	Calls      []types.NamespacedName // of a webhook configuration: the Services that its webhooks are behind
	Binds      Key                    // of a binding: the identity of what it puts into force
	About      string                 // of a requirement: the name of the CRD that it is about
	packed     Packed                 // cleaned
}

func manifestOf(obj *unstructured.Unstructured) *Manifest {
	m := &Manifest{Key: KeyOf(obj), Fault: contentFault(obj), Calls: calledBy(obj), Binds: boundBy(obj), About: requiredOf(obj), packed: Pack(ToJSON(cleaned(obj.Object)))}
	if asked, fault := policyOf(obj); m.Fault == (Fault{}) {
		m.policy, m.Fault = asked, fault
	}
	if m.Key.IsCRD() {
		m.Defines.Group, _, _ = unstructured.NestedString(obj.Object, "spec", "group")
		m.Defines.Kind, _, _ = unstructured.NestedString(obj.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(obj.Object, "spec", "scope")
		m.Namespaced = scope == "Namespaced"
	}
	return m
}

// Desired is an object of a revision as it is sent. What is absent is decided on without.
type Desired struct {
	*Manifest
	Payload *unstructured.Unstructured
	Dropped map[string]bool // see [Dropped]; nil: not known
	Adopts  types.UID       // of the object that an administrator lets it adopt, unless a controller has it; empty for none
}

// Desired unpacks a manifest. Nobody keeps what it gives for longer than it takes to decide.
func (m *Manifest) Desired(s Stamp) Desired {
	return Desired{Manifest: m, Payload: payloadOf(m.packed.Unpack(), s), Adopts: s.Adopts}
}

// Body is what is sent for a manifest, as JSON: its text with other metadata. A version binds it to the copy of that
// resourceVersion, empty to none.
func (m *Manifest) Body(s Stamp, version string) []byte {
	text := m.packed.Text()
	said := gjson.GetBytes(text, "metadata")
	meta := s.on(FromJSON([]byte(said.Raw)))
	if version != "" {
		meta["resourceVersion"] = version
	}
	return slices.Concat(text[:said.Index], ToJSON(meta), text[said.Index+len(said.Raw):])
}
