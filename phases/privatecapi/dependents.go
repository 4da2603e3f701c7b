package privatecapi

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ownersOn are the owner references of a dependent that lead to a side.
func ownersOn(refs []metav1.OwnerReference, side Side) []metav1.OwnerReference {
	var on []metav1.OwnerReference
	for _, ref := range refs {
		if SideOf(groupOf(ref.APIVersion)) == side {
			on = append(on, ref)
		}
	}
	return on
}

// withSecondOwners are owner references in which each one that leads to a side has a second one that leads to the counterpart of its
// object. Whoever controlled the dependent hands that over. ok is false while a counterpart is missing.
func withSecondOwners(refs []metav1.OwnerReference, from Side, counterparts map[types.UID]types.UID) (with []metav1.OwnerReference, ok bool) {
	with = slices.Clone(refs)
	ok = true
	for i := range refs {
		if SideOf(groupOf(refs[i].APIVersion)) != from {
			continue
		}
		uid, known := counterparts[refs[i].UID]
		if !known {
			ok = false
			continue
		}
		second := refs[i]
		second.APIVersion, second.UID = from.to(refs[i].APIVersion), uid
		at := slices.IndexFunc(with, func(r metav1.OwnerReference) bool { return r.UID == uid })
		if at < 0 {
			with = append(with, second)
			at = len(with) - 1
		}
		if controls(refs[i]) {
			with[at].Controller, with[i].Controller = with[i].Controller, nil
		}
	}
	return with, ok
}

func controls(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

// withoutOwnersOn are owner references that do not lead to a side. A controller that goes hands over to its counterpart, if one is left.
func withoutOwnersOn(refs []metav1.OwnerReference, side Side, counterparts map[types.UID]types.UID) []metav1.OwnerReference {
	left := slices.DeleteFunc(slices.Clone(refs), func(r metav1.OwnerReference) bool { return SideOf(groupOf(r.APIVersion)) == side })
	for _, ref := range refs {
		if SideOf(groupOf(ref.APIVersion)) != side || !controls(ref) {
			continue
		}
		if at := slices.IndexFunc(left, func(r metav1.OwnerReference) bool { return r.UID == counterparts[ref.UID] }); at >= 0 {
			left[at].Controller = ref.Controller
		}
	}
	return left
}

// ownerPatch is what gives a dependent other owners, nil if it has them.
func (d Dependent) ownerPatch(refs []metav1.OwnerReference) *Write {
	if slices.EqualFunc(d.Object.GetOwnerReferences(), refs, equalRefs) {
		return nil
	}
	return patchOf(d.Kind, d.Object, map[string]any{"metadata": map[string]any{"ownerReferences": refMaps(refs)}})
}

func equalRefs(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID && controls(a) == controls(b) &&
		blocks(a) == blocks(b)
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func refMaps(refs []metav1.OwnerReference) []any {
	list := make([]any, 0, len(refs))
	for _, ref := range refs {
		one := map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "name": ref.Name, "uid": string(ref.UID)}
		if ref.Controller != nil {
			one["controller"] = *ref.Controller
		}
		if ref.BlockOwnerDeletion != nil {
			one["blockOwnerDeletion"] = *ref.BlockOwnerDeletion
		}
		list = append(list, one)
	}
	return list
}

// held says that no owner of a dependent on a side lacks its counterpart, as far as there is one.
func (s *sides) held(d Dependent, from Side, counterparts map[types.UID]types.UID) bool {
	with, _ := withSecondOwners(d.Object.GetOwnerReferences(), from, counterparts)
	return d.ownerPatch(with) == nil
}
