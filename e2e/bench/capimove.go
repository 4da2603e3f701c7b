package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// moveSizes are how many Machines the hosted clusters have that move.
var moveSizes = []int{10, 50, 100, 250, 500}

// What a line explains of the moves, from 0 to 1. The time is that of the whole machine, the requests are the operator's own.
var (
	moveLinear   = figureName{what: "R2 of the time of a move", least: true}
	moveRequests = figureName{what: "R2 of the requests of a move", least: true}
)

// The marks of a hosted cluster that tell how far it is.
const (
	markLocked = "hypershift.openshift.io/migration-in-progress"
	markFailed = "hypershift.openshift.io/migration-failed"
	markMoved  = "hypershift.openshift.io/private-capi-types"
)

// movingMachines has the operator move hosted clusters of several sizes, and asks whether the time that each is locked grows in line
// with its Machines. It moves each once, however many runs there are: what is judged is not one time, but all of them together.
func movingMachines(ctx context.Context, b *bench) ([]sample, error) {
	definitions, err := hostedworld.DefinitionsWith("testmachines", "TestMachine")
	if err != nil {
		return nil, err
	}
	var samples []sample
	return samples, b.on(ctx, definitions, func(s *stage) error {
		if err := s.world(ctx, content{}); err != nil {
			return err
		}
		if err := s.prepareMoves(ctx); err != nil {
			return err
		}
		mark, err := s.Cluster.Mark(ctx)
		if err != nil {
			return err
		}
		if err := s.operate(hostedworld.ProxyImage(), "--legacy-operator=hypershift/operator"); err != nil {
			return err
		}
		moves, err := s.awaitMoves(ctx)
		if err != nil {
			return err
		}
		all, err := s.requests(ctx, mark)
		if err != nil {
			return err
		}
		one, err := s.linear(moves, all)
		samples = append(samples, one)
		return err
	})
}

// prepareMoves makes what a move needs, hosted clusters of all sizes, and then the programme that has them moved: what is born
// after it has private types from the start.
func (s *stage) prepareMoves(ctx context.Context) error {
	if err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hypershift"}}); err != nil {
		return err
	}
	needed, err := privatecapi.Moving()
	if err != nil {
		return err
	}
	for _, o := range needed {
		if err := s.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	administrator, err := s.administrator()
	if err != nil {
		return err
	}
	if err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hostedNamespace}}); err != nil {
		return err
	}
	for _, size := range moveSizes {
		if err := (hosted{s, administrator, fmt.Sprintf("move-%d", size)}).create(ctx, size); err != nil {
			return fmt.Errorf("making a hosted cluster of %d Machines: %w", size, err)
		}
	}
	return s.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-private-capi"}})
}

// span is when a hosted cluster was locked.
type span struct{ began, ended time.Time }

// awaitMoves watches until each hosted cluster has private types and no lock.
func (s *stage) awaitMoves(ctx context.Context) (map[string]span, error) {
	administrator, err := s.administrator()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(moveSizes))*patience)
	defer cancel()
	moves, moved := map[string]span{}, 0
	var failed error
	err = administrator.watch(ctx, hostedClusters, url.Values{}, func(i item) bool {
		one, marks := moves[i.Metadata.Name], i.Metadata.Annotations
		_, locked := marks[markLocked]
		switch {
		case marks[markFailed] != "":
			failed = fmt.Errorf("the move of %s has failed: %s", i.Metadata.Name, marks[markFailed])
		case locked && one.began.IsZero():
			one.began = time.Now()
		case !locked && marks[markMoved] == "true" && one.ended.IsZero():
			one.ended = time.Now()
			moved++
			s.bench.say("%s has moved in %.1f s", i.Metadata.Name, one.ended.Sub(one.began).Seconds())
		}
		moves[i.Metadata.Name] = one
		return failed != nil || moved == len(moveSizes)
	})
	return moves, errors.Join(err, failed)
}

// linear fits a line through the times, and another one through the requests.
func (s *stage) linear(moves map[string]span, all cluster.RequestList) (sample, error) {
	var times, requests []point
	for _, size := range moveSizes {
		one := moves[fmt.Sprintf("move-%d", size)]
		sent := all.Where(func(r cluster.Request) bool { return !r.Time.Before(one.began) && r.Time.Before(one.ended) })
		times = append(times, point{float64(size), one.ended.Sub(one.began).Seconds()})
		requests = append(requests, point{float64(size), float64(len(withoutLease(sent)))})
		s.bench.say("  %d Machines: %.1f s, %d requests", size, times[len(times)-1].y, len(withoutLease(sent)))
	}
	clock, r2 := fit(times)
	count, r2Requests := fit(requests)
	s.bench.say("  %.1f s and %.1f ms a Machine, R2 %.4f; %.0f requests and %.1f a Machine, R2 %.4f",
		clock.intercept, clock.slope*1000, r2, count.intercept, count.slope, r2Requests)
	peak, err := peakMiB(s.operator.PID())
	return sample{
		Seconds: times[len(times)-1].y, RSSMiB: peak, Requests: len(all),
		figures: map[figureName]float64{moveLinear: r2, moveRequests: r2Requests},
	}, err
}
