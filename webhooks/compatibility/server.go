package compatibility

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/crdschema/paths"
	"github.com/capstan-capi/capstan/phases/crdschema/strict"
)

// answerTimeout is how long an answer may take with all that it waits for; API servers wait for 10 seconds.
const answerTimeout = 8 * time.Second

// What is compiled is bounded by the bytes of the texts it was compiled of; in memory it is up to ten times as large, and a
// rule counts as much as it takes.
const (
	needsWeight  = 12 << 20
	judgesWeight = 12 << 20
	keptWeight   = 6 << 20
	ruleWeight   = 5 << 10
	regexpWeight = 50 // of an instruction
)

// turns is how many documents are read, compiled or compared at once: each may take seconds and some hundred MiB, and who
// asks for that needs no more than to reach the port. What is read of a large one is let go of within its turn.
const turns = 2

// Server answers API servers.
type Server struct {
	// Cached has requirements as Slim leaves them, and the metadata of CustomResourceDefinitions. What it lacks, or is
	// behind with, is asked of Live.
	Cached, Live client.Reader
	// Log gets no content of an object.
	Log logr.Logger

	needs  *known[decoded]
	judges *known[*judge.Judge]
	kept   *known[*judge.Kept]
	turns  chan struct{}
	rooms  rooms
	below  below
}

// below is where libraries are entered, which may panic.
type below struct {
	decode   func(*requirementsv1alpha1.CompatibilityRequirementSpec) (*crdschema.Need, error)
	compile  func(*crdschema.Need, string) (*judge.Judge, error)
	keep     func(*definition, string) (*judge.Kept, error)
	validate func(j *judge.Judge, ctx context.Context, now, before *unstructured.Unstructured, subresource string) field.ErrorList
	problems func(ctx context.Context, now, before *requirement) field.ErrorList
}

// decoded is a need, or why there is none: the same text gives the same answer.
type decoded struct {
	need   *crdschema.Need
	err    error
	weight int // bytes of the text
}

// New makes a server, and registers its metrics once in a process.
func New(cached, live client.Reader, log logr.Logger) (*Server, error) {
	if err := registerMetrics(); err != nil {
		return nil, fmt.Errorf("registering the metrics of webhooks: %w", err)
	}
	return &Server{
		Cached: cached, Live: live, Log: log,
		needs: newKnown[decoded](needsWeight), judges: newKnown[*judge.Judge](judgesWeight), kept: newKnown[*judge.Kept](keptWeight),
		turns: make(chan struct{}, turns), rooms: newRooms(),
		below: below{crdschema.Decode, judge.Compile, judge.Keep, (*judge.Judge).Validate, strict.Problems},
	}, nil
}

// Slim is for the cache: it drops what is large and needed once, when a requirement is compiled.
func Slim(object any) (any, error) {
	requirement, is := object.(*requirementsv1alpha1.CompatibilityRequirement)
	if !is {
		return object, nil // one that is gone, and of which the last state is unknown
	}
	requirement.ManagedFields = nil
	delete(requirement.Annotations, corev1.LastAppliedConfigAnnotation)
	requirement.Spec.CompatibilitySchema.CustomResourceDefinition.Data = ""
	return requirement, nil
}

// Handler serves all endpoints by their paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(paths.Requirements, s.serve(endpoint{name: "requirements", judges: s.requirements}))
	mux.Handle(paths.CRDsDeny, s.serve(endpoint{name: "crds", judges: s.crds}))
	mux.Handle(paths.CRDsWarn, s.serve(endpoint{name: "crds", judges: s.crds, warns: true}))
	mux.Handle(paths.Objects, s.serve(endpoint{name: "objects", prefix: paths.Objects, judges: s.objects}))
	mux.Handle(paths.ObjectsWarn, s.serve(endpoint{name: "objects", prefix: paths.ObjectsWarn, judges: s.objects, warns: true}))
	mux.Handle(paths.Prune, s.serve(endpoint{name: "prune", prefix: paths.Prune, judges: s.prune}))
	return mux
}

// call is a request with what its path says.
type call struct {
	admission.Request
	// about is the requirement of a path of objects.
	about paths.Subject
	// warns says that nothing is refused, whoever asks for it.
	warns bool
}

// endpoint is what answers some paths.
type endpoint struct {
	name   string // in metrics and logs
	prefix string // of paths that each name a requirement; none for one path
	judges func(context.Context, call) admission.Response
	warns  bool // never refuses, whatever goes wrong
}

type subjectKey struct{}

// serve answers at an endpoint. Where there is a prefix, any path that names no requirement is not found.
func (s *Server) serve(e endpoint) http.Handler {
	hook := &admission.Webhook{
		Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
			about, _ := ctx.Value(subjectKey{}).(paths.Subject)
			if taken, are := ctx.Value(objectsKey{}).(objects); are {
				taken.into(&request)
			}
			return s.answer(ctx, e, call{request, about, e.warns})
		}),
		// Its own errors quote what could not be decoded.
		LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return logr.Discard() },
	}
	if e.prefix == "" {
		return s.rooms.before(apart(hook))
	}
	inRoom := s.rooms.before(apart(hook))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, is := paths.Parse(e.prefix, r.URL.Path)
		if !is {
			http.NotFound(w, r)
			return
		}
		inRoom.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), subjectKey{}, about)))
	})
}

// inTurn does what is costly when it is its turn. The error is that there was none in time.
func (s *Server) inTurn(ctx context.Context, costly func()) error {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
		costly()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for a turn, of which there are %d: %w", turns, context.Cause(ctx))
	}
}

var errPanic = errors.New("the checker met an error of its own, which it has counted and logged")

type endpointKey struct{}

// answer counts a judgement, and makes an answer of a panic. Where nothing is ever refused, a refusal becomes a warning.
func (s *Server) answer(ctx context.Context, e endpoint, c call) (response admission.Response) {
	began := time.Now()
	ctx = context.WithValue(ctx, endpointKey{}, e.name)
	defer func() {
		if what := recover(); what != nil {
			s.panicked(ctx, what)
			response = admission.Errored(http.StatusInternalServerError, errPanic)
		}
		if e.warns && !response.Allowed {
			response = admission.Allowed("").WithWarnings(append(response.Warnings, cut(response.Result.Message))...)
		}
		count(e.name, c, response, time.Since(began))
	}()
	return e.judges(ctx, c)
}

// met counts the panic that an error tells of, once, and has nothing told of it. Any other error it leaves.
func (s *Server) met(ctx context.Context, err error) error {
	var of *crdschema.PanicError
	if !errors.As(err, &of) {
		return err
	}
	s.panicked(ctx, of)
	return errPanic
}

// panicked counts a panic and logs where, and of what kind: what a panic says may quote an object.
func (s *Server) panicked(ctx context.Context, what any) {
	endpoint, _ := ctx.Value(endpointKey{}).(string)
	stack := debug.Stack()
	if of, is := what.(*crdschema.PanicError); is {
		what, stack = of.What, of.Stack
	}
	panicMetric.WithLabelValues(endpoint).Inc()
	s.Log.Error(errPanic, "A judgement ended in a panic", "endpoint", endpoint, "kind", fmt.Sprintf("%T", what), "stack", string(stack))
}
