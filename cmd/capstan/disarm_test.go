package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/disarm"
)

// aChecker is an API server with one configuration of the checker, which was disarmed for a time before. It keeps what is written.
type aChecker struct {
	until   time.Time
	ahead   time.Duration // its clock, of this machine's
	fails   bool          // to list those that refuse
	mu      sync.Mutex
	patches []string
}

func (a *aChecker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().Add(a.ahead).UTC().Format(http.TimeFormat))
	if a.fails && strings.Contains(r.URL.Path, "validating") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	one := `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "capstan-crds", "resourceVersion": "7",
		"labels": {"` + disarm.Label + `": "true"}, "annotations": {"` + disarm.Until + `": "` + a.until.UTC().Format(time.RFC3339) + `"}}, "webhooks": [{"name": "deny-0.crds.capstan.openshift.io", "failurePolicy": "Fail"}]}`
	kind, items := "MutatingWebhookConfigurationList", ""
	if strings.Contains(r.URL.Path, "validating") {
		kind, items = "ValidatingWebhookConfigurationList", one
	}
	if r.Method == http.MethodPatch {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.patches = append(a.patches, string(body))
		_, _ = io.WriteString(w, one)
		return
	}
	_, _ = io.WriteString(w, `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "`+kind+`", "metadata": {}, "items": [`+items+`]}`)
}

func TestDisarm_says_nothing_of_what_it_could_not_see(t *testing.T) {
	out := &strings.Builder{}
	cmd := disarmCommand()
	cmd.SetOut(out)
	cmd.SetArgs([]string{"--yes", "--kubeconfig", kubeconfig(t, &aChecker{fails: true})})
	if err := cmd.ExecuteContext(t.Context()); err == nil || strings.Contains(out.String(), "Nothing to do") {
		t.Errorf("the error is %v, and it says %s", err, out)
	}
}

func TestDisarm_holds_arming_off_only_for_as_long_as_it_is_asked_to(t *testing.T) {
	const (
		ignores = `"add","path":"/webhooks/0/failurePolicy","value":"Ignore"`
		mark    = `"path":"/metadata/annotations/capstan.openshift.io~1disarmed-until"`
		hint    = "hint: where it is reached by one API server and not by another: capstan disarm --yes --for 15m"
		ends    = "to end that before: capstan disarm --yes --for=0"
	)
	for name, c := range map[string]struct {
		arguments       []string
		before          time.Duration // until when it was disarmed
		patch, says     string
		never, neverSay string
	}{
		"by default":                   {before: -time.Hour, patch: ignores, says: hint, never: mark, neverSay: "until"},
		"for a time":                   {before: -time.Hour, arguments: []string{"--for=15m"}, patch: `"add",` + mark, says: ends, never: `"remove"`, neverSay: "hint"},
		"without the end of another's": {before: time.Hour, patch: ignores, says: ends, never: mark, neverSay: "hint"},
		"with its end":                 {before: time.Hour, arguments: []string{"--for=0"}, patch: `"remove",` + mark, says: hint, never: ignores, neverSay: "until"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &aChecker{until: time.Now().Add(c.before)}
			out := &strings.Builder{}
			cmd := disarmCommand()
			cmd.SetOut(out)
			cmd.SetArgs(append(c.arguments, "--yes", "--kubeconfig", kubeconfig(t, server)))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(server.patches, ""); !strings.Contains(got, c.patch) || strings.Contains(got, c.never) {
				t.Errorf("it has written %s", got)
			}
			if got := out.String(); !strings.Contains(got, c.says) || strings.Contains(got, c.neverSay) || !strings.Contains(got, "sets them back to Fail by itself") {
				t.Errorf("it says %s", got)
			}
		})
	}
}

func TestDisarm_writes_nothing_before_somebody_has_agreed(t *testing.T) {
	for name, c := range map[string]struct {
		argument, says string
		wrong          bool
	}{
		"nobody is asked":   {"--for=15m", "is to set none of them back before", true},
		"it is only looked": {"--dry-run", "Nothing was changed. To do it: capstan disarm --yes", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := &aChecker{}
			out := &strings.Builder{}
			cmd := disarmCommand()
			cmd.SetOut(out)
			cmd.SetIn(strings.NewReader("y\n"))
			cmd.SetArgs([]string{c.argument, "--kubeconfig", kubeconfig(t, server)})
			if err := cmd.ExecuteContext(t.Context()); (err != nil) != c.wrong {
				t.Errorf("the error is %v", err)
			}
			if got := out.String(); !strings.Contains(got, "webhook deny-0.crds.capstan.openshift.io, is to be set to Ignore") || !strings.Contains(got, c.says) {
				t.Errorf("it says %s", got)
			}
			if len(server.patches) > 0 {
				t.Errorf("it has written %s", server.patches)
			}
		})
	}
}

// The operator goes by the cluster's time, so that a workstation whose clock is behind must not end a hold before it begins.
func TestDisarm_holds_by_the_clock_of_the_API_server(t *testing.T) {
	server := &aChecker{ahead: 100 * time.Hour}
	cmd := disarmCommand()
	cmd.SetOut(io.Discard)
	cmd.SetArgs([]string{"--for=15m", "--yes", "--kubeconfig", kubeconfig(t, server)})
	before := time.Now()
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, patch := range server.patches {
		var operations []struct{ Path, Value string }
		if err := json.Unmarshal([]byte(patch), &operations); err != nil {
			t.Fatal(err)
		}
		for _, one := range operations {
			if !strings.HasSuffix(one.Path, "disarmed-until") {
				continue
			}
			until, err := time.Parse(time.RFC3339, one.Value)
			if from := before.Add(server.ahead + 15*time.Minute); err != nil || until.Before(from.Add(-2*time.Second)) || until.After(from.Add(time.Minute)) {
				t.Errorf("it holds until %s: %v", one.Value, err)
			}
			return
		}
	}
	t.Errorf("it has written %s", server.patches)
}
