package bootimage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// The kinds that no Go type of ours is for.
var (
	ClusterKind           = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
	MachineSetKind        = ClusterKind.GroupVersion().WithKind("MachineSet")
	MachineDeploymentKind = ClusterKind.GroupVersion().WithKind("MachineDeployment")
	AWSTemplateKind       = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "AWSMachineTemplate"}
	GCPTemplateKind       = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "GCPMachineTemplate"}
)

// Untyped is an empty object of a kind.
func Untyped(kind schema.GroupVersionKind) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind}}
}

// Target is an object that machines are made from, as it was seen.
type Target struct {
	Object client.Object
	Kind   golden.Kind
	Name   string
	// For is the same for who judges images.
	For *golden.Target
}

// kindOf takes a key apart.
func kindOf(key machine.Key) (golden.Kind, string) {
	kind, name, _ := strings.Cut(string(key), "/")
	return golden.Kind(kind), name
}

// api is the API that a kind is of.
func api(kind golden.Kind) string {
	if kind == golden.MachineSets || kind == golden.ControlPlaneMachineSets {
		return guards.MachineAPI
	}
	return guards.ClusterAPI
}

// kindName is how people call a kind.
func kindName(kind golden.Kind) string {
	return map[golden.Kind]string{
		golden.MachineSets: "MachineSet", golden.ControlPlaneMachineSets: "ControlPlaneMachineSet",
		golden.CAPIMachineSets: "MachineSet", golden.MachineDeployments: "MachineDeployment",
	}[kind]
}

// empty is an object that one of a kind can be read into, nil for no kind of ours.
func empty(kind golden.Kind) client.Object {
	switch kind {
	case golden.MachineSets:
		return &machinev1beta1.MachineSet{}
	case golden.ControlPlaneMachineSets:
		return &machinev1.ControlPlaneMachineSet{}
	case golden.CAPIMachineSets:
		return Untyped(MachineSetKind)
	case golden.MachineDeployments:
		return Untyped(MachineDeploymentKind)
	}
	return nil
}

// namespaceOf is where targets of a kind are.
func (p *Phases) namespaceOf(kind golden.Kind) string {
	if api(kind) == guards.MachineAPI {
		return MachineAPINamespace
	}
	return p.CAPINamespace
}

// looksAt says that objects of a kind are targets here. Of Machine API's, those are somebody else's whose authority alone is looked at.
func (p *Phases) looksAt(kind golden.Kind) bool {
	if api(kind) == guards.MachineAPI {
		return p.MachineAPI
	}
	return p.ClusterAPI
}

// Exists says that the object of a key exists, and that it is of this cluster. Where that cannot be looked at, it does.
func (p *Phases) Exists(ctx context.Context, key machine.Key) (bool, error) {
	if p.Blind() != "" {
		return true, nil
	}
	object, err := p.object(ctx, p.Client, key)
	return object != nil, err
}

// About is the object that Events are about, the zero value for a target that is not there.
func (p *Pass) About() corev1.ObjectReference {
	if p.Target == nil {
		return corev1.ObjectReference{}
	}
	object := p.Target.Object
	about := corev1.ObjectReference{
		APIVersion: object.GetObjectKind().GroupVersionKind().GroupVersion().String(), Kind: kindName(p.Target.Kind),
		Namespace: object.GetNamespace(), Name: p.Target.Name, UID: object.GetUID(),
	}
	switch p.Target.Kind {
	case golden.MachineSets:
		about.APIVersion = machinev1beta1.GroupVersion.String()
	case golden.ControlPlaneMachineSets:
		about.APIVersion = machinev1.GroupVersion.String()
	}
	return about
}

// shared has objects of caches not copied: passes change none, and each makes several looks at a target.
const shared = client.UnsafeDisableDeepCopy

