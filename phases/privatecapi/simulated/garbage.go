package simulated

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// collect is one round of the garbage collector: it orphans, and it deletes what has owners that are all gone.
func (s *server) collect() {
	there := map[types.UID]bool{}
	for _, o := range s.objects {
		there[o.GetUID()] = true
	}
	for _, at := range s.sorted() {
		o := s.objects[at]
		if o == nil {
			continue
		}
		if slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents) {
			s.orphan(o.GetUID())
			o = s.objects[at].DeepCopy()
			o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == metav1.FinalizerOrphanDependents }))
			s.store(at, o)
			s.finalize(at)
			continue
		}
		refs := o.GetOwnerReferences()
		if len(refs) > 0 && o.GetDeletionTimestamp() == nil && !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return there[r.UID] }) {
			s.log = append(s.log, "collected "+at.resource+" "+at.namespace+"/"+at.name)
			s.delete(at, "system:serviceaccount:kube-system:generic-garbage-collector")
		}
	}
}

func (s *server) orphan(uid types.UID) {
	for _, at := range s.sorted() {
		o := s.objects[at]
		refs := o.GetOwnerReferences()
		left := slices.DeleteFunc(slices.Clone(refs), func(r metav1.OwnerReference) bool { return r.UID == uid })
		if len(left) != len(refs) {
			o = o.DeepCopy()
			o.SetOwnerReferences(left)
			s.store(at, o)
		}
	}
}
