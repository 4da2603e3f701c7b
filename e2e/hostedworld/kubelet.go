package hostedworld

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// lookEvery is how often the kubelet looks for Pods, and workEvery how often a program does its work.
	lookEvery = 100 * time.Millisecond
	workEvery = 200 * time.Millisecond
	// grace is how long a proxy may take to end.
	grace = 15 * time.Second
	// proxyContainer is that of the proxy beside a component.
	proxyContainer = "kube-apiserver-proxy"
)

// running is what runs for a Pod.
type running struct {
	of   types.UID
	stop func() error
}

// Break has the provider, wherever it runs behind the proxy, find a machine broken.
func (h *Hosted) Break(machine int) {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.broken = fmt.Sprintf("%s-%d", h.name, machine)
}

// Mend has it find all of them well again.
func (h *Hosted) Mend() {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.broken = ""
}

// Problem is what the programs of the hosted cluster met last that does not come of two who write at once; nil for nothing.
func (h *Hosted) Problem() error {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	return h.problem
}

func (h *Hosted) meets(err error) {
	if err == nil || errors.Is(err, context.Canceled) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return
	}
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.problem = err
}

// runPods runs the program of each component while a Pod of it runs, until the context ends.
func (h *Hosted) runPods(ctx context.Context) {
	runs := map[string]running{}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		for component, work := range programs {
			if work != nil {
				h.meets(h.follow(ctx, component, work, runs))
			}
		}
		select {
		case <-ctx.Done():
			for _, r := range runs {
				h.meets(r.stop())
			}
			return
		case <-ticker.C:
		}
	}
}

// follow starts what a component's Pod runs, and stops what a Pod ran that is gone.
func (h *Hosted) follow(ctx context.Context, component string, work program, runs map[string]running) error {
	pods := &corev1.PodList{}
	if err := h.world.Client.List(ctx, pods, client.InNamespace(h.Namespace()), client.MatchingLabels{appLabel: component}); err != nil {
		return err
	}
	at := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning })
	now, does := runs[component]
	if does && (at < 0 || pods.Items[at].UID != now.of) {
		delete(runs, component)
		if err := now.stop(); err != nil {
			return err
		}
	}
	if at < 0 || runs[component].of == pods.Items[at].UID {
		return nil
	}
	stop, err := h.run(ctx, component, work, &pods.Items[at])
	if err == nil {
		runs[component] = running{of: pods.Items[at].UID, stop: stop}
	}
	return err
}

// run starts a program as the account of its Pod, and before it the proxy, if the Pod has it. What it returns ends both, and returns
// when they have ended.
func (h *Hosted) run(ctx context.Context, component string, work program, of *corev1.Pod) (func() error, error) {
	account := "system:serviceaccount:" + h.Namespace() + ":" + component
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + h.Namespace(), "system:authenticated"}
	equipped := slices.ContainsFunc(of.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == proxyContainer })
	config, err := h.world.Cluster.ConfigFor(account, groups...)
	if err != nil {
		return nil, err
	}
	var proxy *harness.CAPIProxy
	if equipped {
		kubeconfig, err := h.world.Cluster.KubeconfigFor(account, groups...)
		if err != nil {
			return nil, err
		}
		log := filepath.Join(h.world.Cluster.Dir(), of.Name+"-proxy.log")
		if proxy, err = harness.StartCAPIProxy(ctx, h.world.Cluster, h.world.bin, kubeconfig, log); err != nil {
			return nil, err
		}
		if config, err = proxy.Access(); err != nil {
			return nil, errors.Join(err, proxy.Stop(grace))
		}
	}
	api, err := harness.NewClient(config)
	if err != nil {
		return nil, err
	}
	p := pod{Client: api, namespace: h.Namespace(), cloud: h.world.Cloud}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.work(ctx, p, work, equipped)
	}()
	return func() error {
		cancel()
		<-ended
		if proxy == nil {
			return nil
		}
		return proxy.Stop(grace)
	}, nil
}

// work does a program's passes, none while a Cluster is paused.
func (h *Hosted) work(ctx context.Context, p pod, pass program, equipped bool) {
	harness.Every(ctx, workEvery, func() {
		if equipped {
			h.world.mu.Lock()
			p.broken = h.broken
			h.world.mu.Unlock()
		}
		paused, err := p.paused(ctx)
		if err == nil && !paused {
			err = pass(ctx, p)
		}
		h.meets(err)
	})
}
