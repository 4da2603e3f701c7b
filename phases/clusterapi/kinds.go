package clusterapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// mayBring says that an image may bring objects of a kind.
func mayBring(kind schema.GroupKind) bool {
	_, known := policy.Kinds[kind.Group+"/"+kind.Kind]
	return known || policy.IsClusterAPI(kind.Group)
}
