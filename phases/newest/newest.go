// Package newest tells which of two copies of an object is the newer one: what a
// writer has sent may reach its own cache late. It also notices an API server
// whose versions have gone back. It knows no kind.
package newest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return Trusted(age) && behind(written, cached)
}

// Unsettled says that the cached copy is still older than what was written when
// that does not count for more any longer. Either the cache is late or the API
// server has gone back, and only the API server can tell: whoever asks it, and
// takes the answer for what was written last, asks once for each Trust.
func Unsettled(written, cached metav1.Object, age time.Duration) bool {
	return !Trusted(age) && behind(written, cached)
}

// behind says that a cached copy is an older one of the same object.
func behind(written, cached metav1.Object) bool {
	return written.GetUID() == cached.GetUID() && Behind(cached.GetResourceVersion(), written.GetResourceVersion())
}
