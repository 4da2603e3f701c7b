package linked

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// fillTimeout is how long a cache that is being filled is waited for.
const fillTimeout = 2 * time.Second

// contracts are the versions of the contract that the linked packages speak, newest first.
var contracts = []string{"v1beta2", "v1beta1"}

// builtIn are versions of kinds whose definition is not there, or says nothing: that of the newest release with contract v1beta2,
// else v1beta1, by group and the beginning of the kind.
var builtIn = []struct{ group, kinds, version string }{
	{"bootstrap." + rewrite.Standard, "Kubeadm", "v1beta2"},
	{"controlplane." + rewrite.Standard, "Kubeadm", "v1beta2"},
	{"infrastructure." + rewrite.Standard, "AWS", "v1beta2"},
	{"infrastructure." + rewrite.Standard, "Azure", "v1beta1"},
	{"infrastructure." + rewrite.Standard, "Dev", "v1beta2"},
	{"infrastructure." + rewrite.Standard, "Docker", "v1beta2"},
	{"infrastructure." + rewrite.Standard, "GCP", "v1beta1"},
	{"infrastructure." + rewrite.Standard, "IBM", "v1beta2"},
	{"infrastructure." + rewrite.Standard, "Kubevirt", "v1alpha1"},
	{"infrastructure." + rewrite.Standard, "OpenStack", "v1beta1"},
	{"infrastructure." + rewrite.Standard, "VSphere", "v1beta1"},
}

// Contracts reads versions from the contract labels of definitions.
type Contracts struct {
	// Definitions has the metadata of CustomResourceDefinitions.
	Definitions client.Reader
}

// VersionOf is the apiVersion of references to a kind of standard text: by the labels of the definition that its objects are
// stored by, the private one, or by the built-in table. Without a definition Cluster API itself could not say.
func (c Contracts) VersionOf(kind schema.GroupKind) (string, error) {
	group, _ := rewrite.ToServer.Group(kind.Group)
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	name := contract.CalculateCRDName(group, kind.Kind)
	// The converters of Cluster API hand no context on. What is asked is a cache, which is waited for while it is being filled.
	ctx, cancel := context.WithTimeout(context.Background(), fillTimeout)
	defer cancel()
	err := c.Definitions.Get(ctx, client.ObjectKey{Name: name}, definition)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("reading the contract labels of CustomResourceDefinition %s: %w", name, err)
	}
	if labelled := newest(definition.GetLabels()); labelled != "" {
		return schema.GroupVersion{Group: kind.Group, Version: labelled}.String(), nil
	}
	for _, known := range builtIn {
		if known.group == kind.Group && strings.HasPrefix(kind.Kind, known.kinds) {
			return schema.GroupVersion{Group: kind.Group, Version: known.version}.String(), nil
		}
	}
	missing := errors.New("label it with " + clusterv1.GroupVersion.Group + "/<contract>: <version>")
	if err != nil {
		missing = errors.New("there is none; install the private types of its provider")
	}
	return "", fmt.Errorf("which version references to %s have, the contract labels of CustomResourceDefinition %s do not say: %w", kind, name, missing)
}

// newest is the newest version with the newest contract that labels tell of; empty for none.
func newest(labels map[string]string) string {
	for _, known := range contracts {
		if versions := labels[clusterv1.GroupVersion.Group+"/"+known]; versions != "" {
			return slices.MaxFunc(strings.Split(versions, "_"), version.CompareKubeAwareVersionStrings)
		}
	}
	return ""
}
