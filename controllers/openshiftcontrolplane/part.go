// Package openshiftcontrolplane watches what the machine openshiftcontrolplane looks at and fires it. It decides nothing: there is no
// question about the state here.
package openshiftcontrolplane

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
)

// Part is what the machine openshiftcontrolplane brings to the provider.
var Part = options.Part{Name: table.Table.Name, Add: Add, Kinds: kinds, View: view.TableOf(table.Table)}

// kinds are those that are read from caches. Of definitions the labels are, which say of which contract with Cluster API a version is.
var kinds = append(slices.Clone(options.Kinds),
	house.Kind{Version: apiextensionsv1.SchemeGroupVersion, Object: definition(), List: &metav1.PartialObjectMetadataList{}, Keep: keepLabels})

func definition() *metav1.PartialObjectMetadata {
	return options.MetadataOf(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
}

func keepLabels(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
}
