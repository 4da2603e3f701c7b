package capiworld

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Ports of the fake API servers and of the endpoints before them are below those that Linux gives to whoever asks for any, so that an
// endpoint that is closed stays free. Each world takes some beside each other: half of them are for the fake servers, the last one says
// that they are taken.
const (
	lowestPort    = 20000
	highestPort   = 32000
	portsOfAWorld = 1000
)

// ports are those of a world, from the first on. Whoever listens on the last one has all of them, until it is closed: worlds that begin at
// the same time see each other's endpoints too late.
type ports struct {
	first int
	taken net.Listener
}

// takePorts takes the ports of a world. Where it looks first depends on the process, since several look at a time.
func takePorts() (ports, error) {
	ranges := (highestPort - lowestPort) / portsOfAWorld
	for i := range ranges {
		first := lowestPort + (os.Getpid()+i)%ranges*portsOfAWorld
		taken, err := net.Listen("tcp", loopback(first+portsOfAWorld-1))
		if err != nil {
			continue
		}
		if free(first) && free(first+1) && free(first+portsOfAWorld/2) {
			return ports{first: first, taken: taken}, nil
		}
		if err := taken.Close(); err != nil {
			return ports{}, fmt.Errorf("giving a range of ports back: %w", err)
		}
	}
	return ports{}, errors.New("no range of ports is free")
}

// give gives the ports back, if there are any.
func (p ports) give() error {
	if p.taken == nil {
		return nil
	}
	return p.taken.Close()
}

func free(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	return err == nil && listener.Close() == nil
}
