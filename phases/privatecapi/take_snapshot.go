package privatecapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// TakeSnapshot notes in the journal what the source was.
func (p *Pass) TakeSnapshot(ctx context.Context) (machine.Result, error) {
	if p.facts.Snapshot.IsDone() || p.lacksLock() {
		return p.send(ctx, "")
	}
	j := p.take()
	note, err := json.Marshal(j)
	if err != nil {
		return machine.Result{}, machine.Terminal(fmt.Errorf("writing the journal: %w", err))
	}
	err = p.Journal.StoreNote(ctx, p.Key, p.noted, note)
	if isAway(err) {
		p.outage(p.Key, p.record.Since, err, nil)
		return machine.Result{LookAgain: soon}, nil
	}
	if err != nil {
		return machine.Result{}, fmt.Errorf("writing the journal: %w", err)
	}
	return machine.Result{Did: fmt.Sprintf("counted %d objects", j.total()), LookAgain: soon}, nil
}
