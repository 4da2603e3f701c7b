package cluster

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a loopback TCP port that nobody else can take: a socket stays bound to
// it, without listening, for as long as the reservation lasts. A server that
// sets SO_REUSEPORT may listen on it, die, and listen on it again.
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
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, fmt.Errorf("setting SO_REUSEPORT: %w", err)
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
