package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

// childVariable makes this test binary an engine's process of its own; it holds an errand.
const childVariable = "CAPSTAN_TEST_ENGINE"

// errand is what a child has to do: install the revisions of a world one after the other, unless it dies before.
type errand struct {
	Kubeconfig string
	Prefix     string
	Revisions  []int64
	DieAfter   int64 // requests that were answered, 0 for never
}

// beChild does its errand and never returns. It says how many requests it took.
func beChild(text string) {
	var sent atomic.Int64
	err := func() error {
		var do errand
		if err := json.Unmarshal([]byte(text), &do); err != nil {
			return err
		}
		config, err := clientcmd.BuildConfigFromFlags("", do.Kubeconfig)
		if err != nil {
			return err
		}
		config.QPS = -1
		w, err := openWorld(do.Prefix, config)
		if err != nil {
			return err
		}
		e, err := w.launch(func(c *engine.Config) { c.REST.Wrap(mortal(&sent, do.DieAfter)) })
		if err != nil {
			return err
		}
		defer e.stop()
		for _, n := range do.Revisions {
			if _, err := e.finish(context.Background(), w.generations()[n]); err != nil {
				return err
			}
		}
		return nil
	}()
	fmt.Println(sent.Load())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// mortal counts requests, and ends the process as a power cut would when the last one was answered.
func mortal(sent *atomic.Int64, last int64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return sender(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if n := sent.Add(1); n == last {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return response, err
		})
	}
}

// run does an errand in a process of its own, and returns how many requests it took; 0 when it died as it was told.
func (w *world) run(ctx context.Context, die int64, revisions ...int64) (int64, error) {
	text, err := json.Marshal(errand{Kubeconfig: shared().Kubeconfig(), Prefix: w.prefix, Revisions: revisions, DieAfter: die})
	if err != nil {
		return 0, err
	}
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+string(text))
	out, err := child.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		if status, is := ended.Sys().(syscall.WaitStatus); is && status.Signal() == syscall.SIGKILL && die > 0 {
			return 0, nil
		}
		return 0, fmt.Errorf("%w: %s", err, ended.Stderr)
	}
	if err != nil {
		return 0, err
	}
	var sent int64
	_, err = fmt.Sscan(string(out), &sent)
	return sent, err
}

// generations are two revisions with something to add, to change, to keep and to remove between them.
func (w *world) generations() map[int64]*engine.Revision {
	return map[int64]*engine.Revision{
		1: of(1, w.crd("gadget"), w.instance("gadget", "kept"), w.instance("gadget", "old"),
			w.configMap("changed", "key", "one"), w.configMap("old"), w.deployment("older")),
		2: of(2, w.crd("gadget"), w.instance("gadget", "kept"), w.configMap("changed", "key", "two"), w.configMap("added")),
	}
}

// kinds are the kinds of generations.
func (w *world) kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: w.group, Version: "v1", Kind: "Gadget"},
		{Version: "v1", Kind: "ConfigMap"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
	}
}

