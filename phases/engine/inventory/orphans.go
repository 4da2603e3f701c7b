package inventory

import (
	"errors"
	"fmt"
	"slices"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Candidate is an orphan, an object that only older revisions have, as an inventory lists it.
type Candidate struct {
	Listed Entry
	decide.Candidate
}

// Current is the revision that stays.
type Current struct {
	Number    int64
	Unmanaged map[string]bool       // names of the CRDs that it leaves to administrators
	Live      map[decide.Key]string // what this revision and newer ones have, by identity, with the revision's name
}

// Candidates are the entries of the inventories up to the current revision that neither it nor a newer one has, in order
// of removal. What a newer inventory lists is never among them, whatever the caller makes of its revisions. An inventory
// that cannot be read is an error: what it lists would be lost from sight.
func Candidates(stored []Stored, current Current) ([]Candidate, error) {
	live, err := current.withNewer(stored)
	var found []Candidate
	known := map[decide.Key]bool{}
	last := lastWaves(stored, current.Number)
	for _, s := range slices.Backward(stored) { // the newest inventory knows an object best
		if s.Inventory == nil || s.Number > current.Number {
			continue
		}
		for _, entry := range s.Inventory.Entries {
			key := entry.Key()
			id := key.Identity()
			_, isLive := live[id]
			if isLive || known[id] || s.Number == current.Number && !entry.Retained {
				continue
			}
			known[id] = true
			found = append(found, Candidate{entry, decide.Candidate{
				Key: key, Component: entry.Component, UID: entry.UID,
				LastWave: last[entry.Component], Retained: entry.Retained, Unmanaged: id.IsCRD() && current.Unmanaged[id.Name],
			}})
		}
	}
	slices.SortFunc(found, func(a, b Candidate) int { return a.Before(b.Candidate) })
	return found, err
}

// withNewer are the live objects with those that newer inventories list.
func (c Current) withNewer(stored []Stored) (map[decide.Key]string, error) {
	live := c.Live
	for _, s := range stored {
		if s.Inventory == nil || s.Number <= c.Number {
			continue
		}
		for _, entry := range s.Inventory.Entries {
			if !entry.Retained {
				live[entry.Key().Identity()] = s.Inventory.Revision
			}
		}
	}
	return live, unreadable(stored)
}

// unreadableAtMost is how many inventories an error names.
const unreadableAtMost = 3

// unreadable says which inventories cannot be read and what to do about them, nil if each can.
func unreadable(stored []Stored) error {
	var errs []error
	count := 0
	for _, s := range slices.Backward(stored) {
		if s.Inventory != nil {
			continue
		}
		if count++; count > unreadableAtMost {
			continue
		}
		err := s.Err
		if !s.LacksRoom() {
			err = fmt.Errorf("%w; restore it, or delete it: the objects that carry its number are listed anew if its revision is older and still listed, else what only it had are strays", err)
		}
		errs = append(errs, err)
	}
	if more := count - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("and %d more inventories that are not read", more))
	}
	return errors.Join(errs...)
}

// lastWaves are the waves with which components were complete, in any revision up to a number: what several of them had
// of a component goes as one.
func lastWaves(stored []Stored, number int64) map[string]int {
	last := map[string]int{}
	for _, s := range stored {
		if s.Inventory == nil || s.Number > number {
			continue
		}
		for _, listed := range s.Inventory.Entries {
			last[listed.Component] = max(last[listed.Component], listed.Wave)
		}
	}
	return last
}
