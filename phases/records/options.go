package records

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// Options say how a family is kept in ConfigMaps.
type Options struct {
	// Live must read from the API server itself.
	Live   client.Reader
	Writer client.Writer
	// Clock times what waits. One that is set back holds nothing up.
	Clock clock.Clock

	Namespace string
	// Name is what the names of the ConfigMaps begin with, before a dash.
	Name string
	// Shards is how many ConfigMaps there are, each with a number in hexadecimal digits; zero for one for each instance.
	Shards uint32

	// Entry is how many bytes record and note of an instance take together at most, of which a note takes a third; zero
	// for as many as the engine lets a record take.
	Entry int
	// Transitions is how many of them are kept of a record; zero for all.
	Transitions int
	// Keep says that a record is worth being stored: that looking at the world again would not lead to it. Nil for all.
	Keep func(machine.Record) bool
	// Worth says that a note is not expired: one that is goes with the next write of its ConfigMap. It must be quick, and
	// must not call the store. Nil for all.
	Worth func(note json.RawMessage) bool

	// Late is how long a record may wait for a write that takes it along; zero for not at all.
	Late time.Duration
	// Gather is how long a note waits for others that are written together with it, and then for as long as notes come one
	// soon after the other, to whichever ConfigMap: passes that are under way side by side end in one write for each of them,
	// however long the machine takes for them. A pause that is long beside those before it ends that, a third of Gather at least.
	// It waits forty times as long at most.
	Gather time.Duration

	// Wake is told the key of each note that was offered, once it is stored or is not; nil for nobody.
	Wake func(machine.Key)
	// Tell is told, once for each time that it is found, what is amiss with a ConfigMap: that it is lost, or that something
	// in it is spoilt, and what comes of that. It must be quick, and must not call the store. Nil for nobody.
	Tell func(configMap client.ObjectKey, what string)
}

// completed are options without anything that is nil or zero and stands for something else.
func (o Options) completed() Options {
	if o.Entry == 0 {
		o.Entry = maxEntry
	}
	if o.Keep == nil {
		o.Keep = func(machine.Record) bool { return true }
	}
	if o.Worth == nil {
		o.Worth = func(json.RawMessage) bool { return true }
	}
	if o.Wake == nil {
		o.Wake = func(machine.Key) {}
	}
	if o.Tell == nil {
		o.Tell = func(client.ObjectKey, string) {}
	}
	return o
}

// maxNote is how long a note may be, in bytes.
func (o *Options) maxNote() int { return o.Entry / 3 }

// worthy is a note, or nil if it is expired.
func (o *Options) worthy(note json.RawMessage) json.RawMessage {
	if len(note) == 0 || !o.Worth(note) {
		return nil
	}
	return note
}

// sleep returns after a time, or when something else is done, or with why it may not wait any longer.
func (o *Options) sleep(ctx context.Context, long time.Duration, done <-chan struct{}) error {
	if long <= 0 {
		return ctx.Err()
	}
	timer := o.Clock.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
