package act

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// swept is what a look through all kinds finds silent.
func (s *groupsServer) swept(t *testing.T) (silent []string, err error) {
	t.Helper()
	e := s.engine(t)
	announced, err := e.cluster.Reader.DiscoverAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	look := e.newSweep(announced, nil)
	_, err = look.find(t.Context(), nil)
	return slices.Sorted(maps.Keys(look.silent)), err
}

func TestSweep_takes_every_other_error_of_another_server_for_silence(t *testing.T) {
	for name, row := range map[string]struct {
		answer answer
		silent bool
	}{
		"too many requests":  {refused(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests), true},
		"unauthorized":       {refused(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), true},
		"expired":            {refused(http.StatusGone, metav1.StatusReasonExpired), true},
		"an internal error":  {refused(http.StatusInternalServerError, metav1.StatusReasonInternalError), true},
		"half a list":        {answer{status: http.StatusOK, body: `{"kind":`, cut: io.ErrUnexpectedEOF}, true},
		"a request given up": {answer{status: http.StatusOK, cut: givenUpError{}}, true},
		"forbidden":          {refused(http.StatusForbidden, metav1.StatusReasonForbidden), true},
		"no list":            {ok("<html>"), false},
		"a list":             {of(), false},
	} {
		silent, err := (&groupsServer{lists: map[string]answer{"copys": row.answer}}).swept(t)
		if want := row.silent; err != nil || slices.Equal(silent, []string{"other.test"}) != want || !want && len(silent) > 0 {
			t.Errorf("%s: silent are %v, %v", name, silent, err)
		}
	}
}

func TestSweep_fails_with_kube_apiserver(t *testing.T) {
	for name, told := range map[string]answer{
		"too many requests": refused(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests),
		"half a list":       {status: http.StatusOK, body: `{"kind":`, cut: io.ErrUnexpectedEOF},
	} {
		for _, kind := range []string{"secrets", "things"} {
			if silent, err := (&groupsServer{lists: map[string]answer{kind: told}}).swept(t); err == nil {
				t.Errorf("%s of %s: silent are %v, and there is no error", name, kind, silent)
			}
		}
	}
}

func TestSweep_ends_with_its_pass(t *testing.T) {
	s := &groupsServer{}
	e := s.engine(t)
	announced, err := e.cluster.Reader.DiscoverAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	look := e.newSweep(announced, nil)
	if _, err := look.find(ctx, nil); err == nil || len(look.silent) > 0 {
		t.Errorf("%v, silent are %v", err, look.silent)
	}
}

func TestSweep_gives_a_group_of_another_server_one_bound_of_time_and_asks_no_more_after_a_silence(t *testing.T) {
	slow, never, broken := answer{status: http.StatusOK, body: of().body, after: 50 * time.Second}, answer{after: time.Hour}, answer{status: http.StatusBadGateway}
	for name, row := range map[string]struct {
		lists map[string]answer
		asked int
	}{
		"kind after kind":  {map[string]answer{"copys": slow, "mores": slow, "deeds": slow}, 2},
		"no answer at all": {map[string]answer{"copys": never, "mores": never, "deeds": never}, 1},
		"a silence":        {map[string]answer{"copys": broken, "mores": broken}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, s := time.Now(), &groupsServer{lists: row.lists}
				silent, err := s.swept(t)
				if err != nil || !slices.Contains(silent, "other.test") {
					t.Errorf("%v, %v", silent, err)
				}
				if took := time.Since(begun); took > groupTimeout {
					t.Errorf("it took %s", took)
				}
				if asked := s.asked["copys"] + s.asked["mores"]; asked != row.asked {
					t.Errorf("it was asked %v", s.asked)
				}
			})
		})
	}
}
