package golden_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/golden"
)

const (
	awsTemplate = "AWSMachineTemplate"
	gcpTemplate = "GCPMachineTemplate"
)

func TestJudge_templates(t *testing.T) {
	g := read(t, made())
	for name, c := range map[string]struct {
		kind, machine string
		outcome       golden.Outcome
		reason        golden.Reason
		wanted        string // the spec of machines
	}{
		"AWS": {
			kind: awsTemplate, machine: `{"ami": {"id": "ami-old"}, "instanceType": "m6i.large", "unknown": [1, 1.5]}`, outcome: golden.Outdated,
			wanted: `{"ami": {"id": "ami-new-x86_64"}, "instanceType": "m6i.large", "unknown": [1, 1.5]}`,
		},
		"AWS, as wanted":        {kind: awsTemplate, machine: `{"ami": {"id": "ami-new-x86_64"}}`, outcome: golden.AsWanted},
		"AWS, foreign":          {kind: awsTemplate, machine: `{"ami": {"id": "ami-mine"}}`, outcome: golden.Skipped, reason: golden.Foreign},
		"AWS, looked up":        {kind: awsTemplate, machine: `{"ami": {}, "imageLookupFormat": "a"}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"AWS, EKS":              {kind: awsTemplate, machine: `{"ami": {"eksLookupType": "AmazonLinux"}}`, outcome: golden.Skipped, reason: golden.EKSLookup},
		"AWS, EKS beside an ID": {kind: awsTemplate, machine: `{"ami": {"id": "ami-old", "eksLookupType": "AmazonLinux"}}`, outcome: golden.Outdated, wanted: `{"ami": {"id": "ami-new-x86_64", "eksLookupType": "AmazonLinux"}}`},
		"AWS, odd":              {kind: awsTemplate, machine: `{"ami": "ami-old"}`, outcome: golden.Invalid},
		"AWS, odd ID":           {kind: awsTemplate, machine: `{"ami": {"id": 3}}`, outcome: golden.Invalid},
		"AWS, empty":            {kind: awsTemplate, machine: `{}`, outcome: golden.Invalid},
		"GCP": {
			kind: gcpTemplate, machine: `{"image": "` + someGCP + `old", "imageFamily": "rhcos"}`, outcome: golden.Outdated,
			wanted: `{"image": "` + someGCP + `new-x86_64", "imageFamily": "rhcos"}`,
		},
		"GCP, as wanted by address": {kind: gcpTemplate, machine: `{"image": "` + addressGCP + someGCP + `new-x86_64"}`, outcome: golden.AsWanted},
		"GCP, foreign":              {kind: gcpTemplate, machine: `{"image": "projects/mine/global/images/a"}`, outcome: golden.Skipped, reason: golden.Foreign},
		"GCP, a family":             {kind: gcpTemplate, machine: `{"imageFamily": "rhcos"}`, outcome: golden.Skipped, reason: golden.ImageFamily},
		"GCP, nothing":              {kind: gcpTemplate, machine: `{"instanceType": "n2"}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"GCP, odd":                  {kind: gcpTemplate, machine: `{"image": {}}`, outcome: golden.Invalid},
		"Azure":                     {kind: "AzureMachineTemplate", machine: `{"image": {}}`, outcome: golden.Skipped, reason: golden.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			set, old := capiSet(t, c.kind, "first"), template(t, c.kind, c.machine)
			before := old.DeepCopy()
			target := golden.FromClusterAPI(golden.CAPIMachineSets, set, old)
			verdict := g.Judge(on(configv1.AWSPlatformType), target)
			if verdict.Outcome != c.outcome || verdict.Reason != c.reason {
				t.Fatalf("%+v", verdict)
			}
			if verdict.Outcome != golden.Outdated {
				if verdict.Patch != nil || verdict.CloneSpec != nil {
					t.Errorf("%+v", verdict)
				}
				return
			}
			want := parsed(t, `{"template": {"metadata": {"labels": {"a": "b"}}, "spec": `+c.wanted+`}}`).Object
			if diff := cmp.Diff(want, verdict.CloneSpec); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, old); diff != "" {
				t.Error(diff)
			}
			after, err := apply(t, set, verdict.Patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(capiSet(t, c.kind, verdict.CloneName).Object, parsed(t, after).Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJudge_references(t *testing.T) {
	g := read(t, made())
	old := template(t, awsTemplate, `{"ami": {"id": "ami-old"}}`)
	for name, c := range map[string]struct {
		ref      string
		template *unstructured.Unstructured
		outcome  golden.Outcome
		message  string
	}{
		"by group":         {`{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": "first"}`, old, golden.Outdated, ""},
		"by version":       {`{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate", "name": "first"}`, old, golden.Outdated, ""},
		"of another group": {`{"apiGroup": "example.com", "kind": "AWSMachineTemplate", "name": "first"}`, old, golden.Skipped, `kind "AWSMachineTemplate.example.com"`},
		"to nothing":       {`{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": "first"}`, nil, golden.Invalid, `there is no AWSMachineTemplate "first"`},
		"to another one":   {`{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": "second"}`, old, golden.Invalid, "instead of"},
		"without a name":   {`{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate"}`, old, golden.Invalid, "names no template"},
		"that are odd":     {`{"apiGroup": 3, "kind": "AWSMachineTemplate", "name": "first"}`, old, golden.Invalid, "reading infrastructureRef"},
		"that are missing": {`null`, old, golden.Invalid, "names no template"},
	} {
		t.Run(name, func(t *testing.T) {
			set := parsed(t, `{"metadata": {"name": "worker-a", "uid": "u-3"}, "spec": {"template": {"spec": {"infrastructureRef": `+c.ref+`}}}}`)
			verdict := g.Judge(on(configv1.AWSPlatformType), golden.FromClusterAPI(golden.CAPIMachineSets, set, c.template))
			if verdict.Outcome != c.outcome || !strings.Contains(verdict.Message, c.message) {
				t.Errorf("%+v", verdict)
			}
		})
	}
}

var clusterOwner = metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: infra, UID: "u-9"}

// cloned is the clone that an AWS template would get for a set of a name.
func cloned(t fatal, set, ami string) *unstructured.Unstructured {
	t.Helper()
	object, old := capiSet(t, awsTemplate, "first"), template(t, awsTemplate, `{"ami": {"id": "`+ami+`"}}`)
	object.SetName(set)
	target := golden.FromClusterAPI(golden.CAPIMachineSets, object, old)
	verdict := read(t, made()).Judge(on(configv1.AWSPlatformType), target)
	if verdict.Outcome != golden.Outdated {
		t.Fatal(verdict)
	}
	return target.Clone(&verdict, clusterOwner)
}

func TestClone_is_the_template_with_the_wanted_image(t *testing.T) {
	clone := cloned(t, "worker-a", "ami-old")
	want := parsed(t, `{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate", "metadata": {"namespace": "openshift-cluster-api",
		"labels": {"cluster.x-k8s.io/cluster-name": "shop-x7k2p", "capi-operator.openshift.io/boot-image-clone-of": "worker-a"},
		"ownerReferences": [{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "shop-x7k2p", "uid": "u-9"}]},
		"spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"ami": {"id": "ami-new-x86_64"}}}}}`)
	want.SetName(clone.GetName())
	if diff := cmp.Diff(want.Object, clone.Object); diff != "" {
		t.Error(diff)
	}
	if again := cloned(t, "worker-a", "ami-older"); again.GetName() != clone.GetName() || !golden.SameSpec(again, clone) {
		t.Errorf("%s and %s", again.GetName(), clone.GetName())
	}
}

func TestClone_names(t *testing.T) {
	for set, want := range map[string]string{
		"worker-a":                             "worker-a",
		strings.Repeat("a", 54):                strings.Repeat("a", 54),
		strings.Repeat("a", 60):                strings.Repeat("a", 54),
		strings.Repeat("a", 53) + "-b":         strings.Repeat("a", 53),
		strings.Repeat("a", 52) + ".-b":        strings.Repeat("a", 52),
		"a." + strings.Repeat("b", 50) + ".cd": "a." + strings.Repeat("b", 50) + ".c",
	} {
		clone := cloned(t, set, "ami-old")
		if label := clone.GetLabels()[golden.CloneOfLabel]; label != want || !strings.HasPrefix(clone.GetName(), want+"-") || len(clone.GetName()) != len(want)+9 {
			t.Errorf("%s: %s, labelled %s", set, clone.GetName(), label)
		}
	}
}

func TestIsOurs(t *testing.T) {
	fields := func(manager, subresource, of string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(of)}}
	}
	made := fields(golden.FieldManager, "", `{"f:metadata": {}, "f:spec": {"f:template": {}}}`)
	for name, c := range map[string]struct {
		change func(*unstructured.Unstructured)
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"ours":                        {func(*unstructured.Unstructured) {}, made, true},
		"with another label":          {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"a": "b"}) }, made, true},
		"without the label":           {func(u *unstructured.Unstructured) { u.SetLabels(nil) }, made, false},
		"labelled for another set":    {func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{golden.CloneOfLabel: "worker-b"}) }, made, false},
		"under another name":          {func(u *unstructured.Unstructured) { u.SetName("worker-a-00000000") }, made, false},
		"with another spec":           {func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{} }, made, false},
		"without a spec":              {func(u *unstructured.Unstructured) { delete(u.Object, "spec") }, made, false},
		"made by others":              {func(*unstructured.Unstructured) {}, fields("kubectl", "", `{"f:spec": {}}`), false},
		"labelled by us":              {func(*unstructured.Unstructured) {}, fields(golden.FieldManager, "", `{"f:metadata": {}}`), false},
		"with a status of ours":       {func(*unstructured.Unstructured) {}, fields(golden.FieldManager, "status", `{"f:spec": {}}`), false},
		"with fields that are no map": {func(*unstructured.Unstructured) {}, fields(golden.FieldManager, "", `[]`), false},
		"without fields":              {func(*unstructured.Unstructured) {}, []metav1.ManagedFieldsEntry{{Manager: golden.FieldManager}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			clone := cloned(t, "worker-a", "ami-old")
			clone.SetManagedFields(c.fields)
			c.change(clone)
			text, err := json.Marshal(clone)
			if err != nil {
				t.Fatal(err)
			}
			if got := golden.IsOurs(parsed(t, string(text))); got != c.want {
				t.Error(got)
			}
		})
	}
}
