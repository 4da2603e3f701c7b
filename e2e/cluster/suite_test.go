package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

const binaries = "../../bin/controlplane"

// parentVariable makes this test binary play the parent that gets killed.
const parentVariable = "CAPSTAN_TEST_PARENT"

var sharedCluster = sync.OnceValues(func() (*cluster.Cluster, error) {
	return cluster.Start(context.Background(), cluster.Options{Binaries: binaries, CRDs: crds.All(), ServiceCA: true})
})

func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" {
		beParent()
	}
	code := m.Run()
	if c, err := sharedCluster(); err == nil {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func beParent() {
	c, err := cluster.Start(context.Background(), cluster.Options{Binaries: binaries, Dir: os.Getenv(parentVariable)})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started in", c.Dir())
	select {}
}

// shared returns the cluster of all tests that neither break it nor look at
// what others left there.
func shared(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := sharedCluster()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// start returns a cluster of the test's own.
func start(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	options.Binaries = binaries
	c, err := cluster.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func clientOf(t *testing.T, c *cluster.Cluster) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// deploy creates a Deployment of one pod in namespace default.
func deploy(t *testing.T, client kubernetes.Interface, name string, labels map[string]string) {
	t.Helper()
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "manager"}}},
			},
		},
	}
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// available waits until a Deployment of namespace default has this many
// available replicas.
func available(t *testing.T, client kubernetes.Interface, name string, replicas int32) {
	t.Helper()
	eventually(t, fmt.Sprintf("Deployment %s has %d available replicas", name, replicas), func(ctx context.Context) bool {
		seen, err := client.AppsV1().Deployments("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && seen.Status.ObservedGeneration > 0 && seen.Status.AvailableReplicas == replicas
	})
}

// firstPod waits for a pod with the labels in namespace default that satisfies
// the condition, and returns it.
func firstPod(t *testing.T, client kubernetes.Interface, selector, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, fmt.Sprintf("a pod with %s is %s", selector, what), func(ctx context.Context) bool {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false
		}
		for i := range pods.Items {
			if is(&pods.Items[i]) {
				found = &pods.Items[i]
				return true
			}
		}
		return false
	})
	return found
}

func eventually(t *testing.T, what string, is func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return is(once), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// processesIn is every process whose working folder is dir.
func processesIn(dir string) []int {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		panic(err)
	}
	var pids []int
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && (cwd == dir || cwd == dir+" (deleted)") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
