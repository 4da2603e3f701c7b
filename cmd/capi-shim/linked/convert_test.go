package linked_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/cmd/capi-shim/linked"
	"github.com/capstan-capi/capstan/phases/privatecrds"
)

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func installed() definitions {
	const private = ".cluster.hypershift.openshift.io"
	return definitions{
		"awsmachines.infrastructure" + private: speaks(), "awsclusters.infrastructure" + private: speaks(),
		"kubeadmconfigs.bootstrap" + private: speaks(), "kubeadmcontrolplanes.controlplane" + private: speaks(),
	}
}

func TestConvert_up_and_down_loses_nothing(t *testing.T) {
	c := converter(t, installed())
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(kind, rapid.MakeCheck(func(t *rapid.T) {
			old, err := json.Marshal(kinds[kind](t))
			if err != nil {
				t.Fatal(err)
			}
			stored, err := c.Convert(old, "cluster.x-k8s.io/v1beta2")
			if err != nil {
				t.Fatal(err)
			}
			back, err := c.Convert(stored, core)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, old), plain(t, back)); diff != "" {
				t.Fatal(diff)
			}
			again, err := c.Convert(back, "cluster.x-k8s.io/v1beta2")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, stored), plain(t, again)); diff != "" {
				t.Fatal(diff)
			}
		}))
	}
}

func TestConvert_covers_every_kind_that_definitions_are_said_to_have_converted(t *testing.T) {
	converted := map[schema.GroupKind]bool{}
	for _, kind := range converter(t, nil).Kinds() {
		converted[kind] = true
		if !privatecrds.ConvertsItself(kind.Group, kind.Kind) {
			t.Errorf("definitions of %s have somebody else convert", kind)
		}
	}
	scheme, err := linked.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	for gvk := range scheme.AllKnownTypes() {
		if gvk.Group == "" || strings.HasSuffix(gvk.Kind, "List") || strings.HasSuffix(gvk.Kind, "Options") || gvk.Kind == "WatchEvent" {
			continue
		}
		if !converted[gvk.GroupKind()] {
			t.Errorf("%s has no version that others are converted by", gvk)
		}
	}
	if len(converted) < 17 {
		t.Errorf("only %d kinds are converted", len(converted))
	}
}

func TestConvert_says_what_it_does_not_convert(t *testing.T) {
	c := converter(t, definitions{})
	for name, row := range map[string]struct{ object, desired, says string }{
		"no JSON":            {`{`, core, "converts no such object"},
		"a foreign kind":     {`{"apiVersion":"example.com/v1","kind":"A"}`, "example.com/v2", "converts no such object"},
		"another group":      {`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine"}`, "example.com/v1", "another group"},
		"a version it lacks": {`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine"}`, "cluster.x-k8s.io/v1", "do not know version v1"},
		"a reference whose version nobody knows": {
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","spec":{"infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"MyCluster","name":"a"}}}`,
			core, "CustomResourceDefinition myclusters.infrastructure.cluster.hypershift.openshift.io",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Convert([]byte(row.object), row.desired)
			fails(t, err, row.says)
		})
	}
}

func TestVersionOf_prefers_labels_and_falls_back_on_the_table(t *testing.T) {
	const group = "infrastructure.cluster.x-k8s.io"
	of := func(d definitions, group, kind string) (string, error) {
		return linked.Contracts{Definitions: d}.VersionOf(schema.GroupKind{Group: group, Kind: kind})
	}
	const name = "awsmachines.infrastructure.cluster.hypershift.openshift.io"
	for label, c := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"newest contract":       {speaks(), group + "/v1beta2"},
		"the older contract":    {map[string]string{"cluster.x-k8s.io/v1beta1": "v1alpha9_v1beta7"}, group + "/v1beta7"},
		"no contract":           {map[string]string{"a": "b"}, group + "/v1beta2"},
		"a contract of no name": {map[string]string{"cluster.x-k8s.io/v1beta2": ""}, group + "/v1beta2"},
	} {
		if got, err := of(definitions{name: c.labels}, group, "AWSMachine"); got != c.want || err != nil {
			t.Errorf("%s: %s, %v", label, got, err)
		}
	}
	if got, err := of(definitions{}, "bootstrap.cluster.x-k8s.io", "KubeadmConfig"); got != "bootstrap.cluster.x-k8s.io/v1beta2" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := of(definitions{"hostedcontrolplanes.hypershift.openshift.io": {"cluster.x-k8s.io/v1beta1": "v1beta1"}}, "hypershift.openshift.io", "HostedControlPlane"); got != "hypershift.openshift.io/v1beta1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	_, err := of(definitions{name: nil}, group, "AWSMachine")
	fails(t, err, "the cache is broken")
	_, err = of(definitions{"mymachines.infrastructure.cluster.hypershift.openshift.io": {}}, group, "MyMachine")
	fails(t, err, "label it with cluster.x-k8s.io/<contract>: <version>")
}
