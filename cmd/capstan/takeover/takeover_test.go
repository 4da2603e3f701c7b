package takeover

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// former is what the former installer is on a cluster; CVO stands for an annotation of a release's manifest.
const former = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capi-operator, namespace: op, uid: "1", annotations: {CVO: "true"}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capi-installer, namespace: op, uid: "2"}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capstan, namespace: op, uid: "3"}, status: {availableReplicas: 1}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: capi-installer-leader, namespace: op, uid: "4"}, spec: {holderIdentity: its-pod, leaseDurationSeconds: 137, renewTime: "2026-01-01T11:59:00.000000Z"}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: capstan-leader, namespace: op, uid: "5"}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: openshift-capi-operator, uid: "6", annotations: {CVO: "true"}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: openshift-capi-installer, uid: "7"}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: capi-installer, namespace: op, uid: "8"}}
---
{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, metadata: {name: ccapio-machines, uid: "9"}}
---
{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version, uid: "10"}, spec: {overrides: [{group: "", kind: Service, namespace: a, name: other, unmanaged: true}]}}`

func clusterWith(t *testing.T, documents string) *Cluster {
	t.Helper()
	var objects []runtime.Object
	for _, document := range strings.Split(strings.ReplaceAll(documents, "CVO", "include.release.openshift.io/self-managed-high-availability"), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	kinds := map[schema.GroupVersionResource]string{}
	for _, o := range (&Cluster{}).leftBehind() {
		kinds[o.resource] = o.kind + "List"
	}
	for _, resource := range slices.Concat(goBack, webhookConfigurations) {
		kinds[resource] = "List"
	}
	kinds[pods], kinds[configMaps] = "PodList", "ConfigMapList"
	kinds[deployments], kinds[clusterVersions], kinds[clusterOperators] = "DeploymentList", "ClusterVersionList", "ClusterOperatorList"
	c := &Cluster{namespace: "op", capiNamespace: "capi", dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...), Now: func() time.Time { return noon }}
	c.Progress = func(string) {}
	c.Pause = func(context.Context, time.Duration) error { return errors.New("nobody gives the Lease up") }
	return c
}

func told(p Plan) []string {
	var lines []string
	for _, step := range p.Steps {
		lines = append(lines, step.Do+" "+step.Object)
	}
	return lines
}

var whole = []string{
	"override Deployment op/capi-operator",
	"delete Deployment op/capi-operator", "delete Deployment op/capi-installer",
	"wait Lease op/capi-operator-leader", "wait Lease op/capi-installer-leader",
	"delete Lease op/capi-installer-leader", "delete ClusterRoleBinding openshift-capi-installer", "delete ServiceAccount op/capi-installer",
	"stay ClusterRole openshift-capi-operator",
}

func TestPlan_names_every_object_of_the_former_installer_and_no_other_in_the_order_of_its_steps(t *testing.T) {
	p, err := clusterWith(t, former).Plan(t.Context(), true)
	if err != nil || !slices.Equal(told(p), whole) || len(p.NeedsOverride) > 0 {
		t.Errorf("planned is %q, override needed by %v, %v", told(p), p.NeedsOverride, err)
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil || !strings.Contains(text.String(), "its-pod holds it") {
		t.Errorf("%v: %s", err, text.String())
	}
}

func TestSame_is_a_plan_of_the_same_objects(t *testing.T) {
	one := Plan{Steps: []Step{{Do: "remove", Object: "a", uid: "1"}}}
	for name, other := range map[string]Plan{
		"made anew":      {Steps: []Step{{Do: "remove", Object: "a", uid: "2"}}},
		"one more":       {Steps: []Step{{Do: "remove", Object: "a", uid: "1"}, {Do: "remove", Object: "b"}}},
		"nobody goes on": {Steps: one.Steps, Absent: errors.New("nobody")},
		"an override":    {Steps: one.Steps, NeedsOverride: []string{"a"}},
	} {
		if one.Same(other) || other.Same(one) {
			t.Errorf("%s: it is the same", name)
		}
	}
	if !one.Same(Plan{Steps: []Step{{Do: "remove", Object: "a", uid: "1", Why: "it is there"}}}) {
		t.Error("the same is another one")
	}
}

func TestPlan_says_what_needs_an_override(t *testing.T) {
	p, err := clusterWith(t, former).Plan(t.Context(), false)
	if err != nil || !slices.Equal(p.NeedsOverride, []string{"Deployment op/capi-operator"}) {
		t.Errorf("override needed by %v, %v", p.NeedsOverride, err)
	}
	without := strings.Replace(former, `kind: ClusterVersion, metadata: {name: version,`, `kind: ClusterVersion, metadata: {name: another,`, 1)
	if p, err = clusterWith(t, without).Plan(t.Context(), false); err != nil || len(p.NeedsOverride) > 0 {
		t.Errorf("without a cluster-version operator: override needed by %v, %v", p.NeedsOverride, err)
	}
}

func TestPlan_of_a_cluster_without_a_former_installer_is_empty(t *testing.T) {
	p, err := clusterWith(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: capstan, namespace: op}}`).Plan(t.Context(), false)
	if err != nil || p.Steps == nil || len(p.Steps) > 0 || p.Running() {
		t.Errorf("planned is %q, %v", told(p), err)
	}
}

