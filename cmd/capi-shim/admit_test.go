package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/cluster-api/webhooks"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/cmd/capi-shim/linked"
	"github.com/capstan-capi/capstan/phases/conversion"
)

const private = "cluster.hypershift.openshift.io"

// coreWebhooks are those of Cluster API's core for some kinds, which need no cluster.
func coreWebhooks(t *testing.T) http.Handler {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	scheme, err := linked.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, hooks := range []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&webhooks.Machine{}, &webhooks.MachineSet{}, &webhooks.MachineDeployment{}, &webhooks.MachineHealthCheck{},
	} {
		if err := hooks.SetupWebhookWithManager(mgr); err != nil {
			t.Fatal(err)
		}
	}
	return mgr.GetWebhookServer().WebhookMux()
}

// shimBefore is a shim whose route core leads to a handler.
func shimBefore(t *testing.T, behind http.Handler) http.Handler {
	t.Helper()
	server := httptest.NewServer(behind)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "routes.yaml")
	if err := os.WriteFile(file, []byte("routes: [{name: core, url: \""+server.URL+"\"}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	routes, err := conversion.ReadRoutes(file, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	shim, err := conversion.New(nil, routes, clock.RealClock{}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return shim.Handler()
}

// review asks to create an object, or to change it from what it was.
func review(t *testing.T, group, kind, object, before string) string {
	t.Helper()
	request := &admissionv1.AdmissionRequest{
		UID: "u", Kind: metav1.GroupVersionKind{Group: group, Version: "v1beta2", Kind: kind}, Operation: admissionv1.Create,
		Resource: metav1.GroupVersionResource{Group: group, Version: "v1beta2", Resource: strings.ToLower(kind) + "s"},
		Object:   runtime.RawExtension{Raw: []byte(object)},
	}
	if before != "" {
		request.Operation, request.OldObject = admissionv1.Update, runtime.RawExtension{Raw: []byte(before)}
	}
	asked := admissionv1.AdmissionReview{Request: request}
	asked.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	text, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answered is what a webhook says, and the object that its patch makes.
func answered(t *testing.T, handler http.Handler, path, asked, object string) (*admissionv1.AdmissionResponse, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(asked))
	request.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(recorder, request)
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("%s answers %d %s", path, recorder.Code, recorder.Body.String())
	}
	if len(answer.Response.Patch) == 0 {
		return answer.Response, object
	}
	patch, err := jsonpatch.DecodePatch(answer.Response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Response, string(patched)
}

func TestTheCoresWebhooksDefaultAndRefuseByWayOfTheShimAsDirectly(t *testing.T) {
	core := coreWebhooks(t)
	shim := shimBefore(t, core)
	turned := strings.NewReplacer(
		`"apiVersion":"cluster.x-k8s.io/`, `"apiVersion":"`+private+`/`,
		`"apiGroup":"infrastructure.cluster.x-k8s.io"`, `"apiGroup":"infrastructure.`+private+`"`,
		`"apiGroup":"bootstrap.cluster.x-k8s.io"`, `"apiGroup":"bootstrap.`+private+`"`,
	)
	const spec = `"clusterName":"c","bootstrap":{"configRef":{"apiGroup":"bootstrap.cluster.x-k8s.io","kind":"KubeadmConfig","name":"b"}},"infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"AWSMachine","name":"i"}`
	allowed, patched := map[bool]int{}, 0
	for name, c := range map[string]struct{ kind, spec, before string }{
		"a Machine":                             {kind: "Machine", spec: spec + `,"version":"1.36.3"`},
		"a Machine with a version of no form":   {kind: "Machine", spec: spec + `,"version":"latest"`},
		"a Machine without bootstrap":           {kind: "Machine", spec: `"clusterName":"c","infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"AWSMachine","name":"i"}`},
		"a Machine of another cluster":          {kind: "Machine", spec: spec, before: strings.Replace(spec, `"c"`, `"d"`, 1)},
		"a MachineSet":                          {kind: "MachineSet", spec: `"clusterName":"c","selector":{},"template":{"spec":{` + spec + `}}`},
		"a MachineSet that selects others":      {kind: "MachineSet", spec: `"clusterName":"c","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{` + spec + `}}`},
		"a MachineDeployment":                   {kind: "MachineDeployment", spec: `"clusterName":"c","selector":{},"template":{"spec":{` + spec + `}}`},
		"a MachineDeployment of odd surge":      {kind: "MachineDeployment", spec: `"clusterName":"c","selector":{},"rollout":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"x"}}},"template":{"spec":{` + spec + `}}`},
		"a MachineHealthCheck":                  {kind: "MachineHealthCheck", spec: `"clusterName":"c","selector":{"matchLabels":{"a":"b"}}`},
		"a MachineHealthCheck that checks none": {kind: "MachineHealthCheck", spec: `"clusterName":"c","selector":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(spec string) string {
				return `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"` + c.kind + `","metadata":{"name":"a","namespace":"ns","labels":{"note":"cluster.x-k8s.io/v1beta2"}},"spec":{` + spec + `}}`
			}
			before := ""
			if c.before != "" {
				before = object(c.before)
			}
			for _, verb := range []string{"mutate", "validate"} {
				path := "/" + verb + "-cluster-x-k8s-io-v1beta2-" + strings.ToLower(c.kind)
				direct, became := answered(t, core, path, review(t, "cluster.x-k8s.io", c.kind, object(c.spec), before), object(c.spec))
				byShim, becamePrivate := answered(t, shim, "/admit/core"+path, review(t, private, c.kind, turned.Replace(object(c.spec)), turned.Replace(before)), turned.Replace(object(c.spec)))
				if diff := cmp.Diff(turned.Replace(became), becamePrivate); diff != "" {
					t.Errorf("%s: %s", verb, diff)
				}
				if direct.Patch != nil {
					patched++
				}
				direct.Patch, byShim.Patch = nil, nil
				allowed[direct.Allowed]++
				if direct.Result != nil && direct.Result.Details != nil {
					direct.Result.Details.Group = strings.Replace(direct.Result.Details.Group, "cluster.x-k8s.io", private, 1)
				}
				if diff := cmp.Diff(direct, byShim); diff != "" {
					t.Errorf("%s: %s", verb, diff)
				}
			}
		})
	}
	if allowed[true] < 10 || allowed[false] < 4 || patched < 4 {
		t.Errorf("%v were allowed, and %d objects changed", allowed, patched)
	}
}
