package providers_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/providers"
)

const namespace = "openshift-cluster-api"

// kinds counts the objects of a profile by kind.
func kinds(all []*unstructured.Unstructured) map[string]int {
	count := map[string]int{}
	for _, object := range all {
		count[object.GetKind()]++
	}
	return count
}

func at(object *unstructured.Unstructured, path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, strings.Split(path, ".")...)
	return value
}

func TestProfiles_hold_the_kinds_that_real_providers_have(t *testing.T) {
	common := map[string]int{
		"ClusterRole": 1, "ClusterRoleBinding": 1, "Role": 1, "RoleBinding": 1, "ServiceAccount": 1, "Service": 1,
		"Deployment": 1, "MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1,
	}
	all := build(t, providers.ReleaseOne)
	maps.Copy(all, build(t, providers.CloudsOne))
	for component, differs := range map[string]map[string]int{
		providers.Core:    {"CustomResourceDefinition": 13, "ClusterRole": 2}, // one of them aggregates
		providers.AWS:     {"CustomResourceDefinition": 23, "Service": 2},     // one of them for metrics
		providers.VSphere: {"CustomResourceDefinition": 8, "ClusterRole": 2},
		providers.PowerVS: {"CustomResourceDefinition": 9},
		providers.GCP:     {"CustomResourceDefinition": 13},
		providers.Azure:   {"CustomResourceDefinition": 29, "ClusterRole": 2}, // ten of them of Azure Service Operator
	} {
		want := maps.Clone(common)
		maps.Copy(want, differs)
		if got := kinds(objects(t, manifests(t, all[component]))); !maps.Equal(got, want) {
			t.Errorf("%s has  %v\nwant %v", component, got, want)
		}
	}
}

func TestProfiles_name_nothing_of_the_world_before_packaging(t *testing.T) {
	for component, profile := range newest(t) {
		text := string(manifests(t, profile))
		for _, trace := range []string{
			"cert-manager", "-system\n", "gcr.io/k8s-staging", "imagePullPolicy: Always", "caBundle: ", "runAsUser: 6", "fsGroup: 1",
			"config.kubernetes.io", "creationTimestamp: null",
		} {
			if line := slices.IndexFunc(strings.Split(text, "\n"), func(l string) bool { return strings.Contains(l+"\n", trace) }); line >= 0 {
				t.Errorf("%s: line %d still says %q", component, line+1, trace)
			}
		}
	}
}

func TestProfiles_are_fitted_to_OpenShift(t *testing.T) {
	for component, profile := range newest(t) {
		for _, object := range objects(t, manifests(t, profile)) {
			where := component + ": " + object.GetKind() + " " + object.GetName()
			if ns := object.GetNamespace(); ns != "" && ns != namespace {
				t.Errorf("%s is in namespace %s", where, ns)
			}
			switch object.GetKind() {
			case "CustomResourceDefinition":
				converts := at(object, "spec.conversion.strategy") == "Webhook"
				if converts && object.GetAnnotations()["service.beta.openshift.io/inject-cabundle"] != "true" {
					t.Errorf("%s converts by webhook, but gets no CA", where)
				}
				if converts && at(object, "spec.conversion.webhook.clientConfig.service.namespace") != namespace {
					t.Errorf("%s calls a webhook in another namespace", where)
				}
			case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
				if object.GetAnnotations()["service.beta.openshift.io/inject-cabundle"] != "true" {
					t.Errorf("%s gets no CA", where)
				}
			case "Service":
				serves := strings.HasSuffix(object.GetName(), "-webhook-service")
				if secret := object.GetAnnotations()["service.beta.openshift.io/serving-cert-secret-name"]; serves != (secret != "") {
					t.Errorf("%s has serving certificate %q", where, secret)
				}
			case "Deployment":
				containers, _ := at(object, "spec.template.spec.containers").([]any)
				if len(containers) != 1 {
					t.Fatalf("%s has %d containers", where, len(containers))
				}
				image, _ := containers[0].(map[string]any)["image"].(string)
				if !strings.HasPrefix(image, "registry.ci.openshift.org/openshift:") {
					t.Errorf("%s runs image %s, not the provider's own", where, image)
				}
			}
		}
	}
}

func TestProfiles_of_AWS_keep_the_substitutions_of_its_manifests(t *testing.T) {
	text := string(manifests(t, build(t, providers.ReleaseOne)[providers.AWS]))
	for _, line := range []string{
		"    ${AWS_CONTROLLER_IAM_ROLE/#arn/eks.amazonaws.com/role-arn: arn}\n",
		"        iam.amazonaws.com/role: ${AWS_CONTROLLER_IAM_ROLE:=\"\"}\n",
		"              - key: ${K8S_CP_LABEL:=node-role.kubernetes.io/control-plane}\n",
		"BootstrapFormatIgnition=${EXP_BOOTSTRAP_FORMAT_IGNITION:=false},",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("missing: %s", line)
		}
	}
}
