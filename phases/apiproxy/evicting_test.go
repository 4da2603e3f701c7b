package apiproxy

import (
	"net"
	"net/http"
	"testing"
)

func TestEvicting_closes_the_oldest_that_asks_nothing(t *testing.T) {
	listener := newEvicting(3)
	closed := make(chan int, 10)
	number := 0
	accept := func() net.Conn {
		number++
		conn := numbered{number: number, closed: closed}
		listener.note(conn, http.StateNew)
		return conn
	}
	expect := func(want ...int) {
		t.Helper()
		for _, want := range want {
			select {
			case got := <-closed:
				if got != want {
					t.Errorf("%d is closed, not %d", got, want)
				}
			default:
				t.Errorf("%d is not closed", want)
			}
		}
		if len(closed) > 0 {
			t.Errorf("%d is closed, too", <-closed)
		}
	}
	first, second, third := accept(), accept(), accept()
	expect()
	listener.note(second, http.StateActive)
	listener.note(second, http.StateIdle)
	accept()
	expect(2)
	// One whose header has not come yet asks as others do.
	accept()
	expect(1)
	// What the server closes makes room.
	listener.note(third, http.StateClosed)
	sixth := accept()
	expect()
	// What shows the token stays, whatever comes, and makes room.
	listener.trust(sixth)
	accept()
	expect()
	accept()
	expect(4)
	// The server has not ended what was done for three that were closed: nothing more is begun for who comes now.
	accept()
	expect(9)
	listener.note(first, http.StateClosed)
	accept()
	expect(5)
}

// numbered is a connection that tells of its end.
type numbered struct {
	net.Conn
	number int
	closed chan int
}

func (n numbered) Close() error {
	n.closed <- n.number
	return nil
}
