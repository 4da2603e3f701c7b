package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
)

// maxInstances is how many of a family are kept in memory.
const maxInstances = 20_000

// tooMany is the problem of a family that has more.
var tooMany = fmt.Sprintf("there are more than the %d that are listed", maxInstances)

// roster is what is known of a family: all in memory, so that a list or a search asks nobody.
type roster struct {
	of view.View

	mu   sync.Mutex
	read bool
	rows map[machine.Key]row
	// sorted are the rows as they are listed, nil while that is to be made anew.
	sorted []row
	// counted are those that have no row, by state; without a state where that is not told.
	counted map[machine.State]int
	// problem says why nothing, or not all, is known, and unread that it is for want of a right, or of an answer.
	problem string
	unread  []Unread
}

// row is one instance.
type row struct {
	Instance

	seen view.Seen
	// text is what a search looks in.
	text string
}

// rowOf is an instance as a row.
func (r *roster) rowOf(key machine.Key, seen view.Seen) row {
	state, _ := r.of.Table.State(seen.Record.State)
	one := Instance{Key: key, State: seen.Record.State, Alarm: state.Alarm, Since: seen.Record.Since, Reason: cmp.Or(seen.Waits, seen.Record.Reason, seen.Problem)}
	return row{Instance: one, seen: seen, text: strings.ToLower(string(key) + "\n" + one.Reason)}
}

// replace has these rows and no others.
func (r *roster) replace(rows map[machine.Key]row, counted map[machine.State]int, problem string, unread []Unread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read, r.rows, r.sorted, r.counted, r.problem, r.unread = true, rows, nil, counted, problem, unread
}

// lacks says why nothing new is known; what is known stays.
func (r *roster) lacks(problem string, unread []Unread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read, r.problem, r.unread = true, problem, unread
}

// put has a row in the place of the one of its key; a new one as long as there is room.
func (r *roster) put(one row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.rows[one.Key]; !known && len(r.rows) >= maxInstances {
		r.problem = tooMany
		return
	}
	r.rows[one.Key], r.sorted = one, nil
}

// drop lets go of the row of a key.
func (r *roster) drop(key machine.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rows, key)
	r.sorted = nil
}

// family counts; r.mu is not held.
func (r *roster) family() (Family, []Unread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum(), r.unread
}

// isRead says that it was read once, or could not be.
func (r *roster) isRead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read
}

// sum counts; r.mu is held.
func (r *roster) sum() Family {
	f := Family{Machine: r.of.Table.Name, Reading: !r.read, Total: len(r.rows), Counts: map[machine.State]int{}, Problem: r.problem}
	for _, one := range r.rows {
		f.Counts[one.State]++
		if one.Alarm {
			f.Alarms++
		}
	}
	for state, count := range r.counted {
		if f.Unnamed += count; state != "" {
			f.Counts[state] += count
		}
	}
	f.Total += f.Unnamed
	return f
}

// list are the rows in their order; r.mu is held.
func (r *roster) list() []row {
	if r.sorted != nil {
		return r.sorted
	}
	r.sorted = make([]row, 0, len(r.rows))
	for _, one := range r.rows {
		r.sorted = append(r.sorted, one)
	}
	slices.SortFunc(r.sorted, func(a, b row) int {
		if a.Alarm != b.Alarm {
			if a.Alarm {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Key, b.Key)
	})
	return r.sorted
}

// wanted is a part of a list that is asked for.
type wanted struct {
	search        string // in small letters
	offset, limit int
}

// takes says whether one that matches is in the part, by how many have matched before it.
func (w wanted) takes(before int) bool { return before >= w.offset && before < w.offset+w.limit }

// instances are those that are asked for, in a state unless it is empty.
func (r *roster) instances(state machine.State, want wanted) Instances {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := Instances{Family: r.sum(), Offset: want.offset, Items: []Instance{}}
	for _, one := range r.list() {
		if state != "" && one.State != state || want.search != "" && !strings.Contains(one.text, want.search) {
			continue
		}
		if want.takes(found.Matching) {
			found.Items = append(found.Items, one.Instance)
		}
		found.Matching++
	}
	return found
}

// instance is one with all that is known of it.
func (r *roster) instance(key machine.Key) (Machine, bool) {
	r.mu.Lock()
	one, is := r.rows[key]
	r.mu.Unlock()
	if !is {
		return Machine{}, false
	}
	return machineOf(r.of, one.seen, key), true
}