func TestAct_removes_nothing_that_was_left_behind_while_a_Lease_is_held_and_goes_on_later(t *testing.T) {
	c := clusterWith(t, former)
	p, err := c.Plan(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Act(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "gave up waiting for Lease op/capi-installer-leader to be free") || p.Done {
		t.Fatalf("it ended with %v", err)
	}
	again, err := c.Plan(t.Context(), false)
	if err != nil || !slices.Equal(told(again), []string{
		"wait Lease op/capi-installer-leader", "delete Lease op/capi-installer-leader", "delete ClusterRoleBinding openshift-capi-installer",
		"delete ServiceAccount op/capi-installer", "stay ClusterRole openshift-capi-operator",
	}) {
		t.Fatalf("planned again is %q, %v", told(again), err)
	}
	c.Now = func() time.Time { return noon.Add(3 * time.Minute) }
	if err := c.Act(t.Context(), &again); err != nil || !again.Done {
		t.Fatal(err)
	}
	last, err := c.Plan(t.Context(), false)
	if err != nil || !slices.Equal(told(last), []string{"stay ClusterRole openshift-capi-operator"}) || last.Running() {
		t.Errorf("left is %q, %v", told(last), err)
	}
	version, err := c.clusterVersion(t.Context())
	if err != nil || len(version.Spec.Overrides) != 2 || version.Spec.Overrides[0].Name != "other" || version.Spec.Overrides[1].Name != "capi-operator" || !version.Spec.Overrides[1].Unmanaged {
		t.Errorf("overrides are %+v, %v", version, err)
	}
}

func TestPlan_of_a_cluster_where_nobody_would_go_on_says_so(t *testing.T) {
	for what, running := range map[string]bool{
		"status: {availableReplicas: 1}": true, "status: {availableReplicas: 0}": false, "status: {replicas: 1}": false,
	} {
		p, err := clusterWith(t, strings.Replace(former, "status: {availableReplicas: 1}", what, 1)).Plan(t.Context(), true)
		if err != nil || (p.Absent == nil) != running {
			t.Errorf("with %s: %v, %v", what, p.Absent, err)
		}
	}
	held := strings.NewReplacer("status: {availableReplicas: 1}", "status: {}", `name: capstan-leader, namespace: op, uid: "5"}`,
		`name: capstan-leader, namespace: op, uid: "5"}, spec: {holderIdentity: me, leaseDurationSeconds: 137, renewTime: "2026-01-01T11:59:00.000000Z"}`).Replace(former)
	if p, err := clusterWith(t, held).Plan(t.Context(), true); err != nil || p.Absent != nil {
		t.Errorf("with the Lease held: %v, %v", p.Absent, err)
	}
}

func TestAct_tells_a_Deployment_that_came_back_meanwhile(t *testing.T) {
	c := clusterWith(t, former)
	c.Now = func() time.Time { return noon.Add(time.Hour) }
	p, err := c.Plan(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	c.Progress = func(line string) {
		if line == "delete Deployment op/capi-installer" {
			again := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "capi-operator", "namespace": "op", "uid": "20"},
			}}
			if _, err := c.dynamic.Resource(deployments).Namespace("op").Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := c.Act(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "Deployment op/capi-operator came back") || p.Done {
		t.Errorf("it ended with %v", err)
	}
}

func TestAct_names_the_pod_of_a_lost_node_that_a_Deployment_waits_for(t *testing.T) {
	c := clusterWith(t, former+`
---
{apiVersion: v1, kind: Pod, metadata: {name: capi-operator-5d-x, namespace: op, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: capi-operator-5d, uid: "30", controller: true}]}, spec: {nodeName: master-2}}`)
	p, err := c.Plan(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	c.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("delete", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	err = c.Act(t.Context(), &p)
	if err == nil || !strings.Contains(err.Error(), `pod capi-operator-5d-x on node "master-2"`) || !strings.Contains(err.Error(), "oc -n op delete pod capi-operator-5d-x --force") {
		t.Errorf("it ended with %v", err)
	}
}

func TestAct_finds_that_pod_on_a_later_page_of_the_list(t *testing.T) {
	c := clusterWith(t, former)
	asked := c.dynamic.(*dynamicfake.FakeDynamicClient)
	asked.PrependReactor("delete", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	asked.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		options := action.(clienttesting.ListActionImpl).ListOptions
		if options.Limit == 0 {
			t.Error("all pods are asked for at once")
		}
		page := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList"}}
		if options.Continue == "" {
			page.SetContinue("next")
			return true, page, nil
		}
		pod := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(`{apiVersion: v1, kind: Pod, metadata: {name: capi-operator-5d-x, namespace: op, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: capi-operator-5d, uid: "30", controller: true}]}, spec: {nodeName: master-2}}`), &pod.Object); err != nil {
			t.Error(err)
		}
		page.Items = append(page.Items, pod)
		return true, page, nil
	})
	p, err := c.Plan(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Act(t.Context(), &p); err == nil || !strings.Contains(err.Error(), `pod capi-operator-5d-x on node "master-2"`) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAct_names_no_pod_but_of_the_Deployment_that_it_waits_for(t *testing.T) {
	pod := func(owner string) string {
		return former + `
---
{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: op, ownerReferences: [` + owner + `]}, spec: {nodeName: master-2}}`
	}
	forbidden := func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no right"))
	}
	for name, row := range map[string]struct {
		documents string
		list      clienttesting.ReactionFunc
	}{
		"there is none":                      {documents: former},
		"of nobody":                          {documents: pod("")},
		"of another Deployment":              {documents: pod(`{apiVersion: apps/v1, kind: ReplicaSet, name: capstan-5d, uid: "30", controller: true}`)},
		"of one whose name begins like it":   {documents: pod(`{apiVersion: apps/v1, kind: ReplicaSet, name: capi-operator-next-5d, uid: "30", controller: true}`)},
		"of a Job whose name begins like it": {documents: pod(`{apiVersion: batch/v1, kind: Job, name: capi-operator-5d, uid: "30", controller: true}`)},
		"pods may not be listed":             {documents: pod(`{apiVersion: apps/v1, kind: ReplicaSet, name: capi-operator-5d, uid: "30", controller: true}`), list: forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			c := clusterWith(t, row.documents)
			asked := c.dynamic.(*dynamicfake.FakeDynamicClient)
			asked.PrependReactor("delete", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
			if row.list != nil {
				asked.PrependReactor("list", "pods", row.list)
			}
			p, err := c.Plan(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Act(t.Context(), &p)
			if err == nil || strings.Contains(err.Error(), "pod ") || !strings.Contains(err.Error(), "look why it is not, and do it again") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
