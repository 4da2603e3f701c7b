package bootboard

import "time"

// Of two processes that both take themselves for the leader, one may delete a clone that the other one is about to name. So a
// clone is named no later than ClaimFor after it was made or changed for that, and the request ends soon after; and it is
// deleted only if it has been the same for longer than both take, each by its own clock, bound to the version that was so.
const (
	// ClaimFor is how long after a clone was made, or changed, for a plan it may be named.
	ClaimFor = 30 * time.Second
	// AloneFor is how long a clone must have been as it is before it may be deleted: a request ends long before.
	AloneFor = 2 * time.Minute
)

// Retire says that a template may be deleted, for no plan leads to it, and keeps plans from it until [Board.Retired]. A target
// whose plan leads to a template first stands with it, and then asks [Board.Retiring]: so one of the two gives way.
func (b *Board) Retire(template string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.standing {
		if s.Clone == template || s.Template == template {
			return false
		}
	}
	b.retiring[template] = false
	return true
}

// Retired says that the template was deleted, or stays. Targets wake if one of them waits for that.
func (b *Board) Retired(template string) {
	b.mu.Lock()
	waits, wake := b.retiring[template], b.wake
	delete(b.retiring, template)
	b.mu.Unlock()
	if waits && wake != nil {
		wake()
	}
}

// Retiring says that the template is being deleted: a plan that leads to it waits, and then makes it anew.
func (b *Board) Retiring(template string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, is := b.retiring[template]
	if is {
		b.retiring[template] = true
	}
	return is
}
