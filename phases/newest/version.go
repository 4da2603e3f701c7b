package newest

import "k8s.io/apimachinery/pkg/util/resourceversion"

// Version says that resourceVersion a is newer than b, of whatever objects of a
// kind they are. One that cannot be compared counts as newer.
func Version(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// Behind says that resourceVersion a is older than b. One that cannot be compared is not.
func Behind(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
