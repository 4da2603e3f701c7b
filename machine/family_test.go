package machine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// family is many doors, each with a world and a record of its own.
type family struct {
	mu      sync.Mutex
	worlds  map[Key]*world
	records map[Key]Record
	// looked counts the looks at each door, saved the records written.
	looked, saved map[Key]int
}

func (f *family) Load(_ context.Context, key Key) (Record, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	record, found := f.records[key]
	return record, found, nil
}

func (f *family) Save(_ context.Context, key Key, s Snapshot[world, *world]) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[key] = s.Record
	f.saved[key]++
	return 0, nil
}

func (f *family) look(_ context.Context, key Key) (world, *world, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked[key]++
	w := f.worlds[key]
	if w == nil {
		panic("no such door")
	}
	return *w, w, nil
}

func newFamily(many int) (*family, *Machine[world, *world]) {
	f := &family{worlds: map[Key]*world{}, records: map[Key]Record{}, looked: map[Key]int{}, saved: map[Key]int{}}
	for i := range many {
		f.worlds[doorKey(i)] = &world{}
	}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	return f, &Machine[world, *world]{Table: door(), Store: f, Observe: f.look, Now: func() time.Time { return noon }}
}

func doorKey(i int) Key { return Key(fmt.Sprintf("house/door-%d", i)) }

func TestStep_a_family_of_5000_instances_shares_nothing(t *testing.T) {
	const many = 5000
	f, m := newFamily(many)
	for i := range many {
		switch i % 5 {
		case 0:
			f.worlds[doorKey(i)].open = true
		case 1:
			f.worlds[doorKey(i)].workErr = errors.New("rust")
		case 2:
			f.worlds[doorKey(i)] = nil // a look at it panics
		}
	}
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			for i := worker; i < many; i += 16 {
				_, err := m.Step(context.Background(), doorKey(i))
				if panicked := (*PanicError)(nil); errors.As(err, &panicked) != (i%5 == 2) {
					t.Errorf("%s: %v", doorKey(i), err)
				}
			}
		})
	}
	wait.Wait()
	for i := range many {
		want, failing := State("Closed"), i%5 == 1
		if i%5 == 0 {
			want = "Open"
		}
		r, found := f.records[doorKey(i)]
		if found == (i%5 == 2) || found && (r.State != want || (r.Failure != nil) != failing) {
			t.Fatalf("%s has %+v", doorKey(i), r)
		}
	}
	if len(m.memory.unsaved) > 0 {
		t.Errorf("%d instances are remembered that have been stored", len(m.memory.unsaved))
	}
}

func TestStep_a_pass_of_one_instance_looks_at_no_other(t *testing.T) {
	f, m := newFamily(5000)
	if _, err := m.Step(context.Background(), doorKey(7)); err != nil {
		t.Fatal(err)
	}
	if len(f.looked) != 1 || len(f.saved) != 1 {
		t.Errorf("%d instances were looked at and %d stored", len(f.looked), len(f.saved))
	}
	f.worlds[doorKey(7)].open = true
	for range 2 {
		if _, err := m.Step(context.Background(), doorKey(7)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := m.Step(context.Background(), doorKey(7)); err != nil || out.LookAgain != 0 {
		t.Errorf("an instance at rest asks for another pass after %s (%v)", out.LookAgain, err)
	}
}
