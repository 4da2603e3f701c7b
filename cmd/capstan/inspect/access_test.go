package inspect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
)

// write makes a file of a test's own.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	return write(t, "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: '"+server+"'}}]\n"+
		"contexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n")
}

func TestAccess_says_what_is_wrong_and_what_to_do_next(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	fine := kubeconfig(t, "http://127.0.0.1:1")
	nowhere, neither := filepath.Join(t.TempDir(), "nowhere"), filepath.Join(t.TempDir(), "neither")
	for name, row := range map[string]struct {
		env    string
		access Access
		says   string
		next   string
	}{
		"nothing at all":     {"", Access{}, "no cluster is named", "log in"},
		"KUBECONFIG of none": {nowhere + ":" + neither, Access{}, "none of the files in KUBECONFIG exists: " + nowhere + ":" + neither, "name one"},
		"a file of none":     {fine, Access{Kubeconfig: nowhere}, "the kubeconfig " + nowhere + " does not exist", "--kubeconfig"},
		"a context of none":  {fine, Access{Context: "b"}, `no context "b"`, "get-contexts"},
		"no YAML":            {"", Access{Kubeconfig: write(t, "\t")}, "the kubeconfig cannot be used", "repair it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", row.env)
			_, err := row.access.Reader()
			var told *Error
			if !errors.As(err, &told) || !strings.Contains(told.What, row.says) || !strings.Contains(told.Next, row.next) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Setenv("KUBECONFIG", fine)
	if _, err := (&Access{Context: "a"}).Reader(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestLook_says_what_a_cluster_answers_and_what_to_do_next(t *testing.T) {
	status := func(code, reason, details string) string {
		return `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"it is so","reason":"` + reason + `","code":` + code + `,"details":` + details + `}`
	}
	for name, row := range map[string]struct {
		code int
		body string
		says string
		next string
	}{
		"not logged in":   {401, status("401", "Unauthorized", "{}"), "does not accept the credentials", "log in again"},
		"not allowed":     {403, status("403", "Forbidden", "{}"), "not allowed to get ClusterAPI cluster: it is so", "ask for the right to get it"},
		"kind not served": {404, "404 page not found\n", "does not know the kind of ClusterAPI cluster", "no OpenShift cluster"},
		"broken":          {500, status("500", "InternalError", "{}"), "asking to get ClusterAPI cluster: it is so", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(row.code)
				_, _ = w.Write([]byte(row.body))
			}))
			defer server.Close()
			look(t, Access{Kubeconfig: kubeconfig(t, server.URL)}, row.says, row.next)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		look(t, Access{Kubeconfig: kubeconfig(t, "http://127.0.0.1:1")}, "http://127.0.0.1:1 does not answer: connection refused", "check that it runs")
	})
	t.Run("too slow", func(t *testing.T) {
		release := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		defer server.Close()
		defer close(release)
		look(t, Access{Kubeconfig: kubeconfig(t, server.URL), Timeout: 20 * time.Millisecond}, "does not answer: ", "check that it runs")
	})
}

func look(t *testing.T, access Access, says, next string) {
	t.Helper()
	reader, err := access.Reader()
	if err != nil {
		t.Fatal(err)
	}
	_, err = clusterapi.Part.View.Look(t.Context(), reader.Get, "")
	var told *Error
	if !errors.As(err, &told) || !strings.Contains(told.What, says) || !strings.Contains(told.Next, next) {
		t.Errorf("got %v", err)
	}
}
