package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// hanging is how long what hangs may stay unnoticed: a write is given up after 35 s, and then it is told.
const hanging = 100 * time.Second

// twoReplicas replaces the operator by two, of which the first holds the Lease.
func twoReplicas(ctx context.Context, first harness.OperatorOptions) (leader, other *harness.Operator) {
	GinkgoHelper()
	at = nil
	operator().Kill()
	first.LeaderElect = true
	leader = operate(first)
	eventually(ctx, "the first replica to lead", works(leader))
	return leader, operate(harness.OperatorOptions{CacheDir: cacheDir, LeaderElect: true})
}

// tellsAnywhere is nil when any condition says a text.
func tellsAnywhere(text string) func(harness.View) error {
	return func(v harness.View) error {
		for _, c := range v.ClusterOperator.Status.Conditions {
			if strings.Contains(c.Message, text) {
				return nil
			}
		}
		return fmt.Errorf("no condition says %q", text)
	}
}

var _ = Describe("In an upgrade, while a second replica waits,", Label("long"), func() {
	const given = "did not come within 35s"
	DescribeTable("a request that is never answered is told, and the upgrade goes on as soon as it is answered",
		func(ctx SpecContext, rule proxy.Rule, told string) {
			atGood(ctx)
			twoReplicas(ctx, harness.OperatorOptions{CacheDir: cacheDir})
			rule.Fault = proxy.Hang
			hangs := between.Add(rule)
			defer hangs.End()
			Expect(env.SetImages(ctx, images(two))).To(Succeed())
			ctxHanging, cancel := context.WithTimeout(ctx, hanging)
			defer cancel()
			if told == "" {
				isMet(ctx, hangs, 1)
				next()
				edit(ctx)
				Expect(harness.Eventually(ctxHanging, "an edited object to be put right", isRight)).To(Succeed())
			} else {
				_, err := env.Until(ctxHanging, "it to be told", tellsAnywhere(told))
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(met(hangs, 1)).To(Succeed())
			hangs.End()
			ctxAnswered, cancel := context.WithTimeout(ctx, hanging)
			defer cancel()
			_, err := env.Until(ctxAnswered, "the upgrade to be installed", all(harness.Settled(2), finished))
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("when it lists the revision in ClusterAPI.status", NodeTimeout(5*time.Minute), proxy.Rule{Verb: "update", Resource: "clusterapis"}, given),
		Entry("when it stores the inventory", NodeTimeout(5*time.Minute), proxy.Rule{Verb: "create", Resource: "configmaps"}, given),
		Entry("when it writes more objects than it writes at once", NodeTimeout(5*time.Minute), proxy.Rule{Verb: "patch", Resource: "configmaps"}, given),
		Entry("when it deletes", NodeTimeout(5*time.Minute), proxy.Rule{Verb: "delete"}, given),
		Entry("when it writes the ClusterOperator, which nothing can be told by then", NodeTimeout(5*time.Minute), proxy.Rule{Verb: "patch", Resource: "clusteroperators"}, ""),
	)
})

var _ = Describe("An operator whose pass hangs, on a disk that does not answer,", Label("long"), func() {
	It("says so on /healthz, gives up its Lease and ends, and another replica works on", func(ctx SpecContext) {
		atGood(ctx)
		var health string
		Expect(env.Cluster.ReserveAddresses(&health)).To(Succeed())
		bundle := &corev1.ConfigMap{ // without one nobody reads the file of further certificates in a pass
			ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config", Name: "user-ca-bundle"}, Data: map[string]string{"ca-bundle.crt": ""},
		}
		home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: bundle.Namespace}}
		Expect(client.IgnoreAlreadyExists(env.Client.Create(ctx, home))).To(Succeed())
		Expect(env.Client.Create(ctx, bundle)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, bundle)).To(Succeed()) })
		leader, _ := twoReplicas(ctx, harness.OperatorOptions{CacheDir: cacheDir, Arguments: []string{"--health-probe-bind-address=" + health, "--extra-ca-file=" + silentFile()}})
		Expect(healthy(ctx, health)).To(Succeed())
		next()
		edit(ctx)
		for range 17 { // looks of the watchdog
			Expect(leader.Advance(5 * second)).To(Succeed())
		}
		Expect(healthy(ctx, health)).To(Succeed(), "a pass was taken for one that hangs too early")
		eventually(ctx, "/healthz to fail", func(ctx context.Context) error {
			err := healthy(ctx, health)
			if err == nil {
				return errors.Join(errors.New("all is well"), leader.Advance(5*second))
			}
			if !strings.Contains(err.Error(), "passes") {
				return err
			}
			return nil
		})
		Expect(isRight(ctx)).NotTo(Succeed(), "the pass did not hang")
		ctxTaken, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		Expect(harness.Eventually(ctxTaken, "the other replica to put right what was edited", isRight)).To(Succeed())
		Eventually(leader.Exited()).WithTimeout(patience).Should(BeClosed())
		Expect(leader.Failure()).To(HaveOccurred())
		log, err := os.ReadFile(leader.Log)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(log)).To(ContainSubstring("a pass of clusterapi of cluster hangs"))
	}, NodeTimeout(4*time.Minute))
})

// silentFile is a file that can be opened, and never is.
func silentFile() string {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "ca.pem")
	Expect(syscall.Mkfifo(path, 0o600)).To(Succeed())
	return path
}

// healthy is nil when /healthz says so.
func healthy(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("/healthz says %d: %s", response.StatusCode, body)
	}
	return err
}

var _ = Describe("While the ClusterOperator cannot be written, and an upgrade is asked for,", Label("long"), func() {
	It("drift is put right, and after 20 minutes the next try comes within 30 s", func(ctx SpecContext) {
		atGood(ctx)
		at = nil
		refused := between.Add(proxy.Rule{Verb: "patch", Resource: "clusteroperators", Fault: proxy.Answer(http.StatusInternalServerError, 0)})
		defer refused.End()
		Expect(env.SetImages(ctx, images(two))).To(Succeed())
		isMet(ctx, refused, 1)
		for range 4 {
			next()
			edit(ctx)
			eventually(ctx, "an edited object to be put right", isRight)
			advance(5 * minute)
		}
		isMet(ctx, refused, 4)
		refused.End()
		until(ctx, "the upgrade to be installed, without anything that wakes the operator", harness.Settled(2), finished)
	}, NodeTimeout(3*time.Minute))
})
