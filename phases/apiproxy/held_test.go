package apiproxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
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

// Who does not read what is held must not keep others from their answers.
func TestProxy_gives_up_a_held_answer_that_nobody_reads(t *testing.T) {
	const size = 12 << 20
	proxy, shown := front(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		raw := append(binary.AppendUvarint([]byte{0xa2, 0x06}, size), make([]byte, size)...)
		object := binary.AppendUvarint([]byte("k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12"), uint64(len(raw)))
		_, _ = w.Write(append(object, raw...))
	})
	proxy.patience = 50 * time.Millisecond
	done := make(chan struct{})
	inner := shown.Config.Handler
	shown.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		inner.ServeHTTP(w, r)
	})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", shown.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /api/v1/namespaces/n/configmaps/c HTTP/1.1\r\nHost: localhost\r\nAccept: application/vnd.kubernetes.protobuf\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if _, err := proxy.room.hold(heldLimit); err != nil {
		t.Error("it still takes room")
	}
}

func TestLease_keeps_what_is_still_needed_only(t *testing.T) {
	room := newBudget(4 * heldStep)
	held := &lease{of: room}
	if _, err := held.whole(strings.NewReader(strings.Repeat("x", heldStep-1))); err != nil {
		t.Fatal(err)
	}
	held.keep(heldStep)
	held.keep(2 * heldStep)
	if _, err := room.hold(3 * heldStep); err != nil {
		t.Error(err)
	}
	held.end()
	if _, err := room.hold(heldStep); err != nil {
		t.Error(err)
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
