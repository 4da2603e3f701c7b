package linked_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/cmd/capi-shim/linked"
)

// definitions are the labels of those that a cluster has, by name.
type definitions map[string]map[string]string

func (d definitions) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	labels, has := d[key.Name]
	switch {
	case has && labels == nil:
		return errors.New("the cache is broken")
	case !has:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name)
	}
	object.SetName(key.Name)
	object.SetLabels(labels)
	return nil
}

func (d definitions) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nothing is listed")
}

// speaks are the labels of a provider that has both contracts.
func speaks() map[string]string {
	return map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta1_v1beta2"}
}

func converter(t interface{ Fatal(...any) }, d definitions) *linked.Converter {
	c, err := linked.New(linked.Contracts{Definitions: d}.VersionOf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is an object without the annotation in which the packages of Cluster API keep what a version has no room for.
func plain(t interface{ Fatal(...any) }, text []byte) map[string]any {
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	metadata, _ := object["metadata"].(map[string]any)
	if annotations, has := metadata["annotations"].(map[string]any); has {
		if delete(annotations, "cluster.x-k8s.io/conversion-data"); len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	return object
}

func fails(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, which does not say %q", err, says)
	}
}
