package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// aHostedCluster is an API server with one HostedCluster, whose operator pauses what is asked of it. It keeps what is written.
type aHostedCluster struct {
	mu      sync.Mutex
	patches []string
	paused  bool
}

func (a *aHostedCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPatch {
		body, _ := io.ReadAll(r.Body)
		a.patches = append(a.patches, r.URL.Query().Get("dryRun")+string(body))
		a.paused = a.paused || r.URL.Query().Get("dryRun") == ""
	}
	marks, says := "", "HostedCluster clusters/b comes first\\u001b[31m"
	if a.paused {
		marks, says = `, "capstan.openshift.io/private-capi-paused": "true"`, "HostedCluster clusters/a has annotation capstan.openshift.io/private-capi-paused"
	}
	one := `{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster", "metadata": {"namespace": "clusters", "name": "a", "uid": "u", "resourceVersion": "7",
		"annotations": {"hypershift.openshift.io/scope": "legacy"` + marks + `}}, "status": {"conditions": [{"type": "PrivateCAPIMigrated", "status": "False",
		"reason": "Eligible", "message": "Eligible: ` + says + `", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	switch {
	case strings.HasSuffix(r.URL.Path, "/hostedclusters"):
		_, _ = io.WriteString(w, `{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedClusterList", "metadata": {}, "items": [`+one+`]}`)
	case strings.HasSuffix(r.URL.Path, "/hostedclusters/a"):
		_, _ = io.WriteString(w, one)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound", "details": {"name": "x"}}`)
	}
}

// privately runs a command of the family.
func privately(t *testing.T, server http.Handler, arguments ...string) (string, error) {
	t.Helper()
	out := &strings.Builder{}
	root := &cobra.Command{Use: "capstan", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(privateCAPICommand())
	root.SetOut(out)
	root.SetArgs(append([]string{"private-capi"}, append(arguments, "--kubeconfig", kubeconfig(t, server))...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPrivateCAPI_writes_only_what_somebody_has_agreed_to(t *testing.T) {
	const patch = `{"metadata":{"annotations":{"capstan.openshift.io/private-capi-paused":"true"},"resourceVersion":"7"}}`
	for name, c := range map[string]struct {
		arguments     []string
		writes, says  string
		wrong, silent bool
	}{
		"nobody is asked":        {[]string{"pause", "clusters/a"}, "", "Have no move of HostedCluster clusters/a begin", true, false},
		"it is tried":            {[]string{"pause", "clusters/a", "--dry-run"}, "All" + patch, "To do it, leave out --dry-run", false, false},
		"it is done":             {[]string{"pause", "clusters/a", "--yes"}, patch, "To take it back: capstan private-capi resume clusters/a", false, false},
		"it is done, for a tool": {[]string{"pause", "clusters/a", "--yes", "-o", "json"}, patch, `"confirmed": true`, false, true},
		"a tool does not say":    {[]string{"pause", "clusters/a", "-o", "json"}, "", "", true, true},
		"there is nothing to do": {[]string{"resume", "clusters/a", "--yes"}, "", "Nothing to do: HostedCluster clusters/a is not paused", false, false},
		"it is refused":          {[]string{"retry", "clusters/a", "--yes"}, "", "", true, true},
		"it is no name":          {[]string{"pause", "clusters", "--yes"}, "", "", true, true},
		"nothing is enabled":     {[]string{"pause", "--yes"}, "", "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := &aHostedCluster{}
			text, err := privately(t, server, c.arguments...)
			if (err != nil) != c.wrong || !strings.Contains(text, c.says) || c.silent && strings.Contains(text, "Have no move") && !strings.HasPrefix(text, "{") {
				t.Errorf("%v:\n%s", err, text)
			}
			if got := strings.Join(server.patches, ""); got != c.writes {
				t.Errorf("it has written %s", got)
			}
		})
	}
}

// silent is an operator that says nothing new.
type silent struct{ aHostedCluster }

func (s *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.aHostedCluster.ServeHTTP(w, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = false
}

func TestPrivateCAPI_says_what_takes_back_what_nobody_has_confirmed(t *testing.T) {
	text, err := privately(t, &silent{}, "pause", "clusters/a", "--yes", "--timeout", "1ms")
	if err == nil || !strings.Contains(err.Error(), "no operator runs") || !strings.Contains(text, "To take it back: capstan private-capi resume clusters/a") {
		t.Errorf("%v:\n%s", err, text)
	}
	if text, err = privately(t, &silent{}, "pause", "clusters/a", "--yes", "--timeout", "1ms", "-o", "json"); err == nil || !strings.Contains(text, `"confirmed": false`) {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestPrivateCAPI_tells_how_hosted_clusters_stand(t *testing.T) {
	for name, c := range map[string]struct{ arguments, says string }{
		"all":            {"status", "1 in all: 1 Eligible"},
		"one":            {"status clusters/a", "Whose:          old operator"},
		"for a tool":     {"status -o json", `"owner": "legacy"`},
		"why":            {"explain clusters/a", "Next: nothing: it is moved when its turn comes"},
		"why for a tool": {"explain clusters/a -o json", `"next": "nothing: it is moved when its turn comes"`},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := privately(t, &aHostedCluster{}, strings.Fields(c.arguments)...)
			if err != nil || !strings.Contains(text, c.says) || strings.Contains(text, "\x1b") {
				t.Errorf("%v:\n%q", err, text)
			}
		})
	}
}

func TestPrivateCAPI_makes_what_it_finds_the_exit_code(t *testing.T) {
	if _, err := privately(t, &aHostedCluster{}, "status", "--exit-code"); err == nil {
		t.Error("one that waits is no success")
	}
}
