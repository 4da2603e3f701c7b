package clusterapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
)

// KeysAnnotation of the list of images names the keys that a release brings, comma separated; without it, all count. The
// cluster-version operator merges the data of a ConfigMap: a key that the release before had and this one has not stays.
const KeysAnnotation = "capi-operator.openshift.io/image-keys"

// followed are the images of a list that count, by key, and the keys that another release has left behind.
func followed(list *corev1.ConfigMap) (data map[string]string, left []string) {
	names, is := list.Annotations[KeysAnnotation]
	if !is {
		return list.Data, nil
	}
	data = map[string]string{}
	for _, key := range strings.Split(names, ",") {
		if ref, is := list.Data[strings.TrimSpace(key)]; is {
			data[strings.TrimSpace(key)] = ref
		}
	}
	for _, key := range slices.Sorted(maps.Keys(list.Data)) {
		if _, is := data[key]; !is {
			left = append(left, key)
		}
	}
	return data, left
}

// leftWarning names a few of the keys that are not followed.
func leftWarning(left []string) string {
	const few = 3
	switch {
	case len(left) == 0:
		return ""
	case len(left) > few:
		return leftWarning(left[:few]) + fmt.Sprintf(" (and %d more keys)", len(left)-few)
	}
	return fmt.Sprintf("of ConfigMap %s is not followed what annotation %s does not name: %s", ImagesConfigMap, KeysAnnotation, strings.Join(left, ", "))
}

// ListedImages are the images of a list that count.
func ListedImages(list *corev1.ConfigMap) ([]images.Ref, error) {
	data, _ := followed(list)
	return parseImages(&corev1.ConfigMap{ObjectMeta: list.ObjectMeta, Data: data})
}

// parseImages reports every value that is not a reference by digest, by its key.
func parseImages(list *corev1.ConfigMap) ([]images.Ref, error) {
	var refs []images.Ref
	for _, key := range slices.Sorted(maps.Keys(list.Data)) {
		ref, err := images.ParseRef(list.Data[key])
		if err != nil {
			return nil, machine.Terminal(fmt.Errorf("key %s of ConfigMap %s/%s: %w", key, list.Namespace, list.Name, err))
		}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) > images.MaxImages {
		return nil, machine.Terminal(fmt.Errorf("ConfigMap %s/%s lists %d provider images, and at most %d are installed: take %d out",
			list.Namespace, list.Name, len(refs), images.MaxImages, len(refs)-images.MaxImages))
	}
	slices.Sort(refs)
	return refs, nil
}
