package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

func TestEveryRequestIsCountedOnce(t *testing.T) {
	c := shared(t)
	cfg := c.Config()
	cfg.UserAgent = "capstan"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	from, err := c.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	configMaps := client.CoreV1().ConfigMaps("default")
	watchCtx, endWatch := context.WithCancel(t.Context())
	watch, err := configMaps.Watch(watchCtx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counted"}}
	for _, options := range []metav1.CreateOptions{{DryRun: []string{metav1.DryRunAll}}, {}} {
		if _, err := configMaps.Create(t.Context(), object, options); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := configMaps.Get(t.Context(), "absent", metav1.GetOptions{}); err == nil {
		t.Fatal("an absent ConfigMap was found")
	}

	whileWatching := requestsBy(t, c, from, "capstan")
	if got := len(whileWatching); got != 4 {
		t.Errorf("got %d requests, want watch, dry-run create, create, get:\n%s", got, whileWatching)
	}
	if writes := whileWatching.Writes(); len(writes) != 1 || writes[0].DryRun || writes[0].Resource != "configmaps" || writes[0].Code != 201 {
		t.Errorf("got these writes, want the one create:\n%s", writes)
	}
	if got := whileWatching.Except("", "configmaps"); len(got) != 0 {
		t.Errorf("got requests for something else:\n%s", got)
	}

	endWatch()
	for range watch.ResultChan() { // until the server has closed it
	}
	if err := configMaps.Delete(t.Context(), "counted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if after := requestsBy(t, c, from, "capstan"); len(after) != 5 {
		t.Errorf("got %d requests, want the four and a delete; the end of a watch is no request:\n%s", len(after), after)
	}
}

func TestARequestBelongsToTheClientThatItNames(t *testing.T) {
	for agent, want := range map[string]bool{
		"capstan":                   true,
		"capstan/v1.0 (linux) abc":  true,
		"capstan (linux)":           true,
		"capstan-other/v1.0":        false,
		"kubectl/v1.36.3 (capstan)": false,
	} {
		if got := (cluster.Request{UserAgent: agent}).IsBy("capstan"); got != want {
			t.Errorf("%q: got %t, want %t", agent, got, want)
		}
	}
}

func TestALineStillBeingWrittenIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	const whole = `{"stage":"ResponseComplete","verb":"patch","requestURI":"/api/v1/namespaces/x?dryRun=All&force=true"}` + "\n"
	if err := os.WriteFile(path, []byte(whole+whole[:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := cluster.Requests(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].DryRun || list[0].IsWrite() {
		t.Errorf("got %v, want one dry-run patch, which is no write", list)
	}
}

func requestsBy(t *testing.T, c *cluster.Cluster, from cluster.Mark, agent string) cluster.RequestList {
	t.Helper()
	list, err := c.RequestsSince(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return list.By(agent)
}
