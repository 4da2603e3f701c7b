package apiproxy

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// acknowledge bounds how long the other side of a connection may acknowledge nothing of what is sent; 0 leaves it to the kernel, for
// which that is 15 minutes.
func acknowledge(conn net.Conn, within time.Duration) {
	tcp, is := conn.(*net.TCPConn)
	if !is {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(within.Milliseconds())) // a kernel that does not know it has its own bound
	})
}
