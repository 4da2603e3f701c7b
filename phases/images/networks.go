package images

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"k8s.io/utils/clock"
)

const (
	// networksKept is how long the networks of the cluster are believed before they are asked for again.
	networksKept = 10 * time.Minute
	// networksTimeout bounds asking for the networks of the cluster.
	networksTimeout = 10 * time.Second
)

// networks are those of the cluster's pods and services, where no registry may send requests on to: CRI-O, which runs on
// the node, does not resolve the names of services, so what it pulls has no need of them. They are asked for when a
// registry sends on to another host, and not before. A network that the cluster gets meanwhile counts ten minutes later.
type networks struct {
	look  func(context.Context) ([]netip.Prefix, error) // nil: there are none
	clock clock.PassiveClock
	turn  chan struct{} // has room for the one who looks

	known []netip.Prefix
	until time.Time
}

func newNetworks(look func(context.Context) ([]netip.Prefix, error), clk clock.PassiveClock) *networks {
	return &networks{look: look, clock: clk, turn: make(chan struct{}, 1)}
}

// now returns the networks. A failure is not kept: the next one who needs them asks again.
func (n *networks) now(ctx context.Context) ([]netip.Prefix, error) {
	if n.look == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, networksTimeout)
	defer cancel()
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if n.clock.Now().Before(n.until) {
		return n.known, nil
	}
	known, err := n.look(ctx)
	if err != nil {
		return nil, err
	}
	n.known, n.until = known, n.clock.Now().Add(networksKept)
	return known, nil
}

// refusal is why no request may be sent on to host, as it is written. A name is judged by the addresses that it resolves to.
func (n *networks) refusal(ctx context.Context, host, hostname string) error {
	if !isAddress(hostname) {
		return nil
	}
	inside, err := n.now(ctx)
	if err != nil {
		return &unknownNetworksError{host: host, err: err}
	}
	return refusalOf(inside, host, hostname)
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func refusalOf(inside []netip.Prefix, host, hostname string) error {
	address, err := netip.ParseAddr(hostname)
	if err != nil || isInner(hostname) {
		return &innerError{host: host}
	}
	for _, network := range inside {
		if network.Contains(address.Unmap().WithZone("")) {
			return &innerError{host: host, network: network}
		}
	}
	return nil
}

// unknownNetworksError is about a host of which nobody can tell whether it is in a network of the cluster.
type unknownNetworksError struct {
	host string
	err  error
}

func (e *unknownNetworksError) Error() string {
	return fmt.Sprintf("it sends requests on to %s, and nobody can tell whether that is in a network of the cluster's pods or services: %v; "+
		"it is tried again by itself", e.host, e.err)
}

func (e *unknownNetworksError) Unwrap() error { return e.err }
