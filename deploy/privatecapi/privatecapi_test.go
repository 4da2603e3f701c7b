package privatecapi_test

import (
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/deploy/deploytest"
	"github.com/capstan-capi/capstan/deploy/privatecapi"
)

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := privatecapi.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryFileOfTheFolderIsListed(t *testing.T) {
	files, err := fs.Glob(os.DirFS("."), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		apart := []string{"kustomization.yaml", "sidecar.yaml", "sidecar-monitor.yaml", "legacy-operator.yaml"} // for other namespaces, or by itself
		if !slices.Contains(apart, file) && !strings.Contains(string(list), "\n- "+file+"\n") {
			t.Errorf("kustomization.yaml does not list %s", file)
		}
	}
}

func TestDefinitions_are_private_and_converted_by_the_shim(t *testing.T) {
	service := deploytest.First[corev1.Service](t, objects(t), "Service")
	definitions, err := privatecapi.Definitions()
	if err != nil || len(definitions) != 13 {
		t.Fatalf("there are %d definitions: %v", len(definitions), err)
	}
	for _, object := range definitions {
		crd := deploytest.As[apiextensionsv1.CustomResourceDefinition](t, object)
		if !strings.HasSuffix(crd.Spec.Group, "cluster.hypershift.openshift.io") || len(crd.Spec.Names.ShortNames)+len(crd.Spec.Names.Categories) > 0 {
			t.Errorf("%s: group %s, names %v", crd.Name, crd.Spec.Group, crd.Spec.Names)
		}
		if len(crd.Spec.Versions) == 1 {
			continue
		}
		asked := crd.Spec.Conversion.Webhook.ClientConfig.Service
		if asked.Name != service.Name || asked.Namespace != service.Namespace || *asked.Path != "/convert" || *asked.Port != service.Spec.Ports[0].Port {
			t.Errorf("%s is converted by %v", crd.Name, asked)
		}
		if crd.Annotations["service.beta.openshift.io/inject-cabundle"] != "true" {
			t.Errorf("nobody writes into %s by whom the shim's certificate is signed", crd.Name)
		}
	}
}

func TestTheShimReadsDefinitionsAndWritesNothing(t *testing.T) {
	role := deploytest.First[rbacv1.ClusterRole](t, objects(t), "ClusterRole")
	if len(role.Rules) != 1 || !slices.Equal(role.Rules[0].Resources, []string{"customresourcedefinitions"}) || !slices.Equal(role.Rules[0].Verbs, []string{"get", "list", "watch"}) {
		t.Errorf("it may %v", role.Rules)
	}
	binding, deployment := deploytest.First[rbacv1.ClusterRoleBinding](t, objects(t), "ClusterRoleBinding"), deploytest.First[appsv1.Deployment](t, objects(t), "Deployment")
	if binding.RoleRef.Name != role.Name || binding.Subjects[0].Name != deployment.Spec.Template.Spec.ServiceAccountName || binding.Subjects[0].Namespace != deployment.Namespace {
		t.Errorf("the rights are bound to %v", binding.Subjects)
	}
}

func TestRolesForPeopleReachWhatTheyReadAndWriteNothingElse(t *testing.T) {
	bound := map[string]bool{}
	writes := map[string][]string{}
	for _, object := range objects(t) {
		switch object.GetKind() {
		case "ClusterRoleBinding":
			bound[deploytest.As[rbacv1.ClusterRoleBinding](t, object).RoleRef.Name] = true
		case "ClusterRole":
			for _, rule := range deploytest.As[rbacv1.ClusterRole](t, object).Rules {
				if slices.Contains(rule.Verbs, "patch") {
					writes[object.GetName()] = append(writes[object.GetName()], strings.Join(rule.Resources, ",")+strings.Join(rule.ResourceNames, ","))
				}
			}
		}
	}
	for _, role := range []string{"capstan-private-capi-view", "capstan-private-capi-operate"} {
		if bound[role] {
			t.Errorf("%s is bound to somebody", role)
		}
	}
	if got := writes["capstan-private-capi-operate"]; !slices.Equal(got, []string{"hostedclusters", "configmapscapstan-private-capi"}) || writes["capstan-private-capi-view"] != nil {
		t.Errorf("people may write %v", writes)
	}
}

