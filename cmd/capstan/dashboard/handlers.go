package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/history"
)

// The bounds of what is asked for.
const (
	maxSearch  = 200
	usualLimit = 100
	maxLimit   = 500
	maxOffset  = 1_000_000
)

// planWithin is how long a plan may take: images may have to be fetched.
const planWithin = 10 * time.Minute

// beginSession takes a code for a token.
func (s *Server) beginSession(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r) {
		s.refuse(w, http.StatusUnsupportedMediaType, Problem{Error: "the body is to be JSON, and to say so"})
		return
	}
	var given Code
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&given); err != nil {
		s.refuse(w, http.StatusBadRequest, Problem{Error: "the body cannot be read"})
		return
	}
	session, is, warning := s.sessions.begin(given.Code)
	if warning != "" {
		s.o.Tell(warning)
	}
	if !is {
		s.refuse(w, http.StatusUnauthorized, Problem{Error: "this code is wrong, was used, or is too old", Next: newAddress})
		return
	}
	s.answer(w, session)
}

func (s *Server) listContexts(w http.ResponseWriter, _ *http.Request) {
	all := Contexts{Contexts: []Context{}}
	for _, c := range s.clusters {
		all.Contexts = append(all.Contexts, c.Context)
	}
	s.answer(w, all)
}

func (s *Server) drawDiagrams(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, s.diagrams)
}

// context is the cluster that a request is about; nil after it was refused.
func (s *Server) context(w http.ResponseWriter, r *http.Request) *cluster {
	for _, c := range s.clusters {
		if c.ID == r.PathValue("id") {
			return c
		}
	}
	s.refuse(w, http.StatusNotFound, Problem{Error: "there is no such context here"})
	return nil
}

// asked has a request about a cluster that was read, and wants an answer from memory or by a few requests.
func (s *Server) asked(w http.ResponseWriter, r *http.Request, answer func(context.Context, *cluster, url.Values) (any, error)) {
	c := s.context(w, r)
	if c == nil {
		return
	}
	select {
	case s.requests <- struct{}{}:
		defer func() { <-s.requests }()
	default:
		s.refuse(w, http.StatusTooManyRequests, Problem{Error: "too much is asked at once", Next: "try again"})
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // else the client would count as gone
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, Problem{Error: "the query cannot be read"})
		return
	}
	defer c.use(r.Context())()
	ctx, cancel := context.WithTimeout(r.Context(), 2*c.times.request+grace)
	defer cancel()
	value, err := answer(ctx, c, query)
	var wrong *wrongError
	switch {
	case err == nil:
		s.answer(w, value)
	case errors.As(err, &wrong):
		s.refuse(w, wrong.status, wrong.Problem)
	case errors.Is(err, context.DeadlineExceeded):
		s.refuse(w, http.StatusServiceUnavailable, Problem{Error: "the cluster has not been read yet", Next: "try again"})
	default:
		s.refuse(w, http.StatusBadGateway, problemOf(err))
	}
}

// wrongError is that of who asks.
type wrongError struct {
	Problem

	status int
}

func (e *wrongError) Error() string { return e.Problem.Error }

func wrong(status int, why string) error {
	return &wrongError{status: status, Problem: Problem{Error: why}}
}

// numberIn is a parameter that is a number, or what is usual where it is left out.
func numberIn(query url.Values, name string, usual, most int64) (int64, error) {
	text := query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, wrong(http.StatusBadRequest, name+" is to be a number from 0 to "+strconv.FormatInt(most, 10))
	}
	return n, nil
}

// wantedIn is the part of a list that a query asks for.
func wantedIn(query url.Values) (wanted, error) {
	offset, err := numberIn(query, "offset", 0, maxOffset)
	if err != nil {
		return wanted{}, err
	}
	limit, err := numberIn(query, "limit", usualLimit, maxLimit)
	if err != nil {
		return wanted{}, err
	}
	search := query.Get("search")
	if len(search) > maxSearch {
		return wanted{}, wrong(http.StatusBadRequest, "search is to have 200 characters at most")
	}
	return wanted{search: strings.ToLower(search), offset: int(offset), limit: int(limit)}, nil
}

