package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/controllers"
)

const requirementsPath = "/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements"

// requirement is one that is Unmet, as an API server has it.
func requirement(name string) map[string]any {
	record := `{"state":"Unmet","since":"2026-01-01T12:00:00Z","lastEvent":"RequirementUnmet","cameFrom":"Arming","progress":{"done":3,"since":"2026-01-01T12:00:00Z"},
		"deadline":{"at":"2026-01-01T12:18:12Z","on":"CheckerGone","to":"Open"},
		"transitions":[{"from":"Arming","event":"RequirementUnmet","to":"Unmet","at":"2026-01-01T12:00:00Z","seconds":2}]}`
	condition := func(kind, status, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T12:00:00Z"}
	}
	return map[string]any{
		"apiVersion": "apiextensions.openshift.io/v1alpha1", "kind": "CompatibilityRequirement", "metadata": map[string]any{"name": name},
		"status": map[string]any{"crdName": "widgets.example.com", "conditions": []any{
			condition("State", "True", "Unmet", "Unmet: v1: spec.color is missing; since 2026-01-01 12:00:00Z"), condition("Record", "True", "Written", record),
			condition("Compatible", "False", "RequirementsNotMet", "v1: spec.color is missing"),
		}},
	}
}

// serving is an API server that has requirements of these names; it refuses to list them where it does not serve lists.
func serving(t *testing.T, lists bool, names ...string) Access {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := strings.TrimPrefix(r.URL.Path, requirementsPath+"/")
		refuse := func(code int, reason string) {
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(map[string]any{
				"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "it is so", "details": map[string]any{"name": name},
			})
		}
		switch {
		case r.URL.Path != requirementsPath && slices.Contains(names, name):
			_ = json.NewEncoder(w).Encode(requirement(name))
		case r.URL.Path != requirementsPath:
			refuse(http.StatusNotFound, "NotFound")
		case !lists:
			refuse(http.StatusForbidden, "Forbidden")
		default:
			limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
			items, more := []any{}, map[string]any{}
			for _, name := range names[:min(limit, len(names))] {
				items = append(items, map[string]any{"metadata": map[string]any{"name": name}})
			}
			if others := len(names) - len(items); others > 0 {
				more = map[string]any{"continue": "x", "remainingItemCount": others}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": more, "items": items})
		}
	}))
	t.Cleanup(server.Close)
	return Access{Kubeconfig: kubeconfig(t, server.URL)}
}

func TestTarget_refuses_a_key_of_nothing_and_says_which_there_are(t *testing.T) {
	for name, row := range map[string]struct {
		machine, key string
		lists        bool
		there        []string
		says, next   string
	}{
		"no key":             {"compatibility", "", true, []string{"a", "b"}, "--key is missing: machine compatibility has an instance for each CompatibilityRequirement", "name one with --key: a, b"},
		"no key, many":       {"compatibility", "", true, []string{"a", "b", "c", "d", "e", "f", "g"}, "--key is missing", "name one with --key: a, b, c, d, e, and 2 more"},
		"no key, none":       {"compatibility", "", true, nil, "there is none on this cluster", "create one, or leave out --machine and --key to look at clusterapi"},
		"no key, no list":    {"compatibility", "", false, []string{"a"}, "--key is missing", "kubectl get compatibilityrequirements"},
		"another key":        {"compatibility", "x", true, []string{"a"}, "CompatibilityRequirement x does not exist", "name one with --key: a"},
		"another key, none":  {"compatibility", "x", true, nil, "CompatibilityRequirement x does not exist, and there is none on this cluster", "create one"},
		"with a namespace":   {"compatibility", "n/a", true, []string{"a"}, `"n/a" cannot be the key of machine compatibility, which is the name of a CompatibilityRequirement, without a namespace`, "the name alone"},
		"of one instance":    {"clusterapi", "a", true, nil, `machine clusterapi has one instance only`, "leave out --key"},
		"of another machine": {"x", "a", true, nil, `there is no machine "x"`, "clusterapi, compatibility"},
	} {
		t.Run(name, func(t *testing.T) {
			target := Target{Access: serving(t, row.lists, row.there...), Views: controllers.Views(), Machine: row.machine, Key: row.key}
			_, err := target.Look(t.Context())
			var told *Error
			if !errors.As(err, &told) || !strings.Contains(told.What, row.says) || !strings.Contains(told.Next, row.next) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTarget_goes_on_when_what_it_looks_at_is_deleted(t *testing.T) {
	gone := false
	there := serving(t, true, "a")
	target := Target{Access: there, Views: controllers.Views(), Machine: "compatibility", Key: "a"}
	look, err := target.Looker()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		seen, err := look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if said := seen.Status.Line(); gone && !strings.Contains(said, "does not exist") || !gone && !strings.Contains(said, "spec.color is missing") {
			t.Errorf("gone is %v, and it says %q", gone, said)
		}
		gone, target.Key = true, "x"
	}
}

func TestExplain_is_about_the_instance_and_says_why_guards_are_silent(t *testing.T) {
	target := Target{Access: serving(t, true, "my-widgets"), Views: controllers.Views(), Machine: "compatibility", Key: "my-widgets"}
	seen, err := target.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	explanation, err := seen.Explain()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := explanation.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"CompatibilityRequirement my-widgets has been in Unmet since 2026-01-01 12:00:00Z (3m12s).\n", "has no room for what each guard answers",
		"      now   unless something changes, the move is made in 15m00s (2026-01-01 12:18:12Z)\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(text.String(), "This cluster") || strings.Contains(text.String(), "not told") || t.Failed() {
		t.Errorf("got\n%s", text.String())
	}
}
