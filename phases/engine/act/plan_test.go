package act

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

func TestPlanOf_waves_go_by_component_and_class(t *testing.T) {
	rev := &decide.Revision{Name: "r", Number: 1, Components: []decide.Component{
		{Name: "core", Objects: enginetest.Made(t, "example.com/v1 Thing", "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
			"apps/v1 Deployment", "v1 Service", "rbac.authorization.k8s.io/v1 ClusterRole",
			"apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 Namespace", "apiextensions.openshift.io/v1alpha1 CompatibilityRequirement")},
		{Name: "none"},
		{Name: "aws", Objects: enginetest.Made(t, "policy/v1 PodDisruptionBudget", "v1 Pod", "batch/v1 Job", "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy")},
	}}
	rev.Components[2].Objects[0].SetName("other")
	p := planOf(rev, testUs)
	if p.err != nil {
		t.Fatal(p.err)
	}
	var got []string
	for _, w := range p.waves {
		got = append(got, fmt.Sprintf("%d %s %s %d", w.number, w.component, w.class, len(w.targets)))
	}
	want := "1 core compatibility 1,2 core namespaces 1,3 core crds 1,4 core config 2,5 core workloads 1,6 core webhooks 1,7 core rest 1," +
		"8 aws workloads 1,9 aws webhooks 1,10 aws rest 2"
	if strings.Join(got, ",") != want {
		t.Errorf("waves are %s\nwant %s", strings.Join(got, ","), want)
	}
	for _, w := range p.waves {
		for _, target := range w.targets {
			if p.waves[target.wave].number != w.number {
				t.Errorf("%s thinks that it is in wave %d", target.Key, target.wave)
			}
		}
	}
}

func TestPlanOf_refuses_for_good_what_can_never_be_applied(t *testing.T) {
	base := `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n}}`
	things := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.g}, spec: {group: g, scope: Cluster, names: {kind: Thing}}}`
	rows := map[string]struct {
		objects []string
		says    string
	}{
		"the same object twice":         {[]string{base, base}, "given twice, by component core and by component core"},
		"the same object in 2 versions": {[]string{`{apiVersion: g/v1, kind: A, metadata: {name: a}}`, `{apiVersion: g/v1beta1, kind: A, metadata: {name: a}}`}, "given twice"},
		"no name":                       {[]string{`{apiVersion: v1, kind: ConfigMap, metadata: {}}`}, "metadata.name is empty"},
		"no kind":                       {[]string{`{apiVersion: v1, kind: "", metadata: {name: a}}`}, "kind is empty"},
		"a list":                        {[]string{`{apiVersion: v1, kind: ConfigMapList, metadata: {name: a}, items: []}`}, "list"},
		"a generated name":              {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, generateName: b}}`}, "metadata.generateName"},
		"a finalizer":                   {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, finalizers: [b]}}`}, "metadata.finalizers"},
		"an owner":                      {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, ownerReferences: [{name: b}]}}`}, "metadata.ownerReferences"},
		"a resource version":            {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, resourceVersion: "1"}}`}, "metadata.resourceVersion"},
		"a creation time":               {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, creationTimestamp: "2026-01-01T00:00:00Z"}}`}, "metadata.creationTimestamp"},
		"a deletion time":               {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, deletionTimestamp: "2026-01-01T00:00:00Z"}}`}, "metadata.deletionTimestamp"},
		"a time to go":                  {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, deletionGracePeriodSeconds: 1}}`}, "metadata.deletionGracePeriodSeconds"},
		"an identity of the cluster's":  {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, uid: b}}`}, "metadata.uid"},
		"a generation":                  {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, generation: 1}}`}, "metadata.generation"},
		"managed fields":                {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, managedFields: [{manager: b}]}}`}, "metadata.managedFields"},
		"a link to itself":              {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, selfLink: b}}`}, "metadata.selfLink"},
		"a status":                      {[]string{`{apiVersion: v1, kind: A, metadata: {name: a}, status: {conditions: [{type: Ready}]}}`}, "status must not be set"},
		"our own identity":              {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, annotations: {capi-operator.openshift.io/owner: x}}}`}, decide.OwnerAnnotation},
		"the label of inventories":      {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, labels: {capi-operator.openshift.io/inventory: ""}}}`}, decide.InventoryLabel},
		"a namespace it cannot have":    {[]string{things, `{apiVersion: g/v1, kind: Thing, metadata: {name: a, namespace: b}}`}, "cluster-scoped"},
		"no apiVersion":                 {[]string{`{apiVersion: "", kind: A, metadata: {name: a}}`}, "apiVersion or kind is empty"},
		"an unknown way to adopt":       {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, annotations: {capi-operator.openshift.io/adopt-existing: sometimes}}}`}, `"sometimes"; it may be "always" or "force"`},
		"an unknown way with immutable": {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: ignore}}}`}, `"ignore"; it may be "recreate"`},
		"a namespace to recreate":       {[]string{`{apiVersion: v1, kind: Namespace, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: recreate}}}`}, "deletes what it holds"},
		"a claim to recreate":           {[]string{`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: recreate}}}`}, "deletes what it holds"},
		"a volume to recreate":          {[]string{`{apiVersion: v1, kind: PersistentVolume, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: recreate}}}`}, "deletes what it holds"},
		"a definition to recreate":      {[]string{`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: recreate}}}`}, "deletes what it holds"},
		"a condition that is none":      {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, annotations: {capi-operator.openshift.io/complete-when: self.status.ready}}}`}, "not bool"},
		"our own annotation":            {[]string{`{apiVersion: v1, kind: A, metadata: {name: a, annotations: {capi-operator.openshift.io/revision: "1"}}}`}, decide.RevisionAnnotation},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, text := range row.objects {
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
					t.Fatal(err)
				}
				objects = append(objects, u)
			}
			err := planOf(enginetest.Revision(1, objects...), testUs).err
			var final interface{ Terminal() bool }
			if !errors.As(err, &final) || !final.Terminal() || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := planOf(enginetest.Revision(0), testUs).err; err == nil {
		t.Error("number 0 was accepted")
	}
}

func TestPlanOf_leaves_unmanaged_CRDs_out(t *testing.T) {
	rev := enginetest.Revision(1, enginetest.Made(t, "apiextensions.k8s.io/v1 CustomResourceDefinition", "apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 Namespace")...)
	rev.Unmanaged = []string{"o0", "o2"}
	p := planOf(rev, testUs)
	if len(p.targets) != 2 || p.targets[0].Key.Kind != "Namespace" || p.targets[1].Key.Name != "o1" {
		t.Errorf("%v", p.targets)
	}
}
