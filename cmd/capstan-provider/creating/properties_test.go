package creating

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

// drawGiven draws an install-config that is right on a platform, with fields that nobody reads here.
func drawGiven(t *rapid.T) Given {
	config := map[string]any{
		"apiVersion": "v1", "baseDomain": rapid.StringMatching(`[a-z]{1,8}\.[a-z]{2,4}`).Draw(t, "domain"),
		"metadata":   map[string]any{"name": rapid.StringMatching(`[a-z][a-z0-9-]{0,25}[a-z0-9]`).Draw(t, "name")},
		"pullSecret": `{"auths":{"a":{"auth":"YTpi"}}}`,
		"platform": rapid.SampledFrom([]map[string]any{
			{"none": map[string]any{}},
			{"vsphere": map[string]any{"vcenters": []any{}}},
			{"gcp": map[string]any{"region": "r", "projectID": "p"}},
			{"aws": map[string]any{"region": "r", "amiID": "ami-0123456789abcdef0"}},
			{"aws": map[string]any{"region": "r", "amiID": "ami-0123456789abcdef0"}},
		}).Draw(t, "platform"),
	}
	set := func(name string, values ...any) {
		if value := rapid.SampledFrom(append(values, nil)).Draw(t, name); value != nil {
			config[name] = value
		}
	}
	set("controlPlane", map[string]any{"replicas": 1}, map[string]any{"replicas": 5, "architecture": "arm64"}, map[string]any{"platform": map[string]any{"aws": map[string]any{"zones": []any{"a", "b"}}}})
	set("networking", map[string]any{"serviceNetwork": []any{"172.31.0.0/16", "fd02::/112"}}, map[string]any{"machineNetwork": []any{map[string]any{"cidr": "192.168.0.0/18"}}})
	set("publish", "Internal", "External")
	set("credentialsMode", "Mint", "Manual")
	set("x-unread", "y", 1, true)
	var compute []any
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"worker", "infra", "edge"}), 0, 3, rapid.ID).Draw(t, "pools") {
		pool := map[string]any{"name": name}
		if rapid.Bool().Draw(t, "counted") {
			pool["replicas"] = rapid.IntRange(0, 20).Draw(t, "replicas")
		}
		if rapid.Bool().Draw(t, "zoned") {
			pool["platform"] = map[string]any{"aws": map[string]any{"zones": []any{"a", "c", "d"}}}
		}
		compute = append(compute, pool)
	}
	config["compute"] = compute
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	given := Given{Config: text, Options: Options{ReleaseImage: image, Infrastructure: rapid.SampledFrom([]string{"", Dev}).Draw(t, "infrastructure")}}
	for i := range rapid.IntRange(0, 3).Draw(t, "manifests") {
		folder := rapid.SampledFrom([]string{"manifests", "openshift"}).Draw(t, "folder")
		given = withFile(given, fmt.Sprintf("%s/%d.yaml", folder, i), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d, namespace: a}}", i))
	}
	if rapid.Bool().Draw(t, "credentials") {
		given.AWS.Credentials = &Credentials{KeyID: "k", Secret: "s"}
	}
	return given
}

func TestMake_whatever_is_accepted_is_read_as_the_same_by_the_management_plane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := drawGiven(t)
		all, err := Make(given)
		if err != nil {
			t.Fatal(err)
		}
		plane, secrets := decodedStrictly(t, all.Objects)
		there, err := payload.Read(documentsOn(t, plane, secrets))
		if err != nil {
			t.Fatalf("the management plane refuses it: %v", err)
		}
		here, err := payload.Read(documents(given, int(*plane.Spec.Replicas)))
		if err != nil || !bytes.Equal(marshalled(t, there.Raw), marshalled(t, here.Raw)) {
			t.Fatalf("it reads another install-config (%v)", err)
		}
		if len(there.Manifests) < len(given.Manifests) {
			t.Fatalf("it reads %d manifests of %d", len(there.Manifests), len(given.Manifests))
		}
		var asked, made int64
		for _, pool := range here.Config.Compute {
			if pool.Replicas != nil {
				asked += int64(*pool.Replicas)
			}
		}
		for _, object := range all.Objects {
			if object.GetKind() == "MachineDeployment" {
				count, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
				made += count
			}
		}
		if asked != made {
			t.Fatalf("%d workers are asked for, and %d made", asked, made)
		}
		var once, again bytes.Buffer
		second, err := Make(given)
		if err != nil || Write(&once, all.Objects) != nil || Write(&again, second.Objects) != nil || !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Fatalf("made once more it is something else (%v)", err)
		}
	})
}

