package payload

import "time"

// Lifetime is how long a payload is valid after what it is sealed with was stored.
const Lifetime = 24 * time.Hour

// Payload is what the machines of a cluster are started with: Ignition configs of spec 3.2.0, which Ignition has parsed.
type Payload struct {
	// Bootstrap is a full config; the other two point at the machine-config server.
	Bootstrap, Master, Worker []byte
}

// Outlives says whether a payload that is valid until a time is so at the deadline of the bootstrap.
func Outlives(notAfter, deadline time.Time) bool { return !notAfter.Before(deadline) }
