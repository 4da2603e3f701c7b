package compatibility

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// fixedAtOnce is how many times in a row a configuration is put right at once that somebody keeps changing.
	fixedAtOnce = 10
	// fixedEvery is how often it is put right after that.
	fixedEvery = 10 * time.Second
	// lookAgain is after how long it is looked again at a configuration that was another one than the one seen. Most often the newer one
	// is seen before that; where it was the API server that was in somebody's way, nothing comes.
	lookAgain = time.Second
)

// fights remember how often each configuration was written with the same webhooks as before: somebody has changed it
// between. Lost, they begin anew.
type fights struct {
	mu sync.Mutex
	by map[string]*fight
}

type fight struct {
	webhooks [sha256.Size]byte
	// paid is when all that was written would have been written at the rate that lasts.
	paid time.Time
	// waits says that the last write was held off.
	waits bool
	// missed says that the last write was for another version than the one that is there.
	missed bool
	// failed is the error that the last write met.
	failed error
}

// may says whether a configuration may be written so now.
func (f *fights) may(name string, wanted client.Object, now time.Time) bool {
	webhooks := webhooksIn(wanted)
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.of(name)
	if one.webhooks != webhooks {
		*one = fight{webhooks: webhooks}
	}
	one.missed = false
	if most := now.Add(fixedAtOnce * fixedEvery); one.paid.After(most) {
		one.paid = most // the clock was set back
	}
	if one.waits = one.wait(now) > 0; one.waits {
		return false
	}
	if one.paid.Before(now) {
		one.paid = now
	}
	one.paid = one.paid.Add(fixedEvery)
	return true
}

// wait is after how long the next write is due.
func (f *fight) wait(now time.Time) time.Duration {
	due := f.paid.Add(-(fixedAtOnce - 1) * fixedEvery)
	return min(max(due.Sub(now), 0), fixedEvery)
}

// of is the fight for a configuration. mu is held.
func (f *fights) of(name string) *fight {
	one := f.by[name]
	if one == nil {
		if one = (&fight{}); f.by == nil {
			f.by = map[string]*fight{}
		}
		f.by[name] = one
	}
	return one
}

// left is after how long a write is due that was held off or has missed; zero if none was.
func (f *fights) left(name string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch one := f.by[name]; {
	case one == nil:
		return 0
	case one.waits:
		return max(one.wait(now), time.Millisecond)
	case one.missed:
		return lookAgain
	}
	return 0
}

// rests notes that a configuration is as it is wanted.
func (f *fights) rests(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.by[name]; one != nil {
		one.waits, one.missed, one.failed = false, false, nil
	}
}

// told is what is said of a configuration besides that it is not as wanted.
func (f *fights) told(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.by[name]; one != nil && one.waits && one.failed == nil {
		return "; somebody keeps changing it: it is put right once in " + fixedEvery.String() + " until that ends"
	}
	return ""
}

// refund takes back a write that did not reach the configuration, since it was another one than the one seen.
func (f *fights) refund(name string) {
	f.miss(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.of(name)
	one.paid = one.paid.Add(-fixedEvery)
}

// miss notes that a configuration was another one than the one seen.
func (f *fights) miss(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(name).missed = true
}

// ended notes how the last write ended.
func (f *fights) ended(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(name).failed = err
}

// last is the error that the last write met. While the next one is held off nothing has been repaired.
func (f *fights) last(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of(name).failed
}

func (f *fights) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, name)
}

// webhooksIn is a fingerprint of the webhooks of a configuration.
func webhooksIn(o client.Object) [sha256.Size]byte {
	var of any
	switch is := o.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		of = is.Webhooks
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		of = is.Webhooks
	}
	text, _ := json.Marshal(of) // they are strings and numbers
	return sha256.Sum256(text)
}
