package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// guestSteps is how many passes with nothing to do are made to measure one.
const guestSteps = 400

// rest counts what is asked while nothing happens, once keys were made ahead again and the flight recorder has written its last.
func (g *guests) rest(ctx context.Context, _ int, one *sample) error {
	if err := g.stocked(ctx); err != nil {
		return err
	}
	if err := wait(ctx, restAfter+aftermath); err != nil {
		return err
	}
	mark, err := g.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	before, err := g.probes(ctx)
	if err != nil {
		return err
	}
	pid := g.Manager(capiworld.Provider).PID()
	used, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	g.bench.say("resting for %s", restFor)
	if err := wait(ctx, restFor); err != nil {
		return err
	}
	rested, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	g.idle = (rested - used) / time.Since(began).Seconds()
	after, err := g.probes(ctx)
	if err != nil {
		return err
	}
	most := 0
	for i := range after {
		most = max(most, after[i]-before[i])
	}
	one.figures[guestPolls] = float64(most) / restFor.Minutes()
	own, err := g.own(ctx, mark)
	if err != nil {
		return err
	}
	asked := own.Where(func(r cluster.Request) bool { return r.Verb != "watch" })
	one.figures[restRequests] = float64(len(asked))
	if len(asked) > 0 {
		g.bench.say("  requests: %s", tally(asked))
	}
	return nil
}

// anyGuest speaks to guests, whoever certifies them.
var anyGuest = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// guestAddress is where the API of a cluster is.
func guestAddress(asked *capiworld.Asked) string {
	port, _, _ := unstructured.NestedInt64(asked.DevCluster.Object, "spec", "controlPlaneEndpoint", "port")
	return fmt.Sprintf("https://127.0.0.1:%d", port)
}

// probes are how often each guest was asked whether it is ready, which nobody but the provider does.
func (g *guests) probes(ctx context.Context) ([]int, error) {
	var all []int
	for _, asked := range g.asked {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, guestAddress(asked)+capiworld.ProbesPath, http.NoBody)
		if err != nil {
			return nil, err
		}
		response, err := anyGuest.Do(request)
		if err != nil {
			return nil, fmt.Errorf("asking guest %s how often it was asked: %w", asked.Key, err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("asking guest %s how often it was asked: %w", asked.Key, err)
		}
		number, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("guest %s says that it was asked %.100q times", asked.Key, text)
		}
		all = append(all, number)
	}
	return all, nil
}

// step measures a pass in which nothing is to be done: an annotation of a control plane is changed, which means nothing to the provider.
// The watch event that has the pass made is included, and what the provider does at rest is not.
func (g *guests) step(ctx context.Context, _ int, one *sample) error {
	pid := g.Manager(capiworld.Provider).PID()
	before, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range guestSteps {
		object := g.asked[i%len(g.asked)].ControlPlane.DeepCopy()
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"bench.capstan.io/step":"%d"}}}`, i))
		if err := g.API.Patch(ctx, object, patch, harness.Administrator); err != nil {
			return fmt.Errorf("annotating OpenShiftControlPlane %s: %w", g.asked[i%len(g.asked)].Key, err)
		}
		if err := wait(ctx, nudgeEvery); err != nil {
			return err
		}
	}
	after, err := processorSeconds(pid)
	if err != nil {
		return err
	}
	rest := g.idle * time.Since(began).Seconds()
	one.figures[guestStep] = (after - before - rest) / guestSteps * 1000
	g.bench.say("a step takes %.2f ms of the processor, and to rest as long %.2f s", one.figures[guestStep], rest)
	return nil
}

// restart has the provider start anew, until it has read the kubeconfig of every guest.
func (g *guests) restart(ctx context.Context, number int, one *sample) error {
	provider := g.Manager(capiworld.Provider)
	if err := provider.Stop(); err != nil {
		return err
	}
	mark, err := g.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := provider.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askedWithin, fmt.Errorf("%s is too long", askedWithin))
	defer cancel()
	err = harness.Eventually(ctx, "every guest to be asked", func(ctx context.Context) error {
		own, err := g.own(ctx, mark)
		if err != nil {
			return err
		}
		read := map[string]bool{}
		for _, r := range own {
			if r.Resource == "secrets" && r.Verb == "get" {
				read[r.Namespace] = true
			}
		}
		if len(read) < number {
			return fmt.Errorf("the kubeconfigs of %d of %d were read", len(read), number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	one.figures[restartTime] = time.Since(began).Seconds()
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	own, err := g.own(ctx, mark)
	if err != nil {
		return err
	}
	one.figures[restartRequests], one.figures[restartWrites] = float64(len(own)), float64(len(own.Writes()))
	g.bench.say("a restart takes %d requests: %s", len(own), tally(own))
	return nil
}
