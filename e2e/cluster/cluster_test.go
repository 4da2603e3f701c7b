package cluster_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

func TestAClusterIsReadyInFifteenSecondsAndLeavesNothingBehind(t *testing.T) {
	before := time.Now()
	c, err := cluster.Start(t.Context(), cluster.Options{Binaries: binaries, CRDs: crds.All()})
	if err != nil {
		t.Fatal(err)
	}
	ready := time.Since(before)
	t.Logf("ready after %s", ready)
	if ready > 15*time.Second {
		t.Errorf("ready after %s, want 15s at most", ready)
	}
	if got := len(processesIn(c.Dir())); got != 5 {
		t.Errorf("%d processes run in %s, want 5", got, c.Dir())
	}
	before = time.Now()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %s", time.Since(before))
	if left := processesIn(c.Dir()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("folder %s is left: %v", c.Dir(), err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestAnAPIServerSaysWhichReleaseItIs(t *testing.T) {
	c := shared(t)
	module, err := exec.CommandContext(t.Context(), "go", "list", "-C", "../controlplane", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	version, err := clientOf(t, c).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(module)); version.GitVersion != want {
		t.Errorf("the server says %s, its module is %s: the build lacks its -ldflags", version.GitVersion, want)
	}
}

func TestEveryComponentComesBack(t *testing.T) {
	c := start(t, cluster.Options{})
	client := clientOf(t, c)
	deploy(t, client, "before", map[string]string{"app": "before"})
	available(t, client, "before", 1)
	uid := namespaceUID(t, client)
	for _, component := range []cluster.Component{cluster.APIServer, cluster.Etcd, cluster.ControllerManager, cluster.Scheduler, cluster.Kwok} {
		t.Run(string(component)+" when it was killed", func(t *testing.T) {
			c.Kill(component)
			if got := len(processesIn(c.Dir())); got != 4 {
				t.Errorf("%d processes run after the kill, want 4", got)
			}
			before := time.Now()
			if err := c.Restart(t.Context(), component); err != nil {
				t.Fatal(err)
			}
			t.Logf("works again after %s", time.Since(before))
			available(t, client, "before", 1)
			if got := namespaceUID(t, client); got != uid {
				t.Errorf("namespace default has UID %s, had %s: the data is gone", got, uid)
			}
		})
	}
	t.Run("kube-apiserver when it still runs", func(t *testing.T) {
		if err := c.Restart(t.Context(), cluster.APIServer); err != nil {
			t.Fatal(err)
		}
		if got := len(processesIn(c.Dir())); got != 5 {
			t.Errorf("%d processes run, want 5", got)
		}
	})
	t.Run("nothing answers while kube-apiserver is gone", func(t *testing.T) {
		c.Kill(cluster.APIServer)
		if _, err := client.Discovery().ServerVersion(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v, want connection refused", err)
		}
	})
}

func TestStopWorksWhenEtcdIsAlreadyGone(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{Binaries: binaries})
	if err != nil {
		t.Fatal(err)
	}
	c.Kill(cluster.Etcd)
	before := time.Now()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %s", time.Since(before))
	if left := processesIn(c.Dir()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestTwoClustersRunSideBySide(t *testing.T) {
	one, other := shared(t), start(t, cluster.Options{})
	if one.Config().Host == other.Config().Host || namespaceUID(t, clientOf(t, one)) == namespaceUID(t, clientOf(t, other)) {
		t.Error("both are one cluster")
	}
}

func TestNoProcessOutlivesAParentThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+dir)
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "started in ") {
		rest, _ := io.ReadAll(output)
		t.Fatalf("the parent said %q %q: %v", line, rest, err)
	}
	if got := len(processesIn(dir)); got != 5 {
		t.Fatalf("%d processes run in %s before the kill, want 5", got, dir)
	}
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Fatal("the parent ended well although it was killed")
	}
	eventually(t, "no process is left", func(context.Context) bool { return len(processesIn(dir)) == 0 })
}

func TestMissingBinariesNameTheTargetThatBuildsThem(t *testing.T) {
	_, err := cluster.Start(t.Context(), cluster.Options{Binaries: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "run make controlplane") {
		t.Errorf("got %v, want the make target", err)
	}
}

func TestAStartThatFailsSaysWhatTheLogsSayAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	programs := t.TempDir()
	for _, name := range []string{"controlplane", "kwok"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\necho $1: the disk is full\nexit 3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, err := cluster.Start(t.Context(), cluster.Options{Binaries: programs})
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{"ended by itself", "exit status 3", ": the disk is full"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

func TestDefinitionsAreServedAndMayBeInstalledAgain(t *testing.T) {
	c := shared(t)
	if err := crds.Install(t.Context(), c.Config()); err != nil {
		t.Fatal(err)
	}
	client := clientOf(t, c)
	for _, crd := range crds.All() {
		for _, version := range crd.Spec.Versions {
			path := "/apis/" + crd.Spec.Group + "/" + version.Name + "/" + crd.Spec.Names.Plural
			if err := client.RESTClient().Get().AbsPath(path).Do(t.Context()).Error(); version.Served && err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestAUserHasExactlyTheRightsOfRBAC(t *testing.T) {
	c := shared(t)
	path, err := c.KubeconfigFor("system:serviceaccount:default:nobody")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	nobody, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing Secrets: got %v, want forbidden", err)
	}
}

func namespaceUID(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(namespace.UID)
}