func TestMake_references_lead_to_what_is_made_and_Secrets_are_moved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, err := Make(drawGiven(t))
		if err != nil {
			t.Fatal(err)
		}
		there := kinds(all)
		var lost []string
		for _, object := range all.Objects {
			if _, moved := object.GetLabels()[movedLabel]; object.GetKind() == "Secret" && !moved {
				t.Fatalf("Secret %s is not moved", object.GetName())
			}
			eachReference(object.Object, func(kind, name string) {
				if !slices.Contains(there, kind+" "+name) {
					lost = append(lost, object.GetKind()+" has "+kind+" "+name)
				}
			})
		}
		if len(lost) > 0 {
			t.Fatalf("references lead nowhere: %q", lost)
		}
		order := []string{}
		for _, object := range all.Objects {
			if kind := object.GetKind(); len(order) == 0 || order[len(order)-1] != kind {
				order = append(order, kind)
			}
		}
		if order[0] != "Namespace" || order[1] != "Secret" || slices.Contains(order[2:], "Secret") {
			t.Fatalf("the order is %q", order)
		}
	})
}

// eachReference finds what names an object by apiGroup, kind and name.
func eachReference(tree any, found func(kind, name string)) {
	switch tree := tree.(type) {
	case map[string]any:
		if _, is := tree["apiGroup"]; is {
			found(tree["kind"].(string), tree["name"].(string))
		}
		for _, value := range tree {
			eachReference(value, found)
		}
	case []any:
		for _, value := range tree {
			eachReference(value, found)
		}
	}
}

// decodedStrictly reads objects as their types, with no field that these do not have.
func decodedStrictly(t *rapid.T, objects []*unstructured.Unstructured) (*v1alpha1.OpenShiftControlPlane, []corev1.Secret) {
	plane := &v1alpha1.OpenShiftControlPlane{}
	var secrets []corev1.Secret
	for _, object := range objects {
		var into any
		secret := &corev1.Secret{}
		switch object.GetKind() {
		case "Namespace":
			into = &corev1.Namespace{}
		case "Secret":
			into = secret
		case "Cluster":
			into = &clusterv1.Cluster{}
		case "MachineDeployment":
			into = &clusterv1.MachineDeployment{}
		case v1alpha1.ControlPlaneKind:
			into = plane
		case v1alpha1.ConfigTemplateKind:
			into = &v1alpha1.OpenShiftConfigTemplate{}
		default:
			continue // an API server with the provider's definitions says so in the end-to-end suite
		}
		decoder := json.NewDecoder(bytes.NewReader(marshalled(t, object.Object)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		if object.GetKind() == "Secret" {
			secrets = append(secrets, *secret)
		}
	}
	return plane, secrets
}

// documentsOn are the inputs as the provider reads them.
func documentsOn(t *rapid.T, plane *v1alpha1.OpenShiftControlPlane, secrets []corev1.Secret) payload.Documents {
	d := payload.Documents{Secret: plane.Spec.InstallStateSecretRef.Name, Replicas: int(*plane.Spec.Replicas)}
	chosen := labels.Nothing()
	if plane.Spec.ManifestsSelector != nil {
		var err error
		if chosen, err = metav1.LabelSelectorAsSelector(plane.Spec.ManifestsSelector); err != nil {
			t.Fatal(err)
		}
	}
	for _, secret := range secrets {
		switch {
		case secret.Namespace != plane.Namespace:
		case secret.Name == d.Secret:
			d.Data = secret.Data
		case chosen.Matches(labels.Set(secret.Labels)):
			d.Manifests = append(d.Manifests, payload.ManifestSecret{Name: secret.Name, Directory: secret.Annotations[v1alpha1.ManifestsDirectoryAnnotation], Data: secret.Data})
		}
	}
	return d
}

func marshalled(t *rapid.T, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