// rosterIn is the roster of the family that a query names, as soon as it is known.
func rosterIn(ctx context.Context, c *cluster, query url.Values) (*roster, error) {
	r := c.roster(query.Get("machine"))
	if r == nil {
		return nil, wrong(http.StatusNotFound, "there is no such family of machines")
	}
	for {
		news := c.newsNow()
		if r.isRead() {
			return r, nil
		}
		if err := c.trouble(); err != nil {
			return nil, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *Server) listFamily(w http.ResponseWriter, r *http.Request) {
	s.asked(w, r, func(ctx context.Context, c *cluster, query url.Values) (any, error) {
		want, err := wantedIn(query)
		if err != nil {
			return nil, err
		}
		of, err := rosterIn(ctx, c, query)
		if err != nil {
			return nil, err
		}
		return of.instances(machine.State(query.Get("state")), want), nil
	})
}

func (s *Server) showInstance(w http.ResponseWriter, r *http.Request) {
	s.asked(w, r, func(ctx context.Context, c *cluster, query url.Values) (any, error) {
		of, err := rosterIn(ctx, c, query)
		if err != nil {
			return nil, err
		}
		key := query.Get("key")
		one, is := of.instance(machine.Key(key))
		if !is {
			return nil, wrong(http.StatusNotFound, "nothing is known of this instance: it is gone, or the operator does not name it")
		}
		return one, nil
	})
}

func (s *Server) listObjects(w http.ResponseWriter, r *http.Request) {
	s.asked(w, r, func(ctx context.Context, c *cluster, query url.Values) (any, error) {
		want, err := wantedIn(query)
		if err != nil {
			return nil, err
		}
		revision, err := numberIn(query, "revision", 0, 1<<62)
		if err != nil {
			return nil, err
		}
		wave, err := numberIn(query, "wave", 0, 1<<31)
		if err != nil {
			return nil, err
		}
		of := c.shelf()
		if err := of.read(ctx, c); err != nil {
			return nil, err
		}
		return of.find(revision, int(wave), want), nil
	})
}

func (s *Server) showHistory(w http.ResponseWriter, r *http.Request) {
	s.asked(w, r, func(ctx context.Context, c *cluster, _ url.Values) (any, error) {
		conn, err := c.connection()
		if err != nil {
			return nil, err
		}
		told, err := within(ctx, c.reads, c.times.request, func(ctx context.Context) (history.History, error) { return conn.reader.History(ctx, c.namespace) })
		if err != nil {
			return nil, explain(err, conn.config, c.times.request, "get", "ConfigMap "+history.ConfigMap)
		}
		return told, nil
	})
}

// makePlan makes one, which ends with the request. It looks at the cluster with dry runs at most, as `capstan plan` does.
func (s *Server) makePlan(w http.ResponseWriter, r *http.Request) {
	c := s.context(w, r)
	if c == nil {
		return
	}
	if !isJSON(r) {
		s.refuse(w, http.StatusUnsupportedMediaType, Problem{Error: "the body is to be JSON, and to say so"})
		return
	}
	to := http.NewResponseController(w)
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		s.refuse(w, http.StatusBadRequest, Problem{Error: "the body cannot be read"})
		return
	}
	_ = to.SetReadDeadline(time.Time{}) // else the client would count as gone
	conn, err := c.connection()
	if err != nil {
		s.refuse(w, http.StatusBadGateway, problemOf(err))
		return
	}
	if !c.plans.take() {
		s.refuse(w, http.StatusConflict, Problem{Error: "a plan of this cluster is being made already", Next: "wait for it"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), planWithin)
	defer cancel()
	made, err := taken(ctx, c.plans, func(ctx context.Context) (any, error) { return s.o.Plan(ctx, conn.config) })
	if err != nil {
		c.renew(conn)
		s.refuse(w, http.StatusBadGateway, problemOf(explain(err, conn.config, planWithin, "read", "the inputs of the operator")))
		return
	}
	s.answer(w, made)
}
