package cluster

import (
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// ReservePorts gives each of the numbers a port of the loopback for a program
// beside the cluster. Until the cluster is stopped it is given to nobody who asks
// for any port, be it to listen or to dial; the program may listen on it, end,
// and listen on it again.
func (c *Cluster) ReservePorts(numbers ...*int) error {
	for _, number := range numbers {
		taken, err := reservePort(0)
		if err != nil {
			return err
		}
		*number = taken.number
		c.mu.Lock()
		c.reserved = append(c.reserved, taken)
		c.mu.Unlock()
	}
	return nil
}

// ReserveAddresses gives each a host and a port as of ReservePorts.
func (c *Cluster) ReserveAddresses(addresses ...*string) error {
	for _, address := range addresses {
		var number int
		if err := c.ReservePorts(&number); err != nil {
			return err
		}
		*address = net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	}
	return nil
}

// port is a loopback TCP port that is given to nobody else: a socket stays bound
// to it, without listening, for as long as the reservation lasts. A server that
// sets SO_REUSEADDR or SO_REUSEPORT, of which Go sets the first, may listen on
// it, die, and listen on it again.
type port struct {
	number int
	socket int
}

// reservePort takes any port where it is given none.
func reservePort(wanted int) (port, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return port{}, fmt.Errorf("reserving a port: opening a socket: %w", err)
	}
	number, err := bindTo(socket, wanted)
	if err != nil {
		unix.Close(socket)
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	return port{number: number, socket: socket}, nil
}

func bindTo(socket, wanted int) (int, error) {
	for _, shared := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, shared, 1); err != nil {
			return 0, fmt.Errorf("letting servers listen on it: %w", err)
		}
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Port: wanted, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("binding to port %d of the loopback: %w", wanted, err)
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("asking for the port's number: %w", err)
	}
	return address.(*unix.SockaddrInet4).Port, nil
}

func (p port) release() { unix.Close(p.socket) }
