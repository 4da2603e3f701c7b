package records

import (
	"bytes"
	"sync"

	"github.com/capstan-capi/capstan/machine"
)

// Recollection reads records as statuses keep them, and each text but once: most passes find the one that the last has left. What it
// remembers is lost with the process, and read again. The zero value is ready, and any goroutine may use it.
type Recollection struct {
	mu  sync.Mutex
	all map[machine.Key]recollected
}

// recollected is a text and the record in it; same is how the record was encoded that was found to be the same, nil while nobody has.
type recollected struct {
	text   []byte
	record machine.Record
	found  bool
	same   []byte
}

// Decoded is [Decoded] of the text that the status of an instance has now. What the record refers to is not the caller's to change.
func (r *Recollection) Decoded(key machine.Key, text []byte) (record machine.Record, found bool) {
	last, is := r.of(key, text)
	if !is {
		last = recollected{text: bytes.Clone(text)}
		last.record, last.found = Decoded(text)
		r.keep(key, last)
	}
	return last.record, last.found
}

// replaced puts a record in the place of the text of an instance, unless that says the same.
func (r *Recollection) replaced(key machine.Key, text *[]byte, record machine.Record) (bool, error) {
	last, is := r.of(key, *text)
	encoded, err := encodedRecord(record)
	if err != nil || is && bytes.Equal(last.same, encoded) {
		return false, err
	}
	if saysOther(*text, encoded) {
		*text = encoded
		return true, nil
	}
	if is {
		last.same = encoded
		r.keep(key, last)
	}
	return false, nil
}

func (r *Recollection) of(key machine.Key, text []byte) (last recollected, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, is = r.all[key]
	return last, is && bytes.Equal(last.text, text)
}

func (r *Recollection) keep(key machine.Key, now recollected) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[machine.Key]recollected{}
	}
	r.all[key] = now
}

// Forget lets go of an instance that is gone.
func (r *Recollection) Forget(key machine.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, key)
}
