package apiproxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLease_holds_nothing_after_its_end(t *testing.T) {
	room := newBudget(8 * heldStep)
	held := &lease{of: room}
	if body, err := held.whole(strings.NewReader(strings.Repeat("x", heldStep+1))); err != nil || len(body) != heldStep+1 {
		t.Fatalf("%d, %v", len(body), err)
	}
	held.end()
	if err := held.grow(1); !errors.Is(err, errNoRoom) {
		t.Errorf("it grows after its end: %v", err)
	}
	if release, err := room.hold(8 * heldStep); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

func TestProxy_has_room_for_what_is_made_of_YAML(t *testing.T) {
	proxy, shown := front(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	proxy.room = newBudget(heldStep)
	for _, media := range []string{"application/yaml", "application/yaml; charset", "application/apply-patch+yaml"} {
		body := "a:\n" + strings.Repeat("- a\n", heldStep/100)
		response, _, err := sent{http.MethodPatch, machines + "/m?fieldManager=a", body, http.Header{"Content-Type": {media}}}.to(t, shown)
		if err != nil || response.code != http.StatusTooManyRequests {
			t.Errorf("%s: %v, %v", media, response, err)
		}
	}
}

func TestExchange_leaves_the_connection_to_the_next_request(t *testing.T) {
	x := &exchange{body: lease{of: newBudget(1)}}
	set := 0
	deadline := func(time.Time) error {
		set++
		return nil
	}
	body := &clientBody{from: io.NopCloser(strings.NewReader("ab")), x: x, deadline: deadline}
	if _, err := body.Read(make([]byte, 1)); err != nil || set != 1 {
		t.Fatalf("%d, %v", set, err)
	}
	x.end()
	if _, err := body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) || set != 1 {
		t.Fatalf("%d, %v", set, err)
	}
}
