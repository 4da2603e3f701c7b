package rewrite_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func parse(t *testing.T, method, target string) (*rewrite.Request, error) {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatal(err)
	}
	return rewrite.ParseRequest(method, u)
}

func TestAPathDecidesTheClassAndWhatIsSent(t *testing.T) {
	t.Parallel()
	private, standard := rewrite.Private, rewrite.Standard
	for _, row := range []struct {
		method, target, sent string
		class                rewrite.Class
	}{
		{"GET", "/apis/" + standard + "/v1beta1/namespaces/a/machines/m", "/apis/" + private + "/v1beta1/namespaces/a/machines/m", rewrite.MappedKinds},
		{"PUT", "/apis/infrastructure." + standard + "/v1/namespaces/a/x/m/status", "/apis/infrastructure." + private + "/v1/namespaces/a/x/m/status", rewrite.MappedKinds},
		{"GET", "/apis/" + standard + "/v1beta1/machines?watch=1&fieldSelector=metadata.name%3Dcluster.x-k8s.io", "/apis/" + private + "/v1beta1/machines?watch=1&fieldSelector=metadata.name%3Dcluster.x-k8s.io", rewrite.MappedKinds},
		{"GET", "/apis/" + standard + "/v1beta1/watch/machines", "/apis/" + private + "/v1beta1/watch/machines", rewrite.MappedKinds},
		{"GET", "/api/v1/namespaces/" + "cluster.x-k8s.io" + "/secrets/cluster.x-k8s.io", "/api/v1/namespaces/cluster.x-k8s.io/secrets/cluster.x-k8s.io", rewrite.OtherKinds},
		{"GET", "/apis/operator." + standard + "/v1/providers", "/apis/operator." + standard + "/v1/providers", rewrite.OtherKinds},
		{"GET", "/apis", "/apis", rewrite.Discovery},
		{"GET", "/apis/" + standard, "/apis/" + private, rewrite.Discovery},
		{"GET", "/apis/" + standard + "/v1beta1/", "/apis/" + private + "/v1beta1/", rewrite.Discovery},
		{"GET", "/api/v1", "/api/v1", rewrite.Discovery},
		{"GET", "/openapi/v2", "/openapi/v2", rewrite.OpenAPI},
		{"GET", "/openapi/v3", "/openapi/v3", rewrite.OpenAPI},
		{"GET", "/openapi/v3/apis/" + standard + "/v1beta1?hash=AB-" + rewrite.RuleHash, "/openapi/v3/apis/" + private + "/v1beta1?hash=AB", rewrite.OpenAPI},
		{"GET", "/openapi/v3/apis/" + standard + "/v1beta1?hash=AB", "/openapi/v3/apis/" + private + "/v1beta1?hash=-AB", rewrite.OpenAPI},
		{"GET", "/healthz", "/healthz", rewrite.Opaque},
		{"GET", "/", "/", rewrite.Opaque},
		{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + standard, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + private, rewrite.Definitions},
		{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + standard + "/status/", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + private + "/status/", rewrite.Definitions},
		{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldSelector=metadata.name%3Dmachines." + standard, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldSelector=metadata.name%3Dmachines." + private, rewrite.Definitions},
		{"GET", "/api/v1/events?limit=5&fieldSelector=involvedObject.apiVersion%3Dcluster.x-k8s.io%2Fv1beta1%2Ctype%21%3DNormal", "/api/v1/events?limit=5&fieldSelector=involvedObject.apiVersion%3D" + private + "%2Fv1beta1%2Ctype%21%3DNormal", rewrite.Events},
		{"GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.apiVersion%3Dcluster.x-k8s.io%2Fv1beta1", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.apiVersion%3D" + private + "%2Fv1beta1", rewrite.EventsV1},
		// The server passes over what has a semicolon in it, and has to go on doing so.
		{"GET", "/api/v1/events?fieldSelector=involvedObject.apiVersion%3Dcluster.x-k8s.io%2Fv1;x", "/api/v1/events?fieldSelector=involvedObject.apiVersion%3Dcluster.x-k8s.io%2Fv1;x", rewrite.Events},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", rewrite.AccessReviews},
		{"POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews", rewrite.AccessReviews},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", rewrite.RulesReviews},
		{"GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cluster.x-k8s.io", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cluster.x-k8s.io", rewrite.WebhookConfigurations},
		{"GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", rewrite.AdmissionPolicies},
		{"GET", "/apis/autoscaling/v2/namespaces/a/horizontalpodautoscalers/h", "/apis/autoscaling/v2/namespaces/a/horizontalpodautoscalers/h", rewrite.Autoscalers},
		{"POST", "/api/v1/namespaces/a/pods/p/exec?command=cluster.x-k8s.io", "/api/v1/namespaces/a/pods/p/exec?command=cluster.x-k8s.io", rewrite.Opaque},
		{"GET", "/api/v1/namespaces/a/services/s/proxy/../apis//cluster.x-k8s.io%2Fv1/%2e", "/api/v1/namespaces/a/services/s/proxy/../apis//cluster.x-k8s.io%2Fv1/%2e", rewrite.Opaque},
		{"GET", "/api/v1/namespaces/a/pods/p/proxy/", "/api/v1/namespaces/a/pods/p/proxy/", rewrite.Opaque},
		{"GET", "/api/v1/proxy/nodes/n/a/../b", "/api/v1/proxy/nodes/n/a/../b", rewrite.Opaque},
		{"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", rewrite.OtherKinds},
	} {
		request, err := parse(t, row.method, row.target)
		if err != nil {
			t.Errorf("%s %s: %v", row.method, row.target, err)
			continue
		}
		if got := request.URL.RequestURI(); got != row.sent || request.Class != row.class {
			t.Errorf("%s %s is sent as %s (%s), not %s (%s)", row.method, row.target, got, request.Class, row.sent, row.class)
		}
	}
}

func TestWhatIsDecidedOnIsWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"/apis/cluster%2Ex-k8s.io/v1beta1/machines",
		"/apis/cluster.x-k8s.io%2Fv1beta1/machines",
		"/%61pis/cluster.x-k8s.io/v1beta1/machines",
		"/api/v1/../../apis/cluster.x-k8s.io/v1beta1/machines",
		"/api/v1/%2e%2e/secrets",
		"/api/v1/namespaces/a/./pods",
		"/api/v1/namespaces//pods",
		"//apis/cluster.x-k8s.io/v1beta1/machines",
		"/api/v1/namespaces/a%2Fsecrets/pods",
		"/api/v1/namespaces/a/pods/p%2Fproxy/x",
		"/api/v1/namespaces/a/pods/p%2F..%2Fq/proxy/x",
		"/api/v1/namespaces/a/pods/p/%70roxy/x",
		"/api/v1/n%61mespaces/a/pods/p",
		"/apis/cluster.x-k8s.io%2F",
		"/%6fpenapi/v3/apis/cluster.x-k8s.io/v1beta1",
		"/openapi/v3/apis/cluster%2ex-k8s.io/v1beta1",
		"/healthz/..%2fapis",
		"/api/v1/pods//",
		"/api/v1/watch",
	} {
		_, err := parse(t, "GET", target)
		var refused *rewrite.Error
		if !errors.As(err, &refused) || refused.Code != http.StatusBadRequest {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestGroupsOfThePlatformAreNotAddressed(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"/apis/" + rewrite.Private + "/v1beta1/machines",
		"/apis/" + rewrite.Native + "/v1beta1/machines",
		"/apis/" + rewrite.Private,
		"/apis/" + rewrite.Native + "/v1beta1",
		"/openapi/v3/apis/" + rewrite.Private + "/v1beta1",
	} {
		_, err := parse(t, "GET", target)
		var refused *rewrite.Error
		if !errors.As(err, &refused) || refused.Code != http.StatusNotFound || !strings.HasSuffix(refused.Text, "use group "+rewrite.Standard) {
			t.Errorf("%s: %v", target, err)
		}
	}
	_, err := parse(t, "GET", "/apis/ipam."+rewrite.Private+"/v1beta1/ipaddresses")
	if err == nil || !strings.HasSuffix(err.Error(), "use group ipam."+rewrite.Standard) {
		t.Error(err)
	}
}

func TestAGroupWithAnotherPrefixIsTold(t *testing.T) {
	t.Parallel()
	request, err := parse(t, "GET", "/apis/operator."+rewrite.Standard+"/v1/providers")
	if err != nil || !request.OtherPrefix {
		t.Error(request, err)
	}
}

func TestALocationIsTurnedForTheClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ target, location, want string }{
		{"/apis/" + rewrite.Standard + "/v1beta1/machines", "https://server/apis/" + rewrite.Private + "/v1beta1/x?a=b", "https://server/apis/" + rewrite.Standard + "/v1beta1/x?a=b"},
		{"/openapi/v3/apis/" + rewrite.Standard + "/v1?hash=A", "/openapi/v3/apis/" + rewrite.Private + "/v1?hash=B", "/openapi/v3/apis/" + rewrite.Standard + "/v1?hash=B-" + rewrite.RuleHash},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + rewrite.Private, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines." + rewrite.Standard},
		{"/healthz", "/apis/" + rewrite.Private + "/v1", "/apis/" + rewrite.Private + "/v1"},
	} {
		request, err := parse(t, "GET", row.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := request.Location(row.location); got != row.want {
			t.Errorf("%s becomes %s, not %s", row.location, got, row.want)
		}
	}
}

func TestWhatCannotBeRewrittenIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ target, accept, want string }{
		{"/api/v1/pods", "application/vnd.kubernetes.protobuf,application/json", "application/json"},
		{"/api/v1/pods", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"},
		{"/api/v1/pods?watch=true", "application/vnd.kubernetes.protobuf, application/json", "application/vnd.kubernetes.protobuf,application/json"},
		{"/api/v1/namespaces/a/pods/p", "application/vnd.kubernetes.protobuf,*/*;q=0.1", "application/vnd.kubernetes.protobuf,*/*;q=0.1"},
		{"/api/v1/pods", "application/cbor;;x, application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1;g=meta.k8s.io"},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"},
		{"/api/v1/pods", "", ""},
		{"/metrics", "application/cbor", "application/cbor"},
	} {
		request, err := parse(t, "GET", row.target)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := request.Accept(row.accept); err != nil || got != row.want {
			t.Errorf("%s: %s becomes %s, %v", row.target, row.accept, got, err)
		}
	}
	request, err := parse(t, "GET", "/api/v1/pods")
	if err != nil {
		t.Fatal(err)
	}
	_, err = request.Accept("application/cbor, application/cbor-seq")
	var refused *rewrite.Error
	if !errors.As(err, &refused) || refused.Code != http.StatusNotAcceptable {
		t.Error(err)
	}
}

func TestTagsAreOfTheRulesThatMadeTheBody(t *testing.T) {
	t.Parallel()
	stamped := rewrite.StampETag(`W/"abc"`)
	if got := rewrite.UnstampETags(stamped + `, "old-12345678", ` + rewrite.StampETag(`"d"`)); got != `W/"abc", "d"` {
		t.Error(got)
	}
	if got := rewrite.UnstampETags("*"); got != "*" {
		t.Error(got)
	}
	if got := rewrite.UnstampETags(`"foreign"`); got != "" {
		t.Error(got)
	}
}
