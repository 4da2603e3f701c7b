package cluster_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestAReservedPortIsForAServerThatIsStartedLaterAndAgain(t *testing.T) {
	c := shared(t)
	var address string
	if err := c.ReserveAddresses(&address); err != nil {
		t.Fatal(err)
	}
	from, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		connection, err := (&net.Dialer{LocalAddr: from}).Dial("tcp", strings.TrimPrefix(c.Config().Host, "https://"))
		if err == nil {
			connection.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("dialing from a reserved port: %v", err)
		}
		server, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := net.Listen("tcp", address); err == nil {
			second.Close()
			t.Error("two listen on it")
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
