package release_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// nameLabel says which Deployment a pod is of.
const nameLabel = "app.kubernetes.io/name"

// stopGrace is what pods get by default.
const stopGrace = 30 * time.Second

// kubelet runs the operator's pods while a spec lasts. That they are Ready in the
// API is kwok's word; whether their probes are answered is ready's.
type kubelet struct {
	// images are the files of those that pods may mount, by reference.
	images map[string]map[string][]byte

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// addresses are how many pods have had one. draining are those of the checker that were told to end: they go on answering for
// ten seconds, beside the next specs, in which nobody asks them.
var (
	addresses int
	draining  errgroup.Group
)

// startKubelet looks for pods until the spec ends, when all of them are told to end. It waits for those of the operator.
func startKubelet(images map[string]map[string][]byte) *kubelet {
	k := &kubelet{images: images, pods: map[types.UID]*pod{}}
	ctx, end := context.WithCancel(context.Background())
	var finished sync.WaitGroup
	finished.Go(func() {
		defer GinkgoRecover()
		_ = harness.Eventually(ctx, "the spec to end", func(ctx context.Context) error {
			if err := k.look(ctx); ctx.Err() == nil {
				Expect(err).NotTo(HaveOccurred())
			}
			return errors.New("it has not ended")
		})
	})
	DeferCleanup(func() {
		end()
		finished.Wait()
		var ending errgroup.Group
		for _, p := range k.running() {
			if p.answers() {
				draining.Go(p.end)
			} else {
				ending.Go(p.end)
			}
		}
		Expect(ending.Wait()).To(Succeed())
	})
	return k
}

// end has a pod end, and without an error.
func (p *pod) end() error {
	err := p.process.Stop(stopGrace)
	if err == nil {
		err = p.process.Failure()
	}
	if err != nil {
		return fmt.Errorf("ending pod %s: %w; see %s", p.object.Name, err, p.log())
	}
	return nil
}

// look starts pods that are new, and ends those that are to go, one after the
// other: a pod that is ended gives up its Lease before another one is begun. The
// checker's have none, and go on answering meanwhile.
func (k *kubelet) look(ctx context.Context) error {
	there := &corev1.PodList{}
	err := env.Client.List(ctx, there, client.InNamespace(harness.OperatorNamespace), client.HasLabels{nameLabel})
	if err != nil {
		return err
	}
	wanted := map[types.UID]bool{}
	for i := range there.Items {
		object := &there.Items[i]
		if object.DeletionTimestamp != nil || object.Spec.NodeName == "" {
			continue
		}
		wanted[object.UID] = true
		if k.known(object.UID) {
			continue
		}
		addresses++
		p, err := run(ctx, object, fmt.Sprintf("127.0.77.%d", addresses), k.images)
		if err != nil {
			return fmt.Errorf("running pod %s: %w", object.Name, err)
		}
		k.mu.Lock()
		k.pods[object.UID] = p
		k.mu.Unlock()
	}
	for _, p := range k.running() {
		if wanted[p.object.UID] {
			if err := p.mountLate(ctx); err != nil {
				return fmt.Errorf("mounting in pod %s: %w", p.object.Name, err)
			}
			continue
		}
		if p.answers() {
			draining.Go(func() error { return p.process.Stop(stopGrace) })
		} else if err := p.process.Stop(stopGrace); err != nil {
			return err
		}
		k.mu.Lock()
		delete(k.pods, p.object.UID)
		k.mu.Unlock()
	}
	return nil
}

func (k *kubelet) known(uid types.UID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[uid] != nil
}

func (k *kubelet) running() []*pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*pod
	for _, p := range k.pods {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pod) int { return a.number() - b.number() })
	return all
}

// answers says that a pod is the checker's.
func (p *pod) answers() bool { return p.object.Labels[nameLabel] == harness.WebhooksAccount }

// checkers are the pods of the checker that run.
func (k *kubelet) checkers() []*pod {
	return slices.DeleteFunc(k.running(), func(p *pod) bool { return !p.answers() })
}

// metricsAddress is where a pod serves its metrics.
func (p *pod) metricsAddress() string {
	for _, container := range p.object.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "metrics" {
				return fmt.Sprintf("%s:%d", p.address, port.ContainerPort)
			}
		}
	}
	return ""
}

// checkersWanted is how many replicas of the checker a control plane of several nodes has, whoever brings it.
const checkersWanted = 2

// ready waits until so many pods of the operator run, and all of the checker, all
// probes of which are answered. It returns the operator's.
func (k *kubelet) ready(ctx context.Context, number int) []*pod {
	GinkgoHelper()
	var all []*pod
	eventually(ctx, fmt.Sprintf("%d pods to be ready", number), func(ctx context.Context) error {
		running := k.running()
		for _, p := range running {
			if err := p.probed(ctx); err != nil {
				return err
			}
		}
		all = slices.DeleteFunc(slices.Clone(running), (*pod).answers)
		if len(all) != number || len(running) != number+checkersWanted {
			return fmt.Errorf("%d pods of the operator run, and %d others", len(all), len(running)-len(all))
		}
		return nil
	})
	return all
}

// probed asks what a kubelet would ask.
func (p *pod) probed(ctx context.Context) error {
	select {
	case <-p.process.Exited():
		return fmt.Errorf("pod %s has ended by itself (%w); see %s", p.object.Name, p.process.Failure(), p.log())
	default:
	}
	for _, container := range p.object.Spec.Containers {
		for what, probe := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil {
				return fmt.Errorf("container %s has no %s probe", container.Name, what)
			}
			url := fmt.Sprintf("http://%s:%d%s", p.address, p.port(container, probe), probe.HTTPGet.Path)
			if err := get(ctx, url, time.Duration(probe.TimeoutSeconds)*time.Second); err != nil {
				return fmt.Errorf("%s probe of pod %s: %w", what, p.object.Name, err)
			}
		}
	}
	return nil
}

func (p *pod) port(container corev1.Container, probe *corev1.Probe) int32 {
	for _, port := range container.Ports {
		if port.Name == probe.HTTPGet.Port.StrVal {
			return port.ContainerPort
		}
	}
	return probe.HTTPGet.Port.IntVal
}

func get(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
