package house

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/machine"
)

// logTeller logs moves, what work has done, and errors. An error that was logged
// last is not logged again before another one, or a pass without an error.
type logTeller struct {
	sync.Mutex
	said map[machine.Key]string
}

// Tell logs with the logger of the request.
func (l *logTeller) Tell(ctx context.Context, p Pass) time.Duration {
	logger := log.FromContext(ctx)
	if made := p.Outcome.Moved; made != nil {
		logger.Info("moved", "from", made.From, "event", made.Event, "state", made.To, "cause", made.Cause, "after", made.Seconds, "did", p.Outcome.Did)
	} else if p.Outcome.Did != "" {
		logger.Info("worked", "state", p.Outcome.State, "work", p.Outcome.Work, "did", p.Outcome.Did)
	}
	message, err := "", p.Err
	switch {
	case p.Err != nil:
		message = "The pass could not be made"
	case p.Outcome.Failure != nil:
		message, err = "The work met an error", p.Outcome.Failure
	}
	if err == nil {
		l.Forget(p.Key)
		return 0
	}
	if l.isNew(p.Key, fmt.Sprint(message, p.Outcome.State, err)) {
		logger.Info(message, "state", p.Outcome.State, "work", p.Outcome.Work, "error", err.Error(), "terminal", machine.IsTerminal(err))
	}
	return 0
}

func (l *logTeller) isNew(key machine.Key, text string) bool {
	l.Lock()
	defer l.Unlock()
	if l.said[key] == text {
		return false
	}
	l.said[key] = text
	return true
}

// Forget has the next error logged, whatever it is.
func (l *logTeller) Forget(key machine.Key) {
	l.Lock()
	defer l.Unlock()
	delete(l.said, key)
}
