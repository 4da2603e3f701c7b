package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// answers are what an API server has, by path.
type answers map[string]string

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	text, has := a[r.URL.Path]
	if !has {
		w.WriteHeader(http.StatusForbidden)
		text = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"not for you"}`
	}
	fmt.Fprint(w, text)
}

const opsConfigMaps = "/api/v1/namespaces/ops/configmaps/"

// aCluster has two revisions, of which one is being rolled out, and objects that need a look.
func aCluster(t *testing.T) answers {
	t.Helper()
	return answers{
		"/apis/operator.openshift.io/v1alpha1/clusterapis/cluster": `{"apiVersion":"operator.openshift.io/v1alpha1","kind":"ClusterAPI","metadata":{"name":"cluster"},
			"status":{"currentRevision":"one","desiredRevision":"two","revisions":[{"name":"one","revision":1},{"name":"two","revision":2}]}}`,
		"/apis/config.openshift.io/v1/clusteroperators/cluster-api": `{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"cluster-api"},
			"status":{"extension":{"clusterapi":{"state":"Applying","since":"2026-01-31T12:00:00Z","progress":{"done":0,"since":"2026-01-31T12:00:00Z"},"entry":{"done":0}},
			"clusterapiDetail":{"leftAlone":[{"object":"Deployment.apps a/b"}],"collisions":[
			{"object":"ConfigMap a/taken","holder":"helm","adoptable":true},{"object":"ConfigMap a/other","holder":"a controller"}],
			"retained":[{"object":"CustomResourceDefinition foos.test","group":"apiextensions.k8s.io","why":"holds 1 instance"},{"object":"Namespace b"}]}}}}`,
		opsConfigMaps + "capstan-inventory-1": inventoryMap(t, 1, `{"version":"v1","kind":"Namespace","name":"a","component":"c","wave":1}`),
		opsConfigMaps + "capstan-inventory-2": inventoryMap(t, 2,
			`{"group":"apps","version":"v1","kind":"Deployment","namespace":"a","name":"b","component":"c","wave":2},{"version":"v1","kind":"Namespace","name":"a","component":"c","wave":1}`),
		opsConfigMaps + "capstan-history": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"capstan-history"},"data":{"history.json":
			"{\"format\":1,\"began\":\"2026-01-31T12:00:00Z\",\"revisions\":[{\"number\":1,\"name\":\"one\",\"release\":\"4.22.0\",\"contentID\":\"a\",\"components\":[],\"result\":\"Installed\"},{\"number\":2,\"name\":\"two\",\"release\":\"4.22.1\",\"contentID\":\"b\",\"components\":[],\"result\":\"Applying\"}]}"}}`,
		"/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements": `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"my-widgets"}}]}`,
	}
}

