package bootimage

import (
	"slices"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// memory is what a process remembers of targets. Lost, a plan is made anew, and whether a write has arrived is asked.
type memory struct {
	mu sync.Mutex
	by map[machine.Key]*remembered
	// stood are the UIDs of objects that were seen with the wanted image since the last attempt, as attempts have them: those of the
	// targets in by, of stubs that a target starts from, and those in gone. One that is lost is noted again by the next pass, and until
	// then attempts at it are not forgotten by themselves.
	stood map[string]bool
	// gone are the UIDs of those that are no more, of which attempts are still stored, the oldest first.
	gone []string
}

// maxGone is how many of those are remembered.
const maxGone = 1000

// remembered is of one target.
type remembered struct {
	// state is the one that is stored.
	state machine.State
	plan  *plan
	// uids are those that may have stood: the object's, and that of the one that was given the image last under its name.
	uids [2]string
	// written is the version that a write has led to; lost says that the answer to a write was lost.
	written string
	lost    bool
	// cloned is the template that was made, or changed, for the plan, and claimed when that was begun.
	cloned  string
	claimed time.Time
	// tried is when writes were last tried as dry runs, and failed what came of that.
	tried  time.Time
	failed error
}

// of changes what is remembered of a target, and returns it.
func (m *memory) of(key machine.Key, change func(*remembered)) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[machine.Key]*remembered{}
	}
	if m.by[key] == nil {
		m.by[key] = &remembered{}
	}
	if change != nil {
		change(m.by[key])
	}
	return *m.by[key]
}

// stands says that the object of a UID was seen with the wanted image since the last attempt at it.
func (m *memory) stands(uid string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stood[uid]
}

// stand notes whether the object of a UID was seen with the wanted image.
func (m *memory) stand(uid string, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stood == nil {
		m.stood = map[string]bool{}
	}
	if m.stood[uid] = is; !is {
		delete(m.stood, uid)
	}
}

// forget keeps of a target that is gone what is stored of it, and nothing else.
func (m *memory) forget(key machine.Key) {
	m.has(key, "", "")
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by, key)
}

// has notes the UIDs of a target, and lets go of those that it had before.
func (m *memory) has(key machine.Key, uid, given string) {
	now := [2]string{uid, given}
	var before [2]string
	m.of(key, func(r *remembered) { before, r.uids = r.uids, now })
	for _, old := range before {
		if old != uid && old != given {
			m.stand(old, false)
		}
	}
}

// standGone notes of an object that is no more that nobody changes it back.
func (m *memory) standGone(uid string) {
	m.stand(uid, true)
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.gone, uid) {
		return
	}
	if m.gone = append(m.gone, uid); len(m.gone) > maxGone {
		delete(m.stood, m.gone[0])
		m.gone = slices.Delete(m.gone, 0, 1)
	}
}
