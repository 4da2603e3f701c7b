package bootimage

import (
	"hash/fnv"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// tryEvery is how often writes for a target that has failed are tried, give or take a quarter, so that not all are tried at the
// same time.
const tryEvery = 2 * time.Minute

// trying has writes done, or, for a target that has failed, tried rarely: until then it is what came of them last.
func (p *Pass) trying(write func() (machine.Result, error)) (machine.Result, error) {
	if !p.Tries {
		return write()
	}
	r := p.memory.of(p.Key, nil)
	pause := tryEvery + spread(p.Key)
	if since := p.Now().Sub(r.tried); r.failed != nil && since >= 0 && since < pause {
		return machine.Result{LookAgain: pause - since}, r.failed
	}
	result, err := write()
	if err == nil && result.LookAgain > 0 {
		return result, r.failed // nothing was tried
	}
	at := p.Now()
	p.memory.of(p.Key, func(r *remembered) { r.tried, r.failed = at, err })
	return result, err
}

// spread is up to a quarter of the time, either way, and always the same for a key.
func spread(key machine.Key) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // it never fails
	const steps = 64
	return tryEvery / 4 * (time.Duration(hash.Sum32()%(2*steps+1)) - steps) / steps
}
