// Package house is what machines are run with: it watches, queues requests,
// makes a pass for each, and tells of it in log, metrics, flight recorder and
// Events. It knows no machine and asks no question about a state.
package house

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// House is what all machines of a process share.
type House struct {
	Events   *events.Writer
	Recorder *recorder.Recorder
	// Clock tells the time, which may be set back; Queue never goes back and times what is to be looked at again.
	Clock, Queue clock.WithTicker

	watchdog watchdog
}

// New makes what machines share, and has the manager run it. The flight
// recorder is kept in a namespace.
func New(mgr ctrl.Manager, namespace string, wall, queue clock.WithTicker) (*House, error) {
	if err := registerMetrics(); err != nil {
		return nil, fmt.Errorf("registering the metrics of machines: %w", err)
	}
	log := mgr.GetLogger()
	writer, err := events.New(mgr.GetConfig(), mgr.GetHTTPClient(), wall, log.WithName("events"))
	if err != nil {
		return nil, err
	}
	h := &House{
		Events: writer, Clock: wall, Queue: queue,
		Recorder: recorder.New(mgr.GetAPIReader(), mgr.GetClient(), client.ObjectKey{Namespace: namespace, Name: recorder.ConfigMap}, wall, log.WithName("recorder")),
	}
	if err := mgr.AddHealthzCheck("passes", h.watchdog.check); err != nil {
		return nil, err
	}
	watch := func(ctx context.Context) error { return h.watchdog.run(ctx, queue) }
	for _, run := range []manager.RunnableFunc{writer.Run, h.Recorder.Run, watch} {
		if err := mgr.Add(run); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Now is the time as records store it: what is stored as JSON must compare equal to what is read back.
func (h *House) Now() time.Time { return h.Clock.Now().UTC().Truncate(time.Millisecond) }

// tellers are those who tell of a machine's passes.
func (h *House) tellers(name string, states []machine.State, alerts []string, limit *events.Limit) []Teller {
	return []Teller{
		newLogTeller(), newMeter(name, states, alerts), &flightTeller{recorder: h.Recorder, machine: name},
		&eventTeller{tell: limit.Through(h.Events.Tell), machine: name, gathered: map[machine.Key]*events.Moves{}},
	}
}
