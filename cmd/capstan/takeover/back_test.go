package takeover

import (
	"slices"
	"testing"

	"github.com/capstan-capi/capstan/deploy"
)

// capstan is some of what Capstan has on a cluster.
const capstan = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capstan, namespace: op, uid: "1", annotations: {CVO: "true"}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capstan-webhooks, namespace: op, uid: "7"}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capstan-webhooks-2, namespace: op, uid: "10"}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: capstan-crds, uid: "8", labels: {capstan.openshift.io/checker: "true"}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: theirs, uid: "9"}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: capstan-status, uid: "2", annotations: {CVO: "true"}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: capstan-status, uid: "3"}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: default-deny, namespace: capi, uid: "4"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: capi-installer-images, namespace: op, uid: "5", annotations: {"capi-operator.openshift.io/release-version": "4.22.0", "capi-operator.openshift.io/image-keys": "a", other: stays}}, data: {a: b}}
---
{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version, uid: "10"}}`

var wayBack = []string{
	"delete Deployment op/capstan", "wait Lease op/capstan-leader",
	"delete ValidatingWebhookConfiguration capstan-crds", "delete Deployment op/capstan-webhooks", "delete Deployment op/capstan-webhooks-2",
	"delete ValidatingAdmissionPolicyBinding capstan-status", "delete ValidatingAdmissionPolicy capstan-status",
	"delete NetworkPolicy capi/default-deny", "clear ConfigMap op/capi-installer-images",
}

func TestPlanBack_stops_Capstan_and_takes_away_what_keeps_the_former_installer_out(t *testing.T) {
	c := clusterWith(t, capstan+`
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capi-operator, namespace: op, uid: "6", annotations: {CVO: "true"}}}`)
	p, err := c.PlanBack(t.Context(), false)
	if err != nil || !slices.Equal(told(p), wayBack) || len(p.NeedsOverride) > 0 {
		t.Fatalf("planned is %q, override needed by %v, %v", told(p), p.NeedsOverride, err)
	}
	if err := c.Act(t.Context(), &p); err != nil || !p.Done {
		t.Fatal(err)
	}
	if p, err = c.PlanBack(t.Context(), false); err != nil || len(p.Steps) > 0 {
		t.Errorf("left is %q, %v", told(p), err)
	}
	list, err := c.get(t.Context(), object{configMaps, "ConfigMap", "op", "capi-installer-images"})
	if err != nil || len(list.GetAnnotations()) != 1 || list.Object["data"] == nil {
		t.Errorf("the list is %v, %v", list, err)
	}
}

func TestPlanBack_needs_an_override_for_what_the_release_puts_back(t *testing.T) {
	p, err := clusterWith(t, capstan).PlanBack(t.Context(), false)
	if err != nil || !slices.Equal(p.NeedsOverride, []string{"Deployment op/capstan", "ValidatingAdmissionPolicyBinding capstan-status"}) {
		t.Errorf("override needed by %v, %v", p.NeedsOverride, err)
	}
}

func TestBrought_has_every_kind_that_deploy_brings_but_those_that_stay(t *testing.T) {
	brought, err := (&Cluster{}).brought()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	goes := map[string]bool{"Deployment": true}
	for _, o := range brought {
		goes[o.kind] = true
	}
	var stay []string
	for _, o := range shipped {
		if !goes[o.GetKind()] && !slices.Contains(stay, o.GetKind()) {
			stay = append(stay, o.GetKind())
		}
	}
	slices.Sort(stay)
	if !slices.Equal(stay, []string{"ClusterAPI", "ClusterOperator", "ConfigMap", "Namespace"}) {
		t.Errorf("these stay: %v", stay)
	}
}
