package act

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// givenUpError is an error of a client that does not wait for ever.
type givenUpError struct{}

func (givenUpError) Error() string { return "the answer did not come" }
func (givenUpError) GivenUp() bool { return true }

func TestRun_begins_no_more_writes_after_one_was_not_answered(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		begins int
	}{
		"all are answered":             {nil, 5},
		"one is refused":               {errors.New("forbidden"), 5},
		"one was given up":             {fmt.Errorf("patching: %w", givenUpError{}), 2},
		"one took longer than it may":  {context.DeadlineExceeded, 2},
		"the operator is told to stop": {context.Canceled, 5},
	} {
		e, begun := seeing(t), 0
		e.cfg.Concurrency = 1
		r := &run{e: e}
		r.each(make([]*job, 5), func(*job) {
			if begun++; begun == 2 {
				r.noteSilence(row.err)
			}
		})
		if begun != row.begins || r.paused() != (row.begins < 5) {
			t.Errorf("%s: %d are begun, want %d", name, begun, row.begins)
		}
	}
}

func TestTodo_what_failed_before_is_tried_last(t *testing.T) {
	p := &plan{}
	var targets []*target
	for _, err := range []error{errors.New("silence"), nil} {
		of := &target{Manifest: &decide.Manifest{}}
		of.err, of.decision = err, &decision{Verdict: decide.Verdict{Action: decide.Created}}
		targets = append(targets, of)
	}
	r := &run{e: seeing(t), p: p}
	if jobs := r.todo(targets, contents); len(jobs) != 2 || jobs[0].t != targets[1] {
		t.Errorf("%d are to do", len(jobs))
	}
}
