package house

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/machine"
)

// maxStack bounds the stack that is logged of a panic, in bytes.
const maxStack = 16 << 10

// logTeller logs moves, what work has done, and errors. An error that was logged
// last is not logged again before another one, or a pass without an error. Errors
// are cut to the length of a message: two that differ only beyond it are the same.
type logTeller struct {
	sync.Mutex
	seed maphash.Seed
	// said are hashes of what was logged last.
	said map[machine.Key]uint64
}

func newLogTeller() *logTeller {
	return &logTeller{seed: maphash.MakeSeed(), said: map[machine.Key]uint64{}}
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
	text := machine.Shorten(err.Error(), machine.MaxMessage)
	if l.isNew(p.Key, fmt.Sprint(message, p.Outcome.State, text)) {
		if panicked, is := errors.AsType[*machine.PanicError](err); is {
			logger = logger.WithValues("stack", machine.ShortenLines(string(panicked.Stack), maxStack))
		}
		logger.Info(message, "state", p.Outcome.State, "work", p.Outcome.Work, "error", text, "terminal", machine.IsTerminal(err))
	}
	return 0
}

func (l *logTeller) isNew(key machine.Key, text string) bool {
	hash := maphash.String(l.seed, text)
	l.Lock()
	defer l.Unlock()
	if said, is := l.said[key]; is && said == hash {
		return false
	}
	l.said[key] = hash
	return true
}

// Forget has the next error logged, whatever it is.
func (l *logTeller) Forget(key machine.Key) {
	l.Lock()
	defer l.Unlock()
	delete(l.said, key)
}
