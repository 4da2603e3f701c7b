// Package history is what is remembered of the revisions that were listed: of what they were made, why, when, and what became
// of them, in one bounded ConfigMap. It decides nothing, reads nothing but its own ConfigMap, and knows no machine.
package history

import (
	"maps"
	"slices"
	"time"
)

// Result is what became of a revision.
type Result string

// The results. What is installed once stays that, also when another revision has taken its place.
const (
	Applying   Result = "Applying"
	Installed  Result = "Installed"
	Superseded Result = "Superseded"
)

// Component is one component of a revision.
type Component struct {
	Name    string `json:"name"`
	Image   string `json:"image"`
	Profile string `json:"profile"`
}

// Revision is one revision; its JSON is what is stored.
type Revision struct {
	Number        int64             `json:"number"`
	Name          string            `json:"name"`
	Release       string            `json:"release"`
	ContentID     string            `json:"contentID"`
	Components    []Component       `json:"components"`
	Substitutions map[string]string `json:"substitutions,omitempty"`
	Unmanaged     []string          `json:"unmanaged,omitempty"`
	// Cause is why it was listed: an input, or an act; empty where nobody has noted it.
	Cause string `json:"cause,omitempty"`
	// Pin is the act that it was listed for; nil for none.
	Pin *Pin `json:"pin,omitempty"`
	// Listed, Applied and Ended are when; the zero time for what has not happened, or was not noted.
	Listed  time.Time `json:"listed,omitzero"`
	Applied time.Time `json:"applied,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Result  Result    `json:"result"`
	// Counts are the changes that were made to objects for it, by action.
	Counts map[string]int64 `json:"counts,omitempty"`
	// Consents are those of the administrator that were used for it.
	Consents []string `json:"consents,omitempty"`
	// Sent are the deletions by a consent that were about to be sent, and of which nobody has seen what came of them.
	Sent []string `json:"sent,omitempty"`
}

// Pin is an act by which the images of a revision took the place of the list.
type Pin struct {
	Revision int64     `json:"revision"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// Images are those that its components are of, sorted, each once.
func (r Revision) Images() []string {
	var all []string
	for _, c := range r.Components {
		all = append(all, c.Image)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// History is what is remembered, the oldest revision first.
type History struct {
	Format int `json:"format"`
	// Began is when it was begun, and Lost that something was listed before that it does not know.
	Began time.Time `json:"began"`
	Lost  bool      `json:"lost,omitempty"`
	// Dropped is the highest number that there was no room for any more.
	Dropped   int64      `json:"dropped,omitempty"`
	Revisions []Revision `json:"revisions"`
}

// Of is the revision of a number; nil if it is not remembered.
func (h *History) Of(number int64) *Revision {
	for i := range h.Revisions {
		if h.Revisions[i].Number == number {
			return &h.Revisions[i]
		}
	}
	return nil
}

// Before is the last revision before a number that was installed, of other images than the one of that number, and not of none, which is
// an uninstallation; nil if there is none.
func (h *History) Before(number int64) *Revision {
	now := h.Of(number)
	for i := range slices.Backward(h.Revisions) {
		if r := &h.Revisions[i]; r.Number < number && r.Result == Installed && len(r.Images()) > 0 && (now == nil || !slices.Equal(r.Images(), now.Images())) {
			return r
		}
	}
	return nil
}

// clone shares nothing that is changed later.
func (h History) clone() History {
	h.Revisions = slices.Clone(h.Revisions)
	for i := range h.Revisions {
		h.Revisions[i].Counts = maps.Clone(h.Revisions[i].Counts)
	}
	return h
}

// enter adds a revision in its place. One of its number that is there already is left as it is.
func (h *History) enter(r Revision) {
	at, known := slices.BinarySearchFunc(h.Revisions, r.Number, func(r Revision, number int64) int { return int(max(-1, min(1, r.Number-number))) })
	if !known {
		h.Revisions = slices.Insert(h.Revisions, at, r)
	}
}

// count adds to the changes that were made for a revision, by its name, and says whether there is one.
func (h *History) count(name, action string) bool {
	at := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == name })
	if at < 0 {
		return false
	}
	r := &h.Revisions[at]
	if r.Counts == nil {
		r.Counts = map[string]int64{}
	}
	r.Counts[action]++
	return true
}

// Holds says that a revision is remembered, or that there was no room for it any more.
func (h *History) Holds(number int64) bool { return h.Of(number) != nil || number <= h.Dropped }