// inventoryMap is what an inventory is stored in.
func inventoryMap(t *testing.T, number int, entries string) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprintf(zip, `{"revision":"r","number":%d,"contentID":"a","entries":[%s]}`, number, entries)
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"capstan-inventory-%d","namespace":"ops"},"binaryData":{"inventory.json.gz":%q}}`,
		number, base64.StdEncoding.EncodeToString(packed.Bytes()))
}

// kubeconfig names a server in contexts prod and test, of which test is the current one.
func kubeconfig(t *testing.T, handler http.Handler) string {
	t.Helper()
	serving := httptest.NewServer(handler)
	t.Cleanup(serving.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: test, clusters: [{name: c, cluster: {server: %q}}], contexts: "+
		"[{name: test, context: {cluster: c}}, {name: prod, context: {cluster: c}}]}", serving.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// completed are the names that a shell is given for a line whose last word is not at its end, without what they are.
func completed(t *testing.T, line ...string) ([]string, string) {
	t.Helper()
	text, err := called(t, slices.Concat([]string{"capstan", cobra.ShellCompRequestCmd}, line)...)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var names []string
	for _, word := range all[:len(all)-1] {
		name, _, _ := strings.Cut(word, "\t")
		names = append(names, name)
	}
	return names, all[len(all)-1]
}

// noFiles is what tells a shell that what is typed is no file, and folders that it is a folder.
const (
	noFiles = ":4"
	folders = ":16"
)

func TestComplete_names_what_the_cluster_has(t *testing.T) {
	config := kubeconfig(t, aCluster(t))
	for _, row := range []struct {
		line string
		want []string
	}{
		{"pause ", []string{"Deployment.apps/a/b", "Namespace/a"}},
		{"pause Namespace/a ", []string{"Deployment.apps/a/b"}},
		{"pause De", []string{"Deployment.apps/a/b"}},
		{"resume ", []string{"Deployment.apps/a/b"}},
		{"adopt ", []string{"ConfigMap/a/taken"}},
		{"adopt ConfigMap/a/taken ", nil},
		{"consent ", []string{"CustomResourceDefinition.apiextensions.k8s.io/foos.test", "Namespace/b"}},
		{"consent Namespace/b ", []string{"CustomResourceDefinition.apiextensions.k8s.io/foos.test"}},
		{"history ", []string{"2", "1"}},
		{"rollback ", []string{"1"}},
		{"rollback 1 ", nil},
		{"status --context ", []string{"prod", "test"}},
		{"status --context p", []string{"prod"}},
		{"status --machine compatibility --key ", []string{"my-widgets"}},
		{"status --key ", nil},
	} {
		words := strings.Split(row.line, " ")
		line := slices.Concat([]string{words[0], "--kubeconfig", config}, words[1:])
		if words[0] != "status" {
			line = slices.Insert(line, 1, "--operator-namespace", "ops")
		}
		if got, end := completed(t, line...); !slices.Equal(got, row.want) || end != noFiles {
			t.Errorf("%q: %q and %s, want %q", row.line, got, end, row.want)
		}
	}
}

func TestComplete_names_what_needs_no_cluster(t *testing.T) {
	for _, row := range []struct {
		line, first, end string
	}{
		{"plan -o ", "diff", noFiles},
		{"render --output=", "json", noFiles},
		{"status -o t", "text", noFiles},
		{"status --machine ", "clusterapi", noFiles},
		{"explain --machine boot", "bootgate", noFiles},
		{"plan --platform V", "VSphere", noFiles},
		{"pause --for ", "1h", noFiles},
		{"pause --reason ", "", noFiles},
		{"status ", "boot-images", noFiles},
		{"plan --dir ", "", folders},
		{"support -o ", "", ":0"},
		{"replay ", "", ":0"},
		{"unpin ", "", noFiles},
		{"his", "history", noFiles},
	} {
		got, end := completed(t, strings.Split(row.line, " ")...)
		if end != row.end || row.first == "" && len(got) > 0 || row.first != "" && (len(got) == 0 || strings.TrimPrefix(got[0], "--output=") != row.first) {
			t.Errorf("%q: %q and %s, want %q first and %s", row.line, got, end, row.first, row.end)
		}
	}
}

func TestComplete_is_silent_where_nothing_can_be_told(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for name, config := range map[string]string{"no kubeconfig": nowhere, "no right": kubeconfig(t, answers{})} {
		for _, line := range [][]string{{"pause", ""}, {"resume", ""}, {"adopt", ""}, {"consent", ""}, {"history", ""}, {"rollback", ""}, {"explain", "boot-images", ""}, {"status", "boot-images", ""}, {"status", "--machine", "compatibility", "--key", ""}} {
			line = slices.Insert(line, len(line)-1, "--kubeconfig", config)
			if line[len(line)-4] == "--key" { // its value is what is completed
				line = []string{"status", "--kubeconfig", config, "--machine", "compatibility", "--key", ""}
			}
			if got, end := completed(t, line...); len(got) > 0 || end != noFiles {
				t.Errorf("%s: %q completes %q and %s", name, line, got, end)
			}
		}
	}
}

func TestComplete_names_nothing_of_which_a_shell_makes_something(t *testing.T) {
	bad := []string{"ConfigMap/x;CMD", "a$(CMD)", "a`CMD`", "a b", "a'b", "a|CMD", "a&CMD", "a>b", "a{b,c}", "*", "~a", "a\nb", `a\b`, "-a", "--as=b", ""}
	all := append(slices.Clone(bad), "ConfigMap/a/b\twhat it is; CMD")
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	got, _ := begun(fixed(all...), cmd, "", nil)
	if want := []string{"ConfigMap/a/b\twhat it is; CMD"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	of := aCluster(t)
	const operator = "/apis/config.openshift.io/v1/clusteroperators/cluster-api"
	of[operator] = strings.Replace(of[operator], `{"object":"Deployment.apps a/b"}`, `{"object":"Deployment.apps a/b"},{"object":"ConfigMap x;CMD"},{"object":"ConfigMap $(CMD)"}`, 1)
	if got, _ := completed(t, "resume", "--kubeconfig", kubeconfig(t, of), ""); !slices.Equal(got, []string{"Deployment.apps/a/b"}) {
		t.Errorf("of a cluster: %q", got)
	}
}

func TestComplete_waits_for_no_credential_plugin_and_leaves_it_no_input(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig") // while it is there, the plugin goes on
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], "+
		"contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "+
		"interactiveMode: IfAvailable, command: sh, args: ['-c', 'while [ -e %s ]; do sleep 0.1; done']}}}]}", file)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if got, _ := completed(t, "history", "--kubeconfig", file, ""); len(got) > 0 {
		t.Errorf("it completes %q", got)
	}
	if took := time.Since(begun); took < completing || took > 3*completing {
		t.Errorf("a shell is held up for %s", took)
	}
	cmd := &cobra.Command{}
	cmd.Flags().String("kubeconfig", file, "")
	config, err := accessOf(cmd).Config()
	if err != nil || !config.ExecProvider.StdinUnavailable {
		t.Errorf("the plugin is given standard input (%v)", err)
	}
}

func TestComplete_gives_up_soon_when_nobody_answers(t *testing.T) {
	hanging := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	begun := time.Now()
	if got, _ := completed(t, "history", "--kubeconfig", kubeconfig(t, hanging), ""); len(got) > 0 {
		t.Errorf("it completes %q", got)
	}
	if took := time.Since(begun); took > 3*completing {
		t.Errorf("a shell is held up for %s", took)
	}
}

func TestComplete_knows_every_command_that_it_names(t *testing.T) {
	var paths, flags []string
	visit(root(), func(cmd *cobra.Command) {
		paths = append(paths, cmd.CommandPath())
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	})
	for path := range argumentNames {
		if !slices.Contains(paths, path) {
			t.Errorf("there is no command %q", path)
		}
	}
	for _, path := range slices.Concat(takeFiles, repeated) {
		if !slices.Contains(paths, path) {
			t.Errorf("there is no command %q", path)
		}
	}
	for name := range flagNames {
		if !slices.Contains(flags, name) {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// visit goes to a command and all below it.
func visit(cmd *cobra.Command, each func(*cobra.Command)) {
	each(cmd)
	for _, child := range cmd.Commands() {
		visit(child, each)
	}
}
