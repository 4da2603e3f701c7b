package history

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// The bounds of what is stored.
const (
	MaxBytes     = 512 << 10
	MaxRevisions = 20
	// KeepInstalled is how many of those that were installed are kept before all others.
	KeepInstalled = 5
	// maxActions bounds the names of actions, and maxConsents the consents of one revision.
	maxActions  = 16
	maxConsents = 64
)

// format is that of what is stored.
const format = 1

// encode writes a history down within its bounds, and says what is left of it.
func encode(h History) ([]byte, History, error) {
	h.Format = format
	for i := range h.Revisions {
		r := &h.Revisions[i]
		r.Cause, r.Consents = machine.Shorten(r.Cause, machine.MaxMessage), r.Consents[:min(len(r.Consents), maxConsents)]
		r.Sent = r.Sent[:min(len(r.Sent), maxConsents)]
	}
	for {
		text, err := json.Marshal(h)
		if err != nil {
			return nil, h, fmt.Errorf("writing the history down: %w", err)
		}
		if len(text) <= MaxBytes && len(h.Revisions) <= MaxRevisions || len(h.Revisions) == 0 {
			return text, h, nil
		}
		h.drop()
	}
}

// drop drops the oldest revision that is none of the last installed ones, and not the one that the newest was pinned to; if there is
// none, the oldest of all.
func (h *History) drop() {
	kept, oldest := 0, 0
	pinned := h.Revisions[len(h.Revisions)-1].Pin
	for i, r := range slices.Backward(h.Revisions) {
		if pinned != nil && r.Number == pinned.Revision {
			continue
		}
		if r.Result == Installed && kept < KeepInstalled {
			kept++
			continue
		}
		oldest = i + 1
	}
	at := max(oldest, 1) - 1
	h.Dropped = max(h.Dropped, h.Revisions[at].Number)
	h.Revisions = slices.Delete(h.Revisions, at, at+1)
}

// Read reads what is stored. Only the operator writes that, so that what is not as it writes it is as if it were lost.
func Read(text []byte) (History, error) {
	var h History
	if len(text) > MaxBytes {
		return h, fmt.Errorf("it has %d bytes, and may have %d", len(text), MaxBytes)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return History{}, fmt.Errorf("reading the history: %w", err)
	}
	if h.Format != format {
		return History{}, fmt.Errorf("it is of format %d, and format %d is known", h.Format, format)
	}
	var last int64
	for _, r := range h.Revisions {
		if r.Number <= last || r.Name == "" || len(r.Counts) > maxActions || len(h.Revisions) > MaxRevisions {
			return History{}, fmt.Errorf("revision %d of it is not as the operator writes it", r.Number)
		}
		last = r.Number
	}
	return h, nil
}
