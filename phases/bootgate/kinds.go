package bootgate

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClonedFrom is on every infrastructure machine and names the template that it was made from.
const ClonedFrom = "cluster.x-k8s.io/cloned-from-name"

// page is how many objects are asked for at once.
const page = 500

var clusterAPI = schema.GroupVersion{Group: "cluster.x-k8s.io", Version: "v1beta2"}

// The kinds that name infrastructure machine templates.
var (
	MachineSetKind        = clusterAPI.WithKind("MachineSet")
	MachineDeploymentKind = clusterAPI.WithKind("MachineDeployment")
	MachinePoolKind       = clusterAPI.WithKind("MachinePool")

	templateUsers = []schema.GroupVersionKind{MachineSetKind, MachineDeploymentKind, MachinePoolKind}
)

// Provider has the kinds of a provider whose templates are cloned.
type Provider struct {
	Template, Machine schema.GroupVersionKind
}

// Providers are those of which clones are made.
var Providers = []Provider{provider("v1beta2", "AWS"), provider("v1beta1", "GCP")}

func provider(version, name string) Provider {
	of := schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: version}
	return Provider{Template: of.WithKind(name + "MachineTemplate"), Machine: of.WithKind(name + "Machine")}
}

// Metadata is an empty object of a kind of which no more than the metadata is read.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

func metadataList(kind schema.GroupVersionKind) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// pages asks the API server itself for all objects of a kind that could name a template.
func (p *Phases) pages(ctx context.Context, kind schema.GroupVersionKind, each func(*unstructured.Unstructured)) error {
	next := ""
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := p.Untyped.List(ctx, list, client.InNamespace(p.CAPINamespace), client.Limit(page), client.Continue(next)); err != nil {
			return fmt.Errorf("listing %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			each(&list.Items[i])
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}
