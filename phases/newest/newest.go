// Package newest tells which of two copies of an object is the newer one: what a
// writer has sent may reach its own cache late. It knows no kind.
package newest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// WrittenFirst says that what was written last is newer than the cached copy.
// Of an object that was deleted and created again the cached copy counts.
func WrittenFirst(written, cached metav1.Object) bool {
	if written.GetUID() != cached.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(written.GetResourceVersion(), cached.GetResourceVersion())
	return err == nil && order > 0
}
