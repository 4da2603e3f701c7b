package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// fault is what may happen to a request.
type fault string

const (
	conflict    fault = "409"
	busy        fault = "429"
	broken      fault = "500"
	resetBefore fault = "reset before it arrives"
	resetAfter  fault = "reset before the answer arrives"
	death       fault = "the engine dies"
)

// weather is what the requests of an engine meet. Watches meet nothing but its death.
type weather struct {
	mu     sync.Mutex
	sent   int           // requests since the last change of weather
	wrote  int           // those of them that may change something
	faults map[int]fault // by number of the request since the last change of weather
	died   func()
	dead   bool
}

// drawFaults are a few faults for the next requests. A server that is busy is rare, because a second is lost each time.
func drawFaults(t *rapid.T) map[int]fault {
	kinds := slices.Repeat([]fault{conflict, broken, resetBefore, resetAfter, death}, 5)
	return rapid.MapOfN(rapid.IntRange(1, 20), rapid.SampledFrom(append(kinds, busy)), 0, 3).Draw(t, "faults")
}

// change makes other weather; died is called when the engine dies of it. It says whether it has died of the one before.
func (w *weather) change(faults map[int]fault, died func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.wrote, w.faults, w.died = 0, 0, faults, died
	return w.dead
}

// writes is how many requests since the last change could have changed something.
func (w *weather) writes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

// next is what the next request meets.
func (w *weather) next(watch, writes bool) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return resetBefore
	}
	if watch {
		return ""
	}
	w.sent++
	if writes {
		w.wrote++
	}
	meets := w.faults[w.sent]
	if meets == death {
		w.dead = true
		w.died()
		return resetAfter
	}
	return meets
}

// wrap is what an engine's requests go through.
func (w *weather) wrap(inner http.RoundTripper) http.RoundTripper {
	return sender(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		writes := r.Method != http.MethodGet && !query.Has("dryRun")
		switch meets := w.next(query.Has("watch"), writes); {
		case meets == conflict && writes:
			return answer(r, apierrors.NewConflict(schema.GroupResource{Resource: "any"}, "any", syscall.EAGAIN))
		case meets == busy:
			return answer(r, apierrors.NewTooManyRequests("the weather is bad", 1))
		case meets == broken:
			return answer(r, apierrors.NewInternalError(syscall.EIO))
		case meets == resetBefore:
			return nil, syscall.ECONNRESET
		case meets == resetAfter:
			response, err := inner.RoundTrip(r)
			if err == nil {
				_ = response.Body.Close()
				err = syscall.ECONNRESET
			}
			return nil, err
		}
		return inner.RoundTrip(r)
	})
}

// answer is the API server's way to say no.
func answer(r *http.Request, said *apierrors.StatusError) (*http.Response, error) {
	status := said.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("writing a status: %w", err)
	}
	response := &http.Response{
		StatusCode: int(status.Code), Status: http.StatusText(int(status.Code)), Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	return response, nil
}