func TestTheShimIsReachedByItsServiceAndOneOfItIsLeft(t *testing.T) {
	deployment, service, budget := deploytest.First[appsv1.Deployment](t, objects(t), "Deployment"), deploytest.First[corev1.Service](t, objects(t), "Service"), deploytest.First[policyv1.PodDisruptionBudget](t, objects(t), "PodDisruptionBudget")
	pods := labels.Set(deployment.Spec.Template.Labels)
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(pods) {
		t.Errorf("the Service selects %v", service.Spec.Selector)
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil || !selector.Matches(pods) || budget.Spec.MinAvailable.IntValue() != 1 || *deployment.Spec.Replicas != 2 {
		t.Errorf("%d replicas, and the budget is %+v: %v", *deployment.Spec.Replicas, budget.Spec, err)
	}
	if deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 {
		t.Error("a rolling restart may leave nobody to answer")
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	ports := map[string]bool{}
	for _, port := range container.Ports {
		ports[port.Name] = true
	}
	for _, port := range service.Spec.Ports {
		if !ports[port.TargetPort.StrVal] {
			t.Errorf("the Service leads to port %s, which the pod does not have", port.TargetPort.StrVal)
		}
	}
	for _, mount := range container.VolumeMounts {
		if mount.Name == "tls" && !slices.Contains(container.Args, "--cert-dir="+mount.MountPath) {
			t.Errorf("the certificate is at %s: %v", mount.MountPath, container.Args)
		}
		if mount.Name == "routes" && !slices.Contains(container.Args, "--routes="+mount.MountPath+"/routes.yaml") {
			t.Errorf("the routes are at %s: %v", mount.MountPath, container.Args)
		}
	}
	if certificate := service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]; deployment.Spec.Template.Spec.Volumes[0].Secret.SecretName != certificate {
		t.Errorf("nothing mounts the certificate %q", certificate)
	}
	if !*container.SecurityContext.ReadOnlyRootFilesystem || deployment.Spec.Template.Annotations["openshift.io/required-scc"] != "restricted-v2" {
		t.Error("the shim may do more than it needs")
	}
}

func TestTheShimTakesNoMoreMemoryThanItIsGiven(t *testing.T) {
	container := deploytest.First[appsv1.Deployment](t, objects(t), "Deployment").Spec.Template.Spec.Containers[0]
	for _, env := range container.Env {
		if env.Name != "GOMEMLIMIT" {
			continue
		}
		collected := resource.MustParse(strings.TrimSuffix(env.Value, "B"))
		if limit := container.Resources.Limits.Memory(); limit.IsZero() || collected.Cmp(*limit) >= 0 {
			t.Errorf("garbage is collected from %s on, and the limit is %s", env.Value, limit)
		}
		return
	}
	t.Error("nothing says from where on garbage is collected")
}

func TestTheDeliveredRoutesCanBeReadAndLeadNowhereInTheCluster(t *testing.T) {
	var list struct {
		Routes []struct{ Name, URL, CAFile string } `json:"routes"`
	}
	if err := yaml.UnmarshalStrict([]byte(deploytest.First[corev1.ConfigMap](t, objects(t), "ConfigMap").Data["routes.yaml"]), &list); err != nil || len(list.Routes) == 0 {
		t.Fatalf("there are %d routes: %v", len(list.Routes), err)
	}
	for _, route := range list.Routes {
		if target, err := url.Parse(route.URL); err != nil || !strings.HasSuffix(target.Hostname(), ".example.com") {
			t.Errorf("route %s leads to %s, which may be the platform's", route.Name, route.URL)
		}
	}
}

func TestTheFenceIsAboutAllGroupsThatMoveAndDenies(t *testing.T) {
	policy, binding := deploytest.First[admissionregistrationv1.ValidatingAdmissionPolicy](t, objects(t), "ValidatingAdmissionPolicy"), deploytest.First[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, objects(t), "ValidatingAdmissionPolicyBinding")
	if binding.Spec.PolicyName != policy.Name || !slices.Equal(binding.Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}) {
		t.Errorf("the binding is %+v", binding.Spec)
	}
	groups := policy.Spec.MatchConstraints.ResourceRules[0].APIGroups
	for _, prefix := range []string{"", "infrastructure.", "controlplane.", "bootstrap.", "addons.", "ipam.", "runtime."} {
		for _, base := range []string{"cluster.x-k8s.io", "cluster.hypershift.openshift.io"} {
			if !slices.Contains(groups, prefix+base) {
				t.Errorf("%s%s is not fenced", prefix, base)
			}
		}
	}
	shipped, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range shipped {
		if object.GetName() != "capstan-writes" || object.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		writes := deploytest.As[admissionregistrationv1.ValidatingAdmissionPolicy](t, object)
		if behind := "request.resource.group in ['" + strings.Join(groups, "', '") + "']"; !slices.ContainsFunc(writes.Spec.Variables, func(v admissionregistrationv1.Variable) bool {
			return v.Name == "moves" && strings.Contains(v.Expression, behind)
		}) {
			t.Errorf("policy capstan-writes does not let a move write %v", groups)
		}
	}
	if len(groups) != 14 || *policy.Spec.FailurePolicy != admissionregistrationv1.Fail {
		t.Errorf("fenced are %v", groups)
	}
}

func TestTheImageIsNamedByItsContent(t *testing.T) {
	text, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "digest: sha256:") || strings.Contains(string(text), "newTag") {
		t.Error("kustomization.yaml names the image by a tag, behind which the content may change")
	}
}

