// Package newest tells which of two copies of an object is the newer one: what a
// writer has sent may reach its own cache late. It also notices an API server
// whose versions have gone back. It knows no kind.
package newest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Trust is how long a copy of an own write counts for more than an older one from a cache or a watch, which may be late.
// What is shown after that is how it is: the API server may have been restored from a backup, and count from there.
const Trust = time.Minute

// Trusted says that a write of this age still counts for more than what is shown. A clock that was set back ends that.
func Trusted(age time.Duration) bool { return age >= 0 && age < Trust }

// WrittenFirst says that what was written last, so long ago, is newer than the
// cached copy. Of an object that was deleted and created again the cached copy
// counts.
func WrittenFirst(written, cached metav1.Object, age time.Duration) bool {
	if written.GetUID() != cached.GetUID() || !Trusted(age) {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(written.GetResourceVersion(), cached.GetResourceVersion())
	return err == nil && order > 0
}
