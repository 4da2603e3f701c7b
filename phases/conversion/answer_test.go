package conversion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sync/semaphore"
	"k8s.io/utils/clock"
)

// routed is a shim with a room and one route, whose server answers every admission with so many bytes of a warning.
func routed(t *testing.T, room int64, warning int) *Shim {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"warnings":[%q]}}`, strings.Repeat("a", warning))
	}))
	t.Cleanup(server.Close)
	text, err := json.Marshal(map[string]any{"routes": []Route{{Name: "core", URL: server.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "routes.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	routes, err := ReadRoutes(file, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(nil, routes, clock.RealClock{}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	s.room = semaphore.NewWeighted(room)
	return s
}

func TestShim_weighs_what_a_route_answers_beyond_its_review(t *testing.T) {
	const review = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","kind":{"group":"","version":"v1","kind":"A"}}}`
	for name, row := range map[string]struct {
		room    int64
		warning int
		code    int
	}{
		"a short answer":                     {1 << 20, 100, http.StatusOK},
		"a long one for which there is room": {16 << 20, 1 << 20, http.StatusOK},
		"a long one for which there is none": {1 << 20, 1 << 20, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := routed(t, row.room, row.warning)
			recorder := httptest.NewRecorder()
			s.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/admit/core/validate", strings.NewReader(review)))
			if recorder.Code != row.code {
				t.Errorf("answered %d %.200s", recorder.Code, recorder.Body)
			}
			if !s.room.TryAcquire(row.room) {
				t.Error("room is not given back")
			}
		})
	}
}
