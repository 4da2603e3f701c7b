package hostedworld

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hostedNamespace is where all HostedClusters are.
const hostedNamespace = "clusters"

// Hosted is a hosted cluster, by its name.
type Hosted struct {
	world *World
	name  string

	// broken is the machine that the provider finds so behind the proxy, and problem what the programs met last; see Problem.
	broken  string
	problem error
}

// Key is the name that commands take.
func (h *Hosted) Key() string { return hostedNamespace + "/" + h.name }

// Namespace is that of its control plane.
func (h *Hosted) Namespace() string { return hostedNamespace + "-" + h.name }

// AddHosted makes a hosted cluster whose MachineSet asks for so many machines, with annotations on its HostedCluster, and has its
// components run: the standard types are all that they know.
func (w *World) AddHosted(ctx context.Context, name string, machines int, annotations map[string]string) (*Hosted, error) {
	h := &Hosted{world: w, name: name}
	shared := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hostedNamespace}}
	if err := client.IgnoreAlreadyExists(w.Client.Create(ctx, shared)); err != nil {
		return nil, fmt.Errorf("creating Namespace %s: %w", hostedNamespace, err)
	}
	// as HyperShift has it
	if err := w.createNamespace(ctx, h.Namespace(), map[string]string{"hypershift.openshift.io/hosted-control-plane": "true"}); err != nil {
		return nil, err
	}
	hosted := object(hostedKind, hostedNamespace, name, nil, map[string]any{"platform": map[string]any{"type": "None"}})
	hosted.SetAnnotations(annotations)
	if err := w.Create(ctx, hosted); err != nil {
		return nil, err
	}
	top := object(kind(Standard, "Cluster"), h.Namespace(), name, nil, map[string]any{
		"infrastructureRef": reference(inMemoryMachine, name), // the kind does not matter: nothing reads it
	})
	if err := w.Create(ctx, top); err != nil {
		return nil, err
	}
	set := object(kind(Standard, "MachineSet"), h.Namespace(), name, top, map[string]any{
		"clusterName": name, "replicas": int64(machines), "selector": map[string]any{"matchLabels": map[string]any{setLabel: name}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{setLabel: name}},
			"spec":     map[string]any{"clusterName": name, "bootstrap": map[string]any{"dataSecretName": name}, "infrastructureRef": reference(inMemoryMachine+"Template", name)},
		},
	})
	if err := w.Create(ctx, set); err != nil {
		return nil, err
	}
	for _, component := range slices.Sorted(maps.Keys(programs)) {
		if err := h.addComponent(ctx, component); err != nil {
			return nil, err
		}
	}
	w.running.Go(func() { h.runPods(ctx) })
	return h, nil
}

// addComponent makes a Deployment, and an account that may do what Cluster API's do.
func (h *Hosted) addComponent(ctx context.Context, name string) error {
	about := metav1.ObjectMeta{Namespace: h.Namespace(), Name: name}
	all := []string{rbacv1.VerbAll}
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: about},
		&rbacv1.Role{ObjectMeta: about, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{Standard, Private, infrastructure + Standard, infrastructure + Private}, Resources: all, Verbs: all},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: about, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: about.Namespace, Name: name}},
		},
		deployment(about, name),
	} {
		if err := h.world.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Get is the HostedCluster as it is.
func (h *Hosted) Get(ctx context.Context) (*Object, error) {
	o := object(hostedKind, hostedNamespace, h.name, nil, nil)
	if err := h.world.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return nil, fmt.Errorf("reading HostedCluster %s: %w", h.Key(), err)
	}
	return o, nil
}

// Told is the state that its condition tells, and its message; empty while there is none.
func Told(hosted *Object) (state, message string) {
	conditions, _, _ := unstructured.NestedSlice(hosted.Object, "status", "conditions")
	for _, item := range conditions {
		if c, is := item.(map[string]any); is && c["type"] == "PrivateCAPIMigrated" {
			state, _ = c["reason"].(string)
			message, _ = c["message"].(string)
		}
	}
	return state, message
}

// Scale asks for a number of machines on one side, as a NodePool's controller does.
func (h *Hosted) Scale(ctx context.Context, side string, machines int) error {
	set := object(kind(side, "MachineSet"), h.Namespace(), h.name, nil, nil)
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, machines))
	return h.world.Client.Patch(ctx, set, patch)
}

// Stored are the objects of one side that belong to it, by kind and name.
func (h *Hosted) Stored(ctx context.Context, side string) (map[string]*Object, error) {
	found := map[string]*Object{}
	for _, of := range []schema.GroupVersionKind{kind(side, "Cluster"), kind(side, "MachineSet"), kind(side, "Machine"), kind(infrastructure+side, inMemoryMachine)} {
		objects, err := list(ctx, h.world.Client, of, h.Namespace())
		if err != nil {
			return nil, err
		}
		for i := range objects {
			found[objects[i].GetKind()+" "+objects[i].GetName()] = &objects[i]
		}
	}
	return found, nil
}

// Secrets are the UIDs of what its machines start from, by name.
func (h *Hosted) Secrets(ctx context.Context) (map[string]types.UID, error) {
	secrets := &corev1.SecretList{}
	if err := h.world.Client.List(ctx, secrets, client.InNamespace(h.Namespace())); err != nil {
		return nil, fmt.Errorf("listing Secrets of %s: %w", h.Namespace(), err)
	}
	found := map[string]types.UID{}
	for i := range secrets.Items {
		found[secrets.Items[i].Name] = secrets.Items[i].UID
	}
	return found, nil
}
