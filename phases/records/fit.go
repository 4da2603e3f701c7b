package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/capstan-capi/capstan/machine"
)

// fit packs what is stored with changes into so many bytes. If that is too large, the largest
// records lose their transitions, of as few records as it takes; if it still
// is, the changes that grow most are refused, each with an error of its own, and
// the others are packed.
func fit(stored, changes entries, room int) (all entries, packed []byte, refused map[machine.Key]error, err error) {
	all = stored.with(changes)
	if packed, err = pack(all, room); !errors.Is(err, errFull) {
		return all, packed, nil, err
	}
	full := err
	for n, before := 1, all; n < 2*len(all); n *= 2 {
		some := trimmed(all, n)
		if some.equal(before) {
			continue // there is nothing to be had from these
		}
		if packed, full = pack(some, room); !errors.Is(full, errFull) {
			return some, packed, nil, full
		}
		before = some
	}
	stored, changes = trimmed(stored, len(stored)), trimmed(changes, len(changes))
	keys := byGrowth(stored, changes)
	first := func(n int) entries {
		some := entries{}
		for _, key := range keys[:n] {
			some[key] = changes[key]
		}
		return stored.with(some)
	}
	shrinking := sort.Search(len(keys), func(n int) bool { return growth(stored, changes, keys[n]) > 0 })
	fits := shrinking + sort.Search(len(keys)-shrinking, func(n int) bool {
		_, err := pack(first(shrinking+n+1), room)
		return err != nil
	})
	all = first(fits)
	if packed, err = pack(all, room); err != nil {
		return nil, nil, nil, err
	}
	refused = map[machine.Key]error{}
	for _, key := range keys[fits:] {
		refused[key] = fmt.Errorf("there is no room for what is to be stored of %s: %w", key, full)
	}
	return all, packed, refused, nil
}

func growth(stored, changes entries, key machine.Key) int {
	return changes[key].size() - stored[key].size()
}

// byGrowth are the keys of changes, the one that grows most last.
func byGrowth(stored, changes entries) []machine.Key {
	keys := slices.Sorted(maps.Keys(changes))
	slices.SortStableFunc(keys, func(a, b machine.Key) int { return growth(stored, changes, a) - growth(stored, changes, b) })
	return keys
}

// trimmed are entries of which the n largest have no transitions.
func trimmed(all entries, n int) entries {
	keys := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(keys, func(a, b machine.Key) int { return all[b].size() - all[a].size() })
	out := entries{}
	for i, key := range keys {
		out[key] = all[key]
		if i < n {
			out[key] = withoutTransitions(all[key])
		}
	}
	return out
}

// withoutTransitions is an entry as it is, if its record cannot be read.
func withoutTransitions(e entry) entry {
	record, found := Decoded(e.Record)
	if !found || len(record.Transitions) == 0 {
		return e
	}
	record.Transitions = nil
	short, err := json.Marshal(record)
	if err != nil {
		return e
	}
	return entry{Record: short, Note: e.Note}
}
