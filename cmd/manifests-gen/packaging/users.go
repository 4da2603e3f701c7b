package packaging

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// chosen are fields of security contexts that the restricted-v2 constraint fills
// in from the ranges of the namespace. It refuses a pod that asks for other users
// or levels; the fixed group of an image is of no use to the user that it chooses.
var chosen = []string{"runAsUser", "runAsGroup", "fsGroup", "seLinuxOptions"}

// dropUsers takes fixed users and groups off the pods of every workload.
func dropUsers(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		spec, found, err := podSpec(object)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		containers, err := containers(object)
		if err != nil {
			return err
		}
		for _, owner := range slices.Concat([]node{spec}, containers) {
			security, found, err := owner.child("securityContext")
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			for _, field := range chosen {
				delete(security.fields, field)
			}
		}
	}
	return nil
}
