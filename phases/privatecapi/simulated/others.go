package simulated

import (
	"errors"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// Fail has the instances of the Machines of a name fail: their controllers tell so from then on.
func (w *World) Fail(name string) { w.failing[name] = true }

// AddSecret adds a Secret that a Machine of the standard side owns, which the fence does not keep anybody from.
func (w *World) AddSecret(key machine.Key, name, machine string) {
	of := w.server.objects[refOf(kind("machines", phases.Standard), w.namespaceOf(key), machine)]
	w.put(secrets, map[string]any{"metadata": map[string]any{
		"namespace": w.namespaceOf(key), "name": name, "ownerReferences": []any{owner(of, true)},
	}})
}

// AddBox adds what belongs to a Machine of the private side alone, and is of another party.
func (w *World) AddBox(key machine.Key, name, machine string) {
	of := w.server.objects[refOf(kind("machines", phases.Private), w.namespaceOf(key), machine)]
	w.put(boxes, map[string]any{"metadata": map[string]any{
		"namespace": w.namespaceOf(key), "name": name, "ownerReferences": []any{owner(of, true)},
	}})
}

// BoxIsOwned says whether that is there, and has the Machine of the standard side as its only owner.
func (w *World) BoxIsOwned(key machine.Key, name, machine string) bool {
	o, of := w.server.objects[refOf(boxes, w.namespaceOf(key), name)], w.server.objects[refOf(kind("machines", phases.Standard), w.namespaceOf(key), machine)]
	return o != nil && of != nil && len(o.GetOwnerReferences()) == 1 && o.GetOwnerReferences()[0].UID == of.GetUID()
}

// SecretIsOwned says whether a Secret has the Machine of a side as its controller, and no other owner.
func (w *World) SecretIsOwned(key machine.Key, name, machine string, side phases.Side) bool {
	o, of := w.server.objects[refOf(secrets, w.namespaceOf(key), name)], w.server.objects[refOf(kind("machines", side), w.namespaceOf(key), machine)]
	if o == nil || of == nil || len(o.GetOwnerReferences()) != 1 {
		return false
	}
	ref := o.GetOwnerReferences()[0]
	return ref.UID == of.GetUID() && ref.Controller != nil && *ref.Controller
}

// Listed is how often a resource of either side was listed.
func (w *World) Listed(resource string) int { return w.server.listed[resource] }

// Unlistable are errors that a list may end with for good, by what happens to it.
func Unlistable() map[string]error {
	return map[string]error{
		"is refused":          apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, "", errors.New("the right was taken away")),
		"meets errors inside": apierrors.NewInternalError(errors.New("the object cannot be decoded")),
	}
}

// Unlist has each list of a resource end with an error, until that is nil.
func (w *World) Unlist(resource string, err error) {
	if w.server.unlisted == nil {
		w.server.unlisted = map[string]error{}
	}
	w.server.unlisted[resource] = err
}

// HoldLease has the Lease of the programme held for somebody since a time.
func (w *World) HoldLease(holder machine.Key, since time.Time) {
	at := refOf(phases.Leases, operatorNamespace, guards.ProgrammeName)
	body := map[string]any{
		"metadata": map[string]any{"namespace": operatorNamespace, "name": guards.ProgrammeName},
		"spec":     map[string]any{"holderIdentity": string(holder), "renewTime": since.UTC().Format(time.RFC3339)},
	}
	if have := w.server.objects[at]; have != nil {
		o := have.DeepCopy()
		o.Object["spec"] = body["spec"]
		w.edit(phases.Leases, o, false)
		return
	}
	w.put(phases.Leases, body)
}

// Before has something happen once, just before the first write of the machine that is one of those asked for.
func (w *World) Before(is func(phases.Write) bool, happens func()) {
	done := false
	w.server.fault = func(_ int, o phases.Write) fault {
		if !done && is(o) {
			done = true
			happens()
		}
		return none
	}
}

// ManageAs has the Cluster of a hosted cluster be managed by somebody who writes a version that the standard side alone serves.
func (w *World) ManageAs(key machine.Key, manager string) {
	k := kind("clusters", phases.Standard)
	o := w.server.objects[refOf(k, w.namespaceOf(key), w.object(key).GetName())].DeepCopy()
	o.SetManagedFields(append(o.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: k.Group + "/v1beta2", FieldsType: "FieldsV1",
	}))
	w.edit(k, o, false)
}

// Forbid has components lack a right, such as "create machines.cluster.x-k8s.io".
func (w *World) Forbid(right string) { w.server.forbidden[right] = true }

// DeniedKinds are those of which the fence has denied a write, such as machines.cluster.x-k8s.io.
func (w *World) DeniedKinds() []string { return slices.Sorted(maps.Keys(w.server.tried)) }

// ToldTexts are the texts of Events with a reason.
func (w *World) ToldTexts(reason string) []string {
	var texts []string
	for _, e := range w.events {
		if e.Reason == reason {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// ManySecrets has there be more Secrets that Machines own than can be moved, or not any more.
func (w *World) ManySecrets(are bool) { w.server.many = are }

// UnanswerBoxes has the list of objects of another party end with an error, until that is nil.
func (w *World) UnanswerBoxes(err error) { w.server.unanswered = err }

// Got counts reads of one HostedCluster by the machine.
func (w *World) Got() int { return w.server.got }

// LockAs has somebody else lock a hosted cluster by annotations, as a field manager.
func (w *World) LockAs(key machine.Key, manager string, values map[string]string) {
	o := w.object(key).DeepCopy()
	annotations, fields := o.GetAnnotations(), map[string]any{}
	for name, value := range values {
		annotations[name], fields["f:"+name] = value, map[string]any{}
	}
	o.SetAnnotations(annotations)
	list, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
	set(o, append(list, map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": o.GetAPIVersion(), "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": fields}},
	}), "metadata", "managedFields")
	w.edit(phases.HostedClusters, o, false)
}

// Given has the operator be started again, with an image of the proxy or none, and of a release.
func (w *World) Given(image, release string) {
	w.image, w.release = image, release
	w.Restart()
}

// PauseProgramme has no move begin, or ends that.
func (w *World) PauseProgramme(is bool) {
	o := w.server.objects[refOf(phases.ConfigMaps, operatorNamespace, guards.ProgrammeName)].DeepCopy()
	delete(o.Object, "data")
	if is {
		o.Object["data"] = map[string]any{"paused": guards.MarkTrue}
	}
	w.edit(phases.ConfigMaps, o, false)
}

// DropProgramme takes the ConfigMap of the programme away.
func (w *World) DropProgramme() {
	delete(w.server.objects, refOf(phases.ConfigMaps, operatorNamespace, guards.ProgrammeName))
}
