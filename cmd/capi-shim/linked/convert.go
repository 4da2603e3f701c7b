package linked

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// VersionOf says which apiVersion, as group/version, references to a kind have where an older version of the referring object
// wants one.
type VersionOf func(schema.GroupKind) (string, error)

// Converter converts objects of the kinds in its scheme.
type Converter struct {
	scheme  *runtime.Scheme
	decoder runtime.Decoder
	hubs    map[schema.GroupKind]schema.GroupVersionKind
}

// New makes a converter. The packages of Cluster API keep the source of versions for the whole process: the last one that is given
// counts.
func New(versions VersionOf) (*Converter, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, fmt.Errorf("registering the kinds of Cluster API: %w", err)
	}
	clusterv1beta1.SetAPIVersionGetter(versions)
	controlplanev1beta1.SetAPIVersionGetter(versions)
	c := &Converter{scheme: scheme, decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer(), hubs: map[schema.GroupKind]schema.GroupVersionKind{}}
	for gvk := range scheme.AllKnownTypes() {
		object, err := scheme.New(gvk)
		if err != nil {
			return nil, err
		}
		if _, is := object.(conversion.Hub); is {
			c.hubs[gvk.GroupKind()] = gvk
		}
	}
	return c, nil
}

// Kinds are those that are converted.
func (c *Converter) Kinds() []schema.GroupKind {
	kinds := make([]schema.GroupKind, 0, len(c.hubs))
	for kind := range c.hubs {
		kinds = append(kinds, kind)
	}
	return kinds
}

// Convert converts an object, as JSON, into the version that is desired, as group/version. An object that has it already is not
// changed. What was lost on the way down is in an annotation that the packages of Cluster API write and read.
func (c *Converter) Convert(object []byte, desired string) ([]byte, error) {
	source, from, err := c.decoder.Decode(object, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("the shim converts no such object: %w", err)
	}
	to := schema.FromAPIVersionAndKind(desired, from.Kind)
	if to.Group != from.Group {
		return nil, fmt.Errorf("%s is another group than %s", to.Group, from.Group)
	}
	if to == *from {
		return object, nil
	}
	hub, err := c.toHub(source, *from)
	if err != nil {
		return nil, err
	}
	target, err := c.fromHub(hub, to)
	if err != nil {
		return nil, err
	}
	target.GetObjectKind().SetGroupVersionKind(to)
	text, err := json.Marshal(target)
	if err != nil {
		return nil, fmt.Errorf("writing it in version %s: %w", to.Version, err)
	}
	return text, nil
}

func (c *Converter) toHub(source runtime.Object, from schema.GroupVersionKind) (conversion.Hub, error) {
	if hub, is := source.(conversion.Hub); is {
		return hub, nil
	}
	spoke, is := source.(conversion.Convertible)
	gvk, known := c.hubs[from.GroupKind()]
	if !is || !known {
		return nil, fmt.Errorf("the packages of Cluster API do not convert version %s of it", from.Version)
	}
	hub, err := c.hub(gvk)
	if err != nil {
		return nil, err
	}
	if err := spoke.ConvertTo(hub); err != nil {
		return nil, fmt.Errorf("from version %s to %s: %w", from.Version, gvk.Version, err)
	}
	return hub, nil
}

func (c *Converter) fromHub(hub conversion.Hub, to schema.GroupVersionKind) (runtime.Object, error) {
	gvk := c.hubs[to.GroupKind()]
	if to == gvk {
		return hub, nil
	}
	target, err := c.scheme.New(to)
	if err != nil {
		return nil, fmt.Errorf("the packages of Cluster API do not know version %s of it", to.Version)
	}
	spoke, is := target.(conversion.Convertible)
	if !is {
		return nil, fmt.Errorf("the packages of Cluster API do not convert to version %s of it", to.Version)
	}
	if err := spoke.ConvertFrom(hub); err != nil {
		return nil, fmt.Errorf("from version %s to %s: %w", gvk.Version, to.Version, err)
	}
	return target, nil
}

func (c *Converter) hub(gvk schema.GroupVersionKind) (conversion.Hub, error) {
	object, err := c.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	hub, is := object.(conversion.Hub)
	if !is {
		return nil, errors.New("it has no version that all others are converted by")
	}
	return hub, nil
}