var _ = Describe("An engine", func() {
	It("case 63: can be killed after each of its requests, and the next one ends what it began: no orphan, nothing created twice", func(ctx SpecContext) {
		whole := begin(ctx)
		total, err := whole.run(ctx, 0, 1, 2)
		Expect(err).NotTo(HaveOccurred())
		Expect(whole.isUpgraded(ctx)).To(Succeed())
		group, ctx2 := errgroup.WithContext(ctx)
		group.SetLimit(4)
		for n := int64(1); n <= total; n++ {
			group.Go(func() error {
				if err := dieAndGoOn(ctx2, n); err != nil {
					return fmt.Errorf("after request %d of %d: %w", n, total, err)
				}
				return nil
			})
		}
		Expect(group.Wait()).To(Succeed())
	}, NodeTimeout(4*patience))

	It("case 64: may race with another one: nothing flaps, and whoever lost its turn in the middle of a pass does no harm", func(ctx SpecContext) {
		w := begin(ctx)
		_, err := w.run(ctx, 0, 1)
		Expect(err).NotTo(HaveOccurred())
		before, since := w.uids(ctx, w.crd("gadget"), w.instance("gadget", "kept"), w.configMap("changed")), mark(ctx)
		group, racing := errgroup.WithContext(ctx)
		for range 3 {
			group.Go(func() error {
				_, err := w.run(racing, 0, 2)
				return err
			})
		}
		Expect(group.Wait()).To(Succeed())
		Expect(w.isUpgraded(ctx)).To(Succeed())
		Expect(w.uids(ctx, w.crd("gadget"), w.instance("gadget", "kept"), w.configMap("changed"))).To(Equal(before))
		Expect(w.createdTwice(ctx, since)).To(Succeed())
		for _, o := range w.generations()[2].Components[0].Objects {
			granted := successful(about(o, w.writes(ctx, since)))
			Expect(len(granted)).To(BeNumerically("<=", 3), granted.String())
		}
	})

	It("case 64: lets nothing of an older revision in that was on its way when a newer one took over", func(ctx SpecContext) {
		w := begin(ctx)
		one, two := of(1, w.configMap("a", "key", "one")), of(2, w.configMap("a", "key", "two"))
		held, let := make(chan struct{}), make(chan struct{})
		var slow atomic.Bool
		former := w.start(func(c *engine.Config) {
			c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return sender(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPatch && slow.CompareAndSwap(true, false) {
						close(held)
						<-let
					}
					return next.RoundTrip(r)
				})
			})
		})
		former.install(ctx, one)
		slow.Store(true)
		w.merge(ctx, "other", w.configMap("a"), `{"data":{"key":"theirs"}}`)
		done := make(chan error)
		go func() {
			_, err := former.take(ctx, one, func(*engine.Report) error {
				if !slow.Load() {
					return nil
				}
				return errors.New("it has not begun")
			})
			done <- err
		}()
		Eventually(held).WithTimeout(patience).Should(BeClosed())
		w.start().install(ctx, two)
		before := w.fetch(ctx, w.configMap("a"))
		close(let)
		Eventually(done).WithTimeout(patience).Should(Receive(BeNil()))
		former.until(ctx, one, acted(w.configMap("a"), engine.Progressed))
		Expect(w.fetch(ctx, w.configMap("a"))).To(Equal(before))
	})
})

// dieAndGoOn kills an engine after its nth request, and lets another one go on.
func dieAndGoOn(ctx context.Context, n int64) (failed error) {
	since, err := shared().Mark(ctx)
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, fmt.Sprintf("w%d-", worlds.Add(1)))
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.remove(context.WithoutCancel(ctx))) }()
	if _, err := w.run(ctx, n, 1, 2); err != nil {
		return err
	}
	e, err := w.launch()
	if err != nil {
		return err
	}
	defer e.stop()
	if _, err := e.finish(ctx, w.generations()[2]); err != nil {
		return err
	}
	return errors.Join(w.isUpgraded(ctx), w.createdTwice(ctx, since))
}

// isUpgraded says nil when the second generation is there as it should be, and nothing else of the installation.
func (w *world) isUpgraded(ctx context.Context) error {
	expected := map[engine.Key]bool{{Version: "v1", Kind: "ConfigMap", Namespace: w.namespace, Name: "capstan-inventory-2"}: true}
	for _, wanted := range w.generations()[2].Components[0].Objects {
		expected[engine.KeyOf(wanted)] = true
		found, err := w.get(ctx, wanted)
		if err != nil {
			return err
		}
		if number(found) != "2" {
			return fmt.Errorf("%s is of revision %s", engine.KeyOf(found), number(found))
		}
		if err := has(found, wanted.Object["data"], "data"); err != nil {
			return err
		}
	}
	for _, gvk := range w.kinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := w.client.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if o.GetAnnotations()[engine.OwnerAnnotation] == w.owner && !expected[engine.KeyOf(o)] {
				return fmt.Errorf("%s is an orphan", engine.KeyOf(o))
			}
		}
	}
	return nil
}

// createdTwice names an object that was created more than once since a mark.
func (w *world) createdTwice(ctx context.Context, since cluster.Mark) error {
	all, err := shared().RequestsSince(ctx, since)
	if err != nil {
		return err
	}
	created := map[client.ObjectKey]int{}
	for _, r := range successful(all.Writes()) {
		object := client.ObjectKey{Namespace: r.Namespace, Name: r.Resource + " " + r.Name}
		if !r.IsCreation() || !strings.HasPrefix(r.UserAgent, "engine-"+w.prefix) {
			continue
		}
		if created[object]++; created[object] > 1 {
			return fmt.Errorf("%s was created twice", object)
		}
	}
	return nil
}
