package conversion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/semaphore"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/privatecrds"
)

const (
	// answerTimeout is how long an answer may take with all its tries; API servers wait for 10 seconds for an admission.
	answerTimeout = 8 * time.Second
	// maxBody bounds a review and the answer to one. API servers have whole lists converted at once.
	maxBody = 128 << 20
)

// Converter converts an object, as JSON in standard text, into the version desired, given as group/version. It may panic.
type Converter func(object []byte, desired string) ([]byte, error)

// Shim answers API servers.
type Shim struct {
	convert Converter
	routes  *Routes
	clock   clock.WithTicker
	log     logr.Logger
	room    *semaphore.Weighted // in bytes
	decoded *semaphore.Weighted // in bytes of the objects that are being converted
}

// New makes a shim, and registers its metrics once in a process. The log gets no content of an object.
func New(convert Converter, routes *Routes, c clock.WithTicker, log logr.Logger) (*Shim, error) {
	if err := registerMetrics(); err != nil {
		return nil, fmt.Errorf("registering the metrics of the shim: %w", err)
	}
	return &Shim{
		convert: convert, routes: routes, clock: c, log: log,
		room: semaphore.NewWeighted(maxRoom), decoded: semaphore.NewWeighted(maxObject),
	}, nil
}

// Handler serves all endpoints by their paths.
func (s *Shim) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(privatecrds.ConvertPath, s.serve("convert", s.convertHere))
	mux.Handle(privatecrds.ConvertPath+"/{route}/{path...}", s.serve("convert", s.convertThere))
	mux.Handle(privatecrds.AdmitPath+"/{route}/{path...}", s.serve("admit", s.admit))
	return mux
}

// asked is a request, read.
type asked struct {
	body  []byte
	route string // none where the shim answers by itself
	path  string
	held  *lease
}

// reason is why there is no good answer, as a label of metrics.
type reason string

const (
	malformed  reason = "malformed"
	unknown    reason = "route"
	away       reason = "delegate"
	refused    reason = "refused"
	impossible reason = "conversion"
	crowded    reason = "crowded"
	internal   reason = "panic"
)

// failure is an error that knows its reason, and whether it stands in an answer to the review.
type failure struct {
	reason reason
	code   int // of HTTP
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failed(reason reason, code int, format string, args ...any) *failure {
	return &failure{reason, code, fmt.Errorf(format, args...)}
}

// serve reads a request, has it answered in time, and counts it. The answer is JSON, and may tell of a failure that is counted, too.
func (s *Shim) serve(endpoint string, answer func(context.Context, asked) ([]byte, *failure)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.clock.Now()
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		a := asked{route: r.PathValue("route"), path: "/" + r.PathValue("path")}
		if a.route != "" && !strings.HasSuffix(r.URL.EscapedPath(), "/"+a.route+a.path) {
			http.Error(w, "the path is not the same when it is decoded; nobody is asked", http.StatusBadRequest)
			return
		}
		var text []byte
		var wrong *failure
		held := &lease{of: s.room}
		a.held = held
		defer held.end()
		// Where the connection cannot have a deadline, as in a test, nobody waits on it either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(answerTimeout))
		if a.body, wrong = held.read(ctx, r); wrong == nil {
			text, wrong = s.recovered(ctx, endpoint, a, answer)
		}
		count(endpoint, s.routes.label(a.route), wrong, s.clock.Since(began))
		if wrong != nil {
			s.log.Info("A review has no good answer", "endpoint", endpoint, "route", a.route, "reason", string(wrong.reason))
		}
		if text == nil {
			http.Error(w, wrong.Error(), wrong.code)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// Who is gone has no use for an error.
		_, _ = w.Write(text)
	})
}

// recovered makes a failure of a panic.
func (s *Shim) recovered(ctx context.Context, endpoint string, a asked, answer func(context.Context, asked) ([]byte, *failure)) (text []byte, wrong *failure) {
	defer func() {
		if what := recover(); what != nil {
			// What a panic says may quote an object.
			s.log.Error(errors.New("the shim met an error of its own"), "An answer ended in a panic", "endpoint", endpoint, "kind", fmt.Sprintf("%T", what))
			text, wrong = nil, failed(internal, http.StatusInternalServerError, "the shim met an error of its own, which it has counted and logged")
		}
	}()
	return answer(ctx, a)
}
