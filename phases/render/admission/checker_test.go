package admission_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiserver "k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/render/admission"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWrites_lets_the_operator_write_what_it_keeps_for_the_checker_and_no_more(t *testing.T) {
	const (
		service  = "{service: {namespace: openshift-cluster-api-operator, name: capstan-webhooks, path: /crds/deny}}"
		marked   = "labels: {capstan.openshift.io/checker: 'true'}"
		owned    = marked + ", ownerReferences: [{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, name: need, uid: u}]"
		written  = "managedFields: [{manager: capstan-compatibility, operation: Update}]"
		template = "template: {spec: {containers: [{name: a, image: b}]}}"
	)
	configuration := func(kind, metadata, client string) string {
		return "{apiVersion: admissionregistration.k8s.io/v1, kind: " + kind + "WebhookConfiguration, metadata: {" + metadata + "}, webhooks: [{name: a.example.com, clientConfig: " + client + "}]}"
	}
	deployment := func(name, spec string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + ", namespace: openshift-cluster-api-operator}, spec: {" + spec + "}}"
	}
	second := func(name, labels, account string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + ", namespace: openshift-cluster-api-operator" + labels + "}, spec: {template: {spec: {serviceAccountName: " + account + "}}}}"
	}
	budget := func(namespace, name string) string {
		return "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " + name + ", namespace: " + namespace + "}}"
	}
	requirements := configuration("Validating", "name: capstan-requirements, "+marked, service)
	var policy *admissiontest.Policy
	for _, o := range admission.Shipped.Objects() {
		if o.GetKind() == "ValidatingAdmissionPolicy" && o.GetName() == "capstan-writes" {
			made, err := admissiontest.New(o)
			if err != nil {
				t.Fatal(err)
			}
			policy = made
		}
	}
	for name, row := range map[string]struct {
		operation apiserver.Operation
		now, old  string
		refused   bool
	}{
		"one of all requirements":            {apiserver.Create, requirements, "", false},
		"that of a requirement":              {apiserver.Create, configuration("Mutating", "name: need, "+owned, service), "", false},
		"put right":                          {apiserver.Update, requirements, requirements, false},
		"put right where the mark was taken": {apiserver.Update, requirements, configuration("Validating", "name: capstan-requirements, "+written, service), false},
		"taken away":                         {apiserver.Delete, "", requirements, false},
		"led to loopback, by a test":         {apiserver.Create, configuration("Validating", "name: capstan-crds, "+marked, "{url: 'https://127.0.0.1:1/a'}"), "", false},
		"one without the mark":               {apiserver.Create, configuration("Validating", "name: capstan-crds", service), "", true},
		"of another name":                    {apiserver.Create, configuration("Validating", "name: capstan-others, "+marked, service), "", true},
		"of another requirement":             {apiserver.Create, configuration("Validating", "name: other, "+owned, service), "", true},
		"that mutates all definitions":       {apiserver.Create, configuration("Mutating", "name: capstan-crds, "+marked, service), "", true},
		"that leads elsewhere":               {apiserver.Create, configuration("Validating", "name: capstan-crds, "+marked, "{service: {namespace: default, name: capstan-webhooks}}"), "", true},
		"that leads out":                     {apiserver.Create, configuration("Validating", "name: capstan-crds, "+marked, "{url: 'https://example.com/a'}"), "", true},
		"somebody else's":                    {apiserver.Update, requirements, configuration("Validating", "name: capstan-requirements", service), true},
		"somebody else's, taken away":        {apiserver.Delete, "", configuration("Validating", "name: capstan-requirements", service), true},
		"the replicas of the checker":        {apiserver.Update, deployment("capstan-webhooks", "replicas: 1, "+template), deployment("capstan-webhooks", "replicas: 2, "+template), false},
		"its image":                          {apiserver.Update, deployment("capstan-webhooks", "template: {spec: {containers: []}}"), deployment("capstan-webhooks", template), true},
		"the replicas of another":            {apiserver.Update, deployment("capstan", "replicas: 1, "+template), deployment("capstan", "replicas: 2, "+template), true},
		"its second Deployment":              {apiserver.Create, second("capstan-webhooks-2", ", "+marked, "capstan-webhooks"), "", false},
		"its second Deployment, changed":     {apiserver.Update, second("capstan-webhooks-2", ", "+marked, "capstan-webhooks"), second("capstan-webhooks-2", ", "+marked, "capstan-webhooks"), false},
		"its second Deployment, taken away":  {apiserver.Delete, "", second("capstan-webhooks-2", ", "+marked, "capstan-webhooks"), false},
		"a second one of another account":    {apiserver.Create, second("capstan-webhooks-2", ", "+marked, "capstan"), "", true},
		"a second one without the mark":      {apiserver.Create, second("capstan-webhooks-2", "", "capstan-webhooks"), "", true},
		"somebody else's second one":         {apiserver.Delete, "", second("capstan-webhooks-2", "", "capstan-webhooks"), true},
		"a third Deployment":                 {apiserver.Create, second("capstan-webhooks-3", ", "+marked, "capstan-webhooks"), "", true},
		"its budget":                         {apiserver.Create, budget("openshift-cluster-api-operator", "capstan-webhooks"), "", false},
		"its budget, taken away":             {apiserver.Delete, "", budget("openshift-cluster-api-operator", "capstan-webhooks"), false},
		"another budget":                     {apiserver.Create, budget("openshift-cluster-api-operator", "capstan"), "", true},
		"a budget elsewhere":                 {apiserver.Create, budget("default", "capstan-webhooks"), "", true},
		"a requirement that would be stored": {apiserver.Create, "{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, metadata: {name: capstan-probe}}", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			answers, err := policy.Ask(t.Context(), admissiontest.Request{Operation: row.operation, Object: object(t, row.now), Old: object(t, row.old)})
			if err != nil {
				t.Fatal(err)
			}
			for _, answer := range answers {
				if (answer.Refused != "") != row.refused || strings.HasPrefix(answer.Refused, "error") {
					t.Errorf("the answer is %q", answer.Refused)
				}
			}
		})
	}
}
