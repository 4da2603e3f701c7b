package apiproxy

import (
	"net"
	"net/http"
	"testing"
)

// accepted is a listener of connections that are there.
type accepted struct {
	net.Listener
	conns chan net.Conn
}

func (a accepted) Accept() (net.Conn, error) { return <-a.conns, nil }

func TestEvicting_closes_the_oldest_that_asks_nothing(t *testing.T) {
	listener := &evicting{Listener: accepted{conns: make(chan net.Conn, 1)}, limit: 3}
	closed := make(chan int, 10)
	number := 0
	accept := func() net.Conn {
		number++
		listener.Listener.(accepted).conns <- numbered{number: number, closed: closed}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
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
	noteState(first, http.StateActive)
	fourth := accept()
	expect(2)
	noteState(first, http.StateIdle)
	fifth := accept()
	expect(1)
	// What the server closes makes room.
	_ = second.Close()
	_ = third.Close()
	expect(2, 3)
	sixth := accept()
	expect()
	for _, conn := range []net.Conn{fourth, fifth, sixth} {
		noteState(conn, http.StateActive)
	}
	accept()
	expect(4)
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