// object reads the object of a key, nil if there is none.
func (p *Phases) object(ctx context.Context, from client.Reader, key machine.Key) (client.Object, error) {
	kind, name := kindOf(key)
	object := empty(kind)
	if object == nil || !p.looksAt(kind) || kind == golden.ControlPlaneMachineSets && name != "cluster" {
		return nil, nil
	}
	err := from.Get(ctx, client.ObjectKey{Namespace: p.namespaceOf(kind), Name: name}, object, shared)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return object, nil
}

// target reads the object of a key with what it depends on, nil if there is none.
func (p *Phases) target(ctx context.Context, from client.Reader, key machine.Key) (*Target, error) {
	object, err := p.object(ctx, from, key)
	if object == nil || err != nil {
		return nil, err
	}
	kind, name := kindOf(key)
	target := &Target{Object: object, Kind: kind, Name: name}
	switch o := object.(type) {
	case *machinev1beta1.MachineSet:
		target.For = golden.FromMachineSet(o)
	case *machinev1.ControlPlaneMachineSet:
		target.For = golden.FromControlPlane(o)
	case *unstructured.Unstructured:
		template, err := p.template(ctx, o)
		if err != nil {
			return nil, err
		}
		target.For = golden.FromClusterAPI(kind, o, template)
	}
	return target, nil
}

// template is the infrastructure template that an object of Cluster API names, nil if there is none, or none of a kind whose
// images are moved.
func (p *Phases) template(ctx context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind, _, _ := unstructured.NestedString(of.Object, "spec", "template", "spec", "infrastructureRef", "kind")
	return p.templateOf(ctx, kind, templateName(of))
}

func templateName(of *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(of.Object, "spec", "template", "spec", "infrastructureRef", "name")
	return name
}

// templateName is the infrastructure template that the target names, empty for none.
func (t *Target) templateName() string {
	if o, is := t.Object.(*unstructured.Unstructured); is {
		return templateName(o)
	}
	return ""
}

// templateOf reads a template from the caches, nil if there is none.
func (p *Phases) templateOf(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	var of schema.GroupVersionKind
	switch kind {
	case AWSTemplateKind.Kind:
		of = AWSTemplateKind
	case GCPTemplateKind.Kind:
		of = GCPTemplateKind
	default:
		return nil, nil
	}
	if name == "" {
		return nil, nil
	}
	template := Untyped(of)
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.CAPINamespace, Name: name}, template, shared)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, name, err)
	}
	return template, nil
}

// secretName is the Secret that the target's machines start from. A bootstrap configuration that a provider makes one for
// each machine of counts as provided.
func (t *Target) secretName() (name string, provided bool, err error) {
	if o, is := t.Object.(*unstructured.Unstructured); is {
		name, _, _ = unstructured.NestedString(o.Object, "spec", "template", "spec", "bootstrap", "dataSecretName")
		ref, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "bootstrap", "configRef", "name")
		if name == "" && ref == "" {
			return "", false, fmt.Errorf("%s %s names neither spec.template.spec.bootstrap.dataSecretName nor a configRef", kindName(t.Kind), t.Name)
		}
		return name, name == "", nil
	}
	var spec struct {
		UserDataSecret struct {
			Name string `json:"name"`
		} `json:"userDataSecret"`
	}
	if err := json.Unmarshal(t.For.ProviderSpec, &spec); err != nil || spec.UserDataSecret.Name == "" {
		return "", false, fmt.Errorf("the provider spec of %s %s names no userDataSecret", kindName(t.Kind), t.Name)
	}
	return spec.UserDataSecret.Name, false, nil
}

// stubKey is the key of a Secret that has the stub.
func (t *Target) stubKey() string {
	if api(t.Kind) == guards.MachineAPI {
		return "userData"
	}
	return "value"
}

// clusterName is the Cluster that an object of Cluster API is of.
func (t *Target) clusterName() string {
	if o, is := t.Object.(*unstructured.Unstructured); is {
		return clusterName(o)
	}
	return ""
}

func clusterName(of *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(of.Object, "spec", "clusterName")
	return name
}