func TestTheSidecarIsScrapedWhereItServesMetrics(t *testing.T) {
	text, err := os.ReadFile("sidecar-monitor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var monitor struct {
		Kind string
		Spec struct {
			PodMetricsEndpoints []struct{ Port, Path, Scheme string } `json:"podMetricsEndpoints"`
		}
	}
	if err := yaml.Unmarshal(text, &monitor); err != nil {
		t.Fatal(err)
	}
	port := sidecarPatch(t).Spec.InitContainers[0].Ports[0]
	if at := monitor.Spec.PodMetricsEndpoints; monitor.Kind != "PodMonitor" || len(at) != 1 || at[0].Port != port.Name || at[0].Path != "/metrics" || at[0].Scheme != "http" {
		t.Errorf("scraped is %+v", at)
	}
}

// sidecarPatch is the Pod template of the patch.
func sidecarPatch(t *testing.T) corev1.PodTemplateSpec {
	t.Helper()
	text, err := os.ReadFile("sidecar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	patch := struct {
		Spec appsv1.DeploymentSpec `json:"spec"`
	}{}
	if err := yaml.UnmarshalStrict(text, &patch); err != nil {
		t.Fatal(err)
	}
	return patch.Spec.Template
}

func TestTheSidecarComesFirstIsReadyAndStaysSmall(t *testing.T) {
	sidecar := sidecarPatch(t).Spec.InitContainers[0]
	if sidecar.Name != "kube-apiserver-proxy" || *sidecar.RestartPolicy != corev1.ContainerRestartPolicyAlways || sidecar.StartupProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("the sidecar is %+v", sidecar)
	}
	if sidecar.Resources.Requests.Cpu().String() != "10m" || sidecar.Resources.Requests.Memory().String() != "32Mi" || sidecar.Resources.Limits.Memory().String() != "100Mi" {
		t.Errorf("it takes %v", sidecar.Resources)
	}
	if !slices.Contains(sidecar.Args, "--address=127.0.0.1:8080") {
		t.Errorf("it is started with %v", sidecar.Args)
	}
}

func TestTheVerbsThatPolicyWritesAsksForAreGivenWhereThePagesSay(t *testing.T) {
	for _, object := range objects(t) {
		if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
			continue
		}
		role := deploytest.As[rbacv1.ClusterRole](t, object) // a Role has the same fields
		for _, rule := range role.Rules {
			if slices.Contains(rule.Verbs, "move") && (role.Name != "capstan-private-capi" || !slices.Equal(rule.APIGroups, []string{"hypershift.openshift.io"}) || !slices.Equal(rule.Resources, []string{"hostedclusters"})) {
				t.Errorf("%s has the verb move on %v", role.Name, rule)
			}
			if slices.Contains(rule.Verbs, "retire") || slices.Contains(rule.Verbs, "*") {
				t.Errorf("%s has %v on %v", role.Name, rule.Verbs, rule.Resources)
			}
		}
	}
	legacy, err := privatecapi.LegacyOperator()
	if err != nil {
		t.Fatal(err)
	}
	role, binding := deploytest.As[rbacv1.Role](t, legacy[0]), deploytest.As[rbacv1.RoleBinding](t, legacy[1])
	if len(role.Rules) != 1 || len(role.Rules[0].ResourceNames) != 1 || !slices.Contains(role.Rules[0].Verbs, "retire") || slices.Contains(role.Rules[0].Verbs, "update") {
		t.Errorf("it may %v", role.Rules)
	}
	if binding.RoleRef.Name != role.Name || binding.Namespace != role.Namespace || binding.Subjects[0].Name != "capstan" {
		t.Errorf("the rights are bound to %v", binding.Subjects)
	}
}

// The accounts are those of the components of phases/privatecapi that neither scale others nor wait.
func TestTheOperatorMaySpeakAsComponentsByNameAndAsNobodyElse(t *testing.T) {
	all := objects(t)
	shipped, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range append(all, shipped...) {
		if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
			continue
		}
		for _, rule := range deploytest.As[rbacv1.ClusterRole](t, object).Rules { // a Role has the same fields
			if !slices.Contains(rule.Verbs, "impersonate") {
				continue
			}
			if len(rule.ResourceNames) == 0 || !slices.Equal(rule.Resources, []string{"serviceaccounts"}) || len(rule.Verbs) != 1 {
				t.Errorf("%s %s may %v %v %v", object.GetKind(), object.GetName(), rule.Verbs, rule.Resources, rule.ResourceNames)
			}
			names = append(names, rule.ResourceNames...)
		}
	}
	if !slices.Equal(names, []string{"cluster-api", "capi-provider", "machine-approver"}) {
		t.Errorf("it may speak as %v", names)
	}
}
