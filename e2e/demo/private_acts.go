package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

const (
	// observed is for how long a move watches its target, and unwell for how long that may be worse off than the source was.
	observed = 30 * time.Second
	unwell   = 5 * time.Minute
)

// move has a hosted cluster move, and kills the operator when half of the Machines have their copies.
func (h *hosting) move(ctx context.Context) error {
	was, err := h.take(ctx, h.shop, hostedworld.Standard)
	if err != nil {
		return err
	}
	h.display.say("\nAn administrator enables the programme, by ConfigMap %s: HostedCluster %s moves", programme, h.shop.Key())
	if h.followed, err = newHostedFollower(ctx, h.stage.Cluster.Config()); err != nil {
		return err
	}
	began := time.Now()
	if err := h.operate(); err != nil {
		return err
	}
	if err := h.enable(ctx); err != nil {
		return err
	}
	if err := h.killHalfWay(ctx); err != nil {
		return err
	}
	if err := h.fenced(ctx, h.shop); err != nil {
		return err
	}
	if err := h.operate(); err != nil {
		return err
	}
	h.display.step("the operator is started again, and goes on from where it was")
	if err := h.until(ctx, h.shop, "Observing"); err != nil {
		return err
	}
	if err := h.operator.Advance(observed); err != nil {
		return err
	}
	h.display.step("the target has to be well for %s: the operator's clock is set forward by that", observed)
	if err := h.until(ctx, h.shop, "Private"); err != nil {
		return err
	}
	left, err := h.shop.Stored(ctx, hostedworld.Standard)
	if err != nil {
		return err
	}
	is, err := h.take(ctx, h.shop, hostedworld.Private)
	if err != nil {
		return err
	}
	if err := errors.Join(was.moved(is), unless(len(left) == 0, fmt.Sprintf("%d standard objects are left", len(left)))); err != nil {
		return err
	}
	h.display.step("%d objects have moved, nothing standard is left, no Secret was made anew, and the cloud was not called", len(is.specs))
	h.note(h.shop, began, shopMachines, was.calls)
	return nil
}

// killHalfWay ends the operator with SIGKILL when half of the Machines have a copy.
func (h *hosting) killHalfWay(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	// It ends with the operator, which what comes after the kill must not.
	working, end := h.operator.Context(bounded)
	defer end()
	half := make(chan error, 1)
	go func() { half <- awaitMachines(working, h.stage.Cluster.Config(), h.shop.Namespace(), shopMachines/2) }()
	for waiting := true; waiting; {
		select {
		case err := <-half:
			if err != nil {
				return err
			}
			waiting = false
		case news := <-h.followed.news:
			h.tellState(news)
		}
	}
	h.operator.Kill()
	h.drain()
	copies, err := h.shop.Stored(ctx, hostedworld.Private)
	if err != nil {
		return err
	}
	originals, err := h.shop.Stored(ctx, hostedworld.Standard)
	if err != nil {
		return err
	}
	h.told.Killed = killedAt{State: h.followed.last(h.shop), Copies: len(copies), Of: len(originals)}
	h.display.step("the operator is killed: %d of %d objects have a copy", len(copies), len(originals))
	return unless(len(copies) < len(originals), "it was killed too late to be half-way")
}

// fenced shows that nobody writes to what is being moved.
func (h *hosting) fenced(ctx context.Context, hosted *hostedworld.Hosted) error {
	err := hosted.Scale(ctx, hostedworld.Standard, shopMachines+1)
	if err == nil || !strings.Contains(err.Error(), "fence") {
		return fmt.Errorf("somebody asks for one machine more while it moves, and is not refused by the fence: %w", err)
	}
	h.display.step("somebody asks for one machine more meanwhile, and is refused: %v", err)
	return nil
}

// work has the hosted cluster that has moved get one machine more.
func (h *hosting) work(ctx context.Context) error {
	h.display.say("\nManager and provider of HostedCluster %s still ask for standard types alone; the proxy beside each finds them private ones", h.shop.Key())
	before := len(h.world.Cloud.Calls())
	if err := h.shop.Scale(ctx, hostedworld.Private, shopMachines+1); err != nil {
		return err
	}
	if err := h.haveReady(ctx, h.shop, hostedworld.Private, shopMachines+1, shopMachines+1); err != nil {
		return err
	}
	h.display.step("one machine more is asked for, and made: %v", h.world.Cloud.Calls()[before:])
	return h.run(ctx, "private-capi", "status")
}

// moveBack has a hosted cluster move whose provider finds a machine broken there, so that the move is undone.
func (h *hosting) moveBack(ctx context.Context) error {
	was, err := h.take(ctx, h.bank, hostedworld.Standard)
	if err != nil {
		return err
	}
	h.display.say("\nPlanted: behind the proxy, the provider of HostedCluster %s does not reach the first of its machines", h.bank.Key())
	h.bank.Break(0)
	began := time.Now()
	if err := h.run(ctx, "private-capi", "resume", h.bank.Key(), "--yes"); err != nil {
		return err
	}
	if err := h.until(ctx, h.bank, "Observing"); err != nil {
		return err
	}
	if err := h.bank.Scale(ctx, hostedworld.Private, bankMachines+1); err != nil {
		return err
	}
	if err := h.haveReady(ctx, h.bank, hostedworld.Private, bankMachines+1, bankMachines); err != nil {
		return err
	}
	h.display.step("somebody asks for one machine more, and the target makes it: %v; the first one is not ready", h.world.Cloud.Calls()[was.calls:])
	h.display.step("it may be worse off for %s: the operator's clock is set forward until that is over", unwell)
	if err := h.setForward(ctx, h.bank, "Observing"); err != nil {
		return err
	}
	if err := h.until(ctx, h.bank, "Failed"); err != nil {
		return err
	}
	if err := h.haveReady(ctx, h.bank, hostedworld.Standard, bankMachines+1, bankMachines+1); err != nil {
		return err
	}
	if err := h.isBack(ctx, was); err != nil {
		return err
	}
	h.note(h.bank, began, bankMachines, was.calls)
	return h.run(ctx, "private-capi", "explain", h.bank.Key())
}

// isBack is an error unless the hosted cluster that was moved back has what it had before, the same objects, and the machine that was
// made meanwhile, for which the cloud was called once.
func (h *hosting) isBack(ctx context.Context, was picture) error {
	is, err := h.take(ctx, h.bank, hostedworld.Standard)
	if err != nil {
		return err
	}
	left, err := h.bank.Stored(ctx, hostedworld.Private)
	if err != nil {
		return err
	}
	problems := []error{unless(len(left) == 0, fmt.Sprintf("%d private objects are left", len(left)))}
	for name, uid := range was.uids {
		problems = append(problems, unless(is.uids[name] == uid, name+" is not the object that it was"))
	}
	for name, uid := range was.secrets {
		problems = append(problems, unless(is.secrets[name] == uid, "Secret "+name+" is not the one that it was"))
	}
	calls := h.world.Cloud.Calls()[was.calls:]
	problems = append(problems, unless(len(calls) == 1 && calls[0].Verb == "create", fmt.Sprintf("the cloud was called: %v", calls)))
	if err := errors.Join(problems...); err != nil {
		return err
	}
	h.display.step("the %d objects are the ones that they were, the machine that was made meanwhile is kept and came along, and the cloud was not called for the way back", len(was.uids))
	return nil
}
