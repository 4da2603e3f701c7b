package protobuf

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// pathsOf are paths under which the kinds of typedCases are read and written.
var pathsOf = map[string]string{
	" Secret":                             "/api/v1/namespaces/n/secrets/s",
	" Event":                              "/api/v1/namespaces/n/events/e",
	"events.k8s.io Event":                 "/apis/events.k8s.io/v1/namespaces/n/events/e",
	"autoscaling HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers/h",
	"apiextensions.k8s.io CustomResourceDefinition":                 "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c",
	"authorization.k8s.io SubjectAccessReview":                      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
	"authorization.k8s.io SelfSubjectAccessReview":                  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	"authorization.k8s.io SelfSubjectRulesReview":                   "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
	"admissionregistration.k8s.io ValidatingWebhookConfiguration":   "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c",
	"admissionregistration.k8s.io MutatingWebhookConfiguration":     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/c",
	"admissionregistration.k8s.io ValidatingAdmissionPolicy":        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p",
	"admissionregistration.k8s.io ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/p",
}

// groups are those of the table, of which strings are made that are translated or nearly so.
var groups = []string{
	rewrite.Standard, rewrite.Private, rewrite.Native, "infrastructure." + rewrite.Standard, "ipam." + rewrite.Private,
	"other." + rewrite.Standard, "x" + rewrite.Private, "apps", "",
}

func TestObject_says_what_the_same_object_in_JSON_says(t *testing.T) {
	for _, c := range typedCases() {
		path := pathsOf[c.kind.Group+" "+c.kind.Kind]
		if path == "" {
			continue
		}
		t.Run(c.kind.Group+" "+c.kind.Kind, func(t *testing.T) {
			method := http.MethodGet
			if c.kind.Group == authorizationv1.GroupName {
				method = http.MethodPost
			}
			request, err := rewrite.ParseRequest(method, &url.URL{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range int64(20) {
				object := filledWithGroups(seed, c)
				inProtobuf, err := Object(nil, encoded(t, c.kind, object), TextsOf(request, rewrite.ToClient))
				if err != nil {
					t.Fatal(err)
				}
				want := decoded(t, c, inProtobuf)
				text, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				inJSON, err := io.ReadAll(request.Answer(http.StatusOK, "application/json", bytes.NewReader(text)))
				if err != nil {
					t.Fatal(err)
				}
				got := c.empty()
				if err := json.Unmarshal(inJSON, got); err != nil {
					t.Fatal(err)
				}
				// What JSON makes of empty lists is not the matter.
				if one, other := encoded(t, c.kind, got), encoded(t, c.kind, throughJSON(t, c, want)); !bytes.Equal(one, other) {
					t.Fatalf("seed %d: %s", seed, cmp.Diff(string(other), string(one)))
				}
			}
		})
	}
}

func filledWithGroups(seed int64, c typedCase) runtime.Object {
	object := c.empty()
	randfill.NewWithSeed(seed).NilChance(0.1).NumElements(1, 3).MaxDepth(12).Funcs(
		func(text *string, c randfill.Continue) {
			group := groups[c.Intn(len(groups))]
			*text = []string{group, group + "/v1", "things." + group, group + "/", "plain", "apiextensions.k8s.io", "customresourcedefinitions"}[c.Intn(7)]
		},
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte("{}") },
		func(raw *metav1.FieldsV1, _ randfill.Continue) { raw.SetRawString("{}") },
		func(*metav1.Time, randfill.Continue) {},
		func(*metav1.MicroTime, randfill.Continue) {},
		func(*apiextensionsv1.JSONSchemaProps, randfill.Continue) {},
	).Fill(object)
	return object
}

func decoded(t *testing.T, c typedCase, envelope []byte) runtime.Object {
	t.Helper()
	var of runtime.Unknown
	if err := of.Unmarshal(envelope[len(magic):]); err != nil {
		t.Fatal(err)
	}
	object := c.empty()
	if err := object.(interface{ Unmarshal([]byte) error }).Unmarshal(of.Raw); err != nil {
		t.Fatal(err)
	}
	return object
}

func throughJSON(t *testing.T, c typedCase, object runtime.Object) runtime.Object {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	again := c.empty()
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	return again
}
