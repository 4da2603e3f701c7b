package house

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/machine"
)

// Changed lets through objects that come, go, and change in what is read of them.
func Changed[O client.Object](read func(O) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(O)
		now, are := e.ObjectNew.(O)
		return !is || !are || !equality.Semantic.DeepEqual(read(before), read(now))
	}}
}

// Others lets through all events but those of a store's own last writes; wrote says which those are.
func Others(wrote func(key machine.Key, resourceVersion string) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		now := e.ObjectNew.GetResourceVersion()
		return e.ObjectOld.GetResourceVersion() == now || !wrote(KeyOf(client.ObjectKeyFromObject(e.ObjectNew)), now)
	}}
}
