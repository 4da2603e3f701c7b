package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// How many machines the two hosted clusters have. The one that is killed half-way has enough for a half.
const (
	shopMachines = 24
	bankMachines = 3
)

// programme is the ConfigMap that enables the moves of hosted clusters.
const programme = "capstan-private-capi"

// hosting is the part of a demonstration in which hosted clusters move to private types.
type hosting struct {
	*demonstration
	world *hostedworld.World
	// shop moves, and bank is moved back.
	shop, bank *hostedworld.Hosted
	followed   *hostedFollower
	told       hostedReport
}

// moveHosted has two hosted clusters move to private Cluster API types: one whose operator is killed half-way, and one that is moved
// back since its machines do worse there.
func (d *demonstration) moveHosted(ctx context.Context) error {
	definitions, err := hostedworld.Definitions()
	if err != nil {
		return err
	}
	d.display.say(`Stand-ins, since nothing of it can be had as a Go module: HyperShift's HostedCluster and its operators, the manager of Cluster
API and a provider, both of which know the standard types alone, and their cloud, which is in memory. Real are the API server, the
definitions of Cluster API, Capstan with the rights that deploy gives it, and the proxy beside manager and provider.
`)
	if err := d.start(ctx, definitions...); err != nil {
		return err
	}
	h := &hosting{demonstration: d}
	ctx, end := context.WithCancel(ctx)
	defer func() {
		end()
		if h.world != nil {
			h.world.Wait()
		}
	}()
	for _, act := range []struct {
		what string
		play func(context.Context) error
	}{
		{"setting up two hosted clusters", h.place},
		{"moving one, and killing the operator half-way", h.move},
		{"having a provider that is told nothing work with private types", h.work},
		{"moving another one back", h.moveBack},
	} {
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.what, err)
		}
	}
	if err := d.operator.Stop(); err != nil {
		return err
	}
	h.conclude()
	return save(filepath.Join(d.dir, reportFile), h.told)
}

// place sets up two hosted clusters with standard types, of which one may not move yet, and starts an operator that moves them.
func (h *hosting) place(ctx context.Context) (err error) {
	if h.world, err = hostedworld.Begin(ctx, h.stage, h.bin); err != nil {
		return err
	}
	if h.shop, err = h.world.AddHosted(ctx, "shop", shopMachines, nil); err != nil {
		return err
	}
	paused := map[string]string{"capstan.openshift.io/private-capi-paused": "true"}
	if h.bank, err = h.world.AddHosted(ctx, "bank", bankMachines, paused); err != nil {
		return err
	}
	for hosted, machines := range map[*hostedworld.Hosted]int{h.shop: shopMachines, h.bank: bankMachines} {
		if err := h.haveReady(ctx, hosted, hostedworld.Standard, machines, machines); err != nil {
			return err
		}
	}
	h.display.step("the provider has made %d machines in the cloud for HostedCluster %s, and %d for %s, which is paused", shopMachines, h.shop.Key(), bankMachines, h.bank.Key())
	return nil
}

// haveReady waits until a hosted cluster has so many Machines on one side, and so many of them are ready.
func (h *hosting) haveReady(ctx context.Context, hosted *hostedworld.Hosted, side string, machines, ready int) error {
	ctx, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	return harness.Eventually(ctx, fmt.Sprintf("%d machines of HostedCluster %s", machines, hosted.Key()), func(ctx context.Context) error {
		stored, err := hosted.Stored(ctx, side)
		if err != nil {
			return err
		}
		there, well := 0, 0
		for _, o := range stored {
			if o.GetKind() != "Machine" {
				continue
			}
			if there++; hostedworld.IsReady(o) {
				well++
			}
		}
		return unless(there == machines && well == ready, fmt.Sprintf("%d of %d are ready; the programs met: %v", well, there, hosted.Problem()))
	})
}

// operate starts an operator that moves HostedClusters.
func (h *hosting) operate() (err error) {
	h.operator, err = h.stage.StartOperator(harness.OperatorOptions{SteeredClock: true, Arguments: []string{
		hostedworld.ProxyImage(), hostedworld.OldOperator(),
	}})
	return err
}

// enable lets moves begin.
func (h *hosting) enable(ctx context.Context) error {
	return h.world.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: programme}})
}

// picture is what a move has to leave as it is.
type picture struct {
	// specs are those of the objects of one side in standard text, by kind and name, and uids those of the same.
	specs map[string]string
	uids  map[string]types.UID
	// secrets are the UIDs of what Machines own.
	secrets map[string]types.UID
	calls   int
}

func (h *hosting) take(ctx context.Context, hosted *hostedworld.Hosted, side string) (picture, error) {
	p := picture{specs: map[string]string{}, uids: map[string]types.UID{}, calls: len(h.world.Cloud.Calls())}
	stored, err := hosted.Stored(ctx, side)
	if err != nil {
		return p, err
	}
	for name, o := range stored {
		p.specs[name], p.uids[name] = hostedworld.InStandardText(o), o.GetUID()
	}
	p.secrets, err = hosted.Secrets(ctx)
	return p, err
}

// moved is an error if a side has not what another one had before.
func (was picture) moved(is picture) error {
	for _, name := range slices.Sorted(maps.Keys(was.specs)) {
		if is.specs[name] != was.specs[name] {
			return fmt.Errorf("%s is %q, and was %q", name, is.specs[name], was.specs[name])
		}
	}
	switch {
	case len(is.specs) != len(was.specs):
		return fmt.Errorf("there are %d objects, and there were %d", len(is.specs), len(was.specs))
	case !maps.Equal(is.secrets, was.secrets):
		return errors.New("a Secret that belongs to a Machine was deleted, or made anew")
	case is.calls != was.calls:
		return fmt.Errorf("the cloud was called %d times", is.calls-was.calls)
	}
	return nil
}

// seconds is how long something has taken.
func seconds(since time.Time) float64 { return time.Since(since).Round(time.Millisecond).Seconds() }
