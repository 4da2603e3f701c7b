package apiproxy

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// slow is a connection whose writes each wait until they are let, and are told.
type slow struct {
	net.Conn
	let   chan error
	wrote chan string
}

func newSlow() *slow { return &slow{let: make(chan error), wrote: make(chan string, 64)} }

func (s *slow) Write(b []byte) (int, error) {
	s.wrote <- string(b)
	if err := <-s.let; err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *slow) Close() error { return nil }

func TestTogether_sends_as_one_what_is_written_meanwhile(t *testing.T) {
	below := newSlow()
	conn := newTogether(below)
	defer conn.Close()
	write(t, conn, "a")
	if got := <-below.wrote; got != "a" {
		t.Errorf("%q is sent", got)
	}
	write(t, conn, "b", "c", "d")
	below.let <- nil
	if got := <-below.wrote; got != "bcd" {
		t.Errorf("%q is sent", got)
	}
	below.let <- nil
}

func TestTogether_keeps_the_order_of_what_many_write(t *testing.T) {
	here, there := net.Pipe()
	conn := newTogether(here)
	var writers sync.WaitGroup
	for _, text := range []string{"a", "b", "c"} {
		writers.Go(func() {
			for range 1000 {
				write(t, conn, text+strings.ToUpper(text))
			}
		})
	}
	got := make([]byte, 6000)
	if _, err := io.ReadFull(there, got); err != nil {
		t.Fatal(err)
	}
	writers.Wait()
	for at := 0; at < len(got); at += 2 {
		if strings.ToUpper(string(got[at:at+1])) != string(got[at+1:at+2]) {
			t.Fatalf("%q is torn apart", got[at:at+2])
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestTogether_has_who_writes_too_much_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newSlow()
		conn := newTogether(below)
		write(t, conn, "a")
		synctest.Wait()
		write(t, conn, strings.Repeat("b", togetherLimit+1))
		done := false
		go func() {
			write(t, conn, "c")
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("more is taken than may be held")
		}
		below.let <- nil
		synctest.Wait()
		if !done {
			t.Error("what there is room for is not taken")
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		below.let <- nil
	})
}

func TestTogether_tells_that_the_connection_cannot_be_written_to(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newSlow()
		conn := newTogether(below)
		write(t, conn, "a")
		gone := errors.New("it is gone")
		below.let <- gone
		synctest.Wait()
		if _, err := io.WriteString(conn, "b"); !errors.Is(err, gone) {
			t.Error(err)
		}
	})
}

func TestTogether_takes_nothing_once_it_is_closed(t *testing.T) {
	here, _ := net.Pipe()
	conn := newTogether(here)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(conn, "a"); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
