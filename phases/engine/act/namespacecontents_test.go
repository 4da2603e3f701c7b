package act

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNamespaceContents_another_server_has_no_say_about_kube_apiservers_objects(t *testing.T) {
	const mine = `{"metadata":{"namespace":"old","name":"mine","uid":"1"}}`
	const owned = `{"metadata":{"namespace":"old","name":"mine","uid":"1","ownerReferences":[{"apiVersion":"other.test/v1","kind":"Copy","name":"x","uid":"2"}]}}`
	for name, row := range map[string]struct {
		lists map[string]answer
		want  string
	}{
		"an honest copy":           {map[string]answer{"secrets": of(mine), "copys": of(mine)}, "1 object"},
		"a copy that has an owner": {map[string]answer{"secrets": of(mine), "copys": of(owned), "mores": of(owned)}, "1 object"},
		"a copy of what has one":   {map[string]answer{"secrets": of(owned), "copys": of(mine)}, ""},
		"what nobody else serves":  {map[string]answer{"copys": of(mine)}, "1 object"},
		"what another one disowns": {map[string]answer{"copys": of(mine), "deeds": of(owned)}, "1 object"},
		"beside another version":   {map[string]answer{"things": of(mine), "readings": of(owned), "copys": of(owned)}, "1 object"},
		"an empty namespace":       {nil, ""},
	} {
		if got, err := (&groupsServer{lists: row.lists}).contents(t); err != nil || got != row.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
}

func TestNamespaceContents_is_empty_only_where_every_list_says_so(t *testing.T) {
	const failed, retained, empty = "failed", "retained", "empty"
	endless := ok(`{"kind":"PartialObjectMetadataList","metadata":{"continue":"x"},"items":[]}`)
	again := ok(`{"kind":"PartialObjectMetadataList","metadata":{"continue":"x"},"items":[{"metadata":{"name":"default","uid":"1","ownerReferences":[{"apiVersion":"v1","kind":"Secret"}]}}]}`)
	for name, row := range map[string]struct {
		answer            answer
		own, crd, another string
	}{
		"not found":           {refused(http.StatusNotFound, metav1.StatusReasonNotFound), failed, empty, retained},
		"no such verb":        {refused(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed), failed, empty, retained},
		"bad request":         {refused(http.StatusBadRequest, metav1.StatusReasonBadRequest), failed, retained, retained},
		"not acceptable":      {refused(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable), failed, retained, retained},
		"unsupported":         {refused(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType), failed, retained, retained},
		"no JSON":             {ok("<html>"), failed, retained, retained},
		"an object":           {ok(`{"kind":"Secret","metadata":{"name":"x"}}`), failed, retained, retained},
		"a list with no end":  {endless, failed, retained, retained},
		"a page that repeats": {again, failed, retained, retained},
		"forbidden":           {refused(http.StatusForbidden, metav1.StatusReasonForbidden), retained, retained, retained},
		"an internal error":   {refused(http.StatusInternalServerError, metav1.StatusReasonInternalError), retained, retained, retained},
		"too slow":            {refused(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), failed, failed, retained},
		"a bad gateway":       {refused(http.StatusBadGateway, ""), retained, retained, retained},
		"too many requests":   {refused(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests), failed, failed, retained},
		"unauthorized":        {refused(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), failed, failed, retained},
		"expired":             {refused(http.StatusGone, metav1.StatusReasonExpired), failed, failed, retained},
		"half a list":         {answer{status: http.StatusOK, body: `{"kind":`, cut: io.ErrUnexpectedEOF}, failed, failed, retained},
		"a stream that ends":  {answer{status: http.StatusOK, cut: errCut}, failed, failed, retained},
		"given up":            {answer{status: http.StatusOK, cut: givenUpError{}}, failed, failed, retained},
	} {
		for whose, want := range map[string]string{"secrets": row.own, "things": row.crd, "copys": row.another} {
			got, err := (&groupsServer{lists: map[string]answer{whose: row.answer}}).contents(t)
			switch {
			case want == failed && err == nil, want != failed && err != nil, want == retained && !strings.Contains(got, "what nobody can tell"), want == empty && got != "":
				t.Errorf("%s, %s: %q, %v; want %s", name, whose, got, err, want)
			}
		}
	}
}

func TestNamespaceContents_says_what_to_do_about_what_nobody_can_tell(t *testing.T) {
	down := refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	for name, row := range map[string]struct {
		lists map[string]answer
		want  []string
	}{
		"a kind that may not be read":         {map[string]answer{"secrets": refused(http.StatusForbidden, metav1.StatusReasonForbidden)}, []string{"the operator may not list secrets in namespace ", ": let it (verb list), or look yourself"}},
		"a conversion that fails":             {map[string]answer{"things": refused(http.StatusInternalServerError, metav1.StatusReasonInternalError)}, []string{"things.crd.test cannot be read: ", "; repair what serves it"}},
		"a server that is down":               {map[string]answer{"copys": down}, []string{"copys.other.test cannot be read: ", "; repair what serves it"}},
		"a server that has no list of a kind": {map[string]answer{"copys": refused(http.StatusNotFound, metav1.StatusReasonNotFound)}, []string{"copys.other.test cannot be read: ", "; repair what serves it"}},
	} {
		got, err := (&groupsServer{lists: row.lists}).contents(t)
		if err != nil || !strings.HasPrefix(got, "what nobody can tell, because "+row.want[0]) || !strings.HasSuffix(got, row.want[1]) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
}

func TestNamespaceContents_asks_a_server_that_does_not_answer_only_once(t *testing.T) {
	slow := refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	s := &groupsServer{lists: map[string]answer{"copys": slow, "mores": slow}}
	if got, err := s.contents(t); err != nil || !strings.Contains(got, "other.test cannot be read") {
		t.Errorf("%q, %v", got, err)
	}
	if asked := s.asked["copys"] + s.asked["mores"]; asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

// endlessly is an answer after a while that promises another page, each time a new one, and has nothing that counts.
func endlessly(after time.Duration) answer {
	return answer{status: http.StatusOK, after: after, body: `{"kind":"PartialObjectMetadataList","metadata":{"continue":"PAGE"},"items":[{"metadata":{"name":"x","uid":"1","ownerReferences":[{"apiVersion":"v1","kind":"Secret"}]}}]}`}
}

func TestNamespaceContents_gives_a_group_of_another_server_one_bound_of_time_for_all_its_lists(t *testing.T) {
	for name, lists := range map[string]map[string]answer{
		"page after page":  {"copys": endlessly(50 * time.Second)},
		"kind after kind":  {"copys": {status: http.StatusOK, after: 50 * time.Second, body: of().body}, "mores": {status: http.StatusOK, after: 50 * time.Second, body: of().body}},
		"no answer at all": {"mores": {after: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				if got, err := (&groupsServer{lists: lists}).contents(t); err != nil || !strings.Contains(got, "other.test cannot be read") {
					t.Errorf("%q, %v", got, err)
				}
				if took := time.Since(begun); took > groupTimeout {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestNamespaceContents_waits_for_a_definitions_objects_as_long_as_they_take(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := of()
		slow.after = 2 * time.Minute
		if got, err := (&groupsServer{lists: map[string]answer{"things": slow, "secrets": slow}}).contents(t); err != nil || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
