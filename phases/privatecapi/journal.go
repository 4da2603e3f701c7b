package privatecapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// journal is what is noted of a move, from its lock on. A lost one is noted again from the source, which nobody else writes meanwhile,
// as long as nothing was copied; later it is not begun again, so that what is not in a journal of a move was never there.
type journal struct {
	// Move is the id of the move that it is of.
	Move string `json:"move,omitempty"`
	// Taken is when the source was counted, Counts how many objects there were by kind, and Hash is of all their content.
	Taken  time.Time      `json:"taken,omitzero"`
	Counts map[string]int `json:"counts,omitempty"`
	Hash   string         `json:"hash,omitempty"`
	// Owned are the kinds of other groups of which the copies own objects, noted before the first of them does.
	Owned []string `json:"owned,omitempty"`
	// Replicas are those that the components had when the move began, or in Draining before they were stopped, by their names, and
	// Templates the hashes of their pod templates.
	Replicas  map[string]int64  `json:"replicas,omitempty"`
	Templates map[string]string `json:"templates,omitempty"`
}

// total is how many objects were counted.
func (j journal) total() int {
	n := 0
	for _, count := range j.Counts {
		n += count
	}
	return n
}

// readJournal reads what is noted of the present move. What cannot be read, or is of another move, is none.
func (p *Pass) readJournal(ctx context.Context) error {
	raw, err := p.Journal.Note(ctx, p.Key)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	p.noted = raw
	var j journal
	if json.Unmarshal(raw, &j) == nil && j.Move != "" && j.Move == p.facts.Marks.Companion.ID {
		p.journal = j
	}
	return nil
}

// begin is the journal of a move that has just been locked. What is kept on a component counts for one that stands still alone: a record
// that was restored may be behind the one that has scaled it down. Whoever else has written it since the checks has no say in what runs.
func (p *Pass) begin() journal {
	j := journal{Move: p.facts.Marks.Companion.ID, Replicas: map[string]int64{}}
	for _, w := range p.workloads {
		n := w.replicas()
		if prior, kept := w.prior(); kept && n == 0 {
			n = prior
		}
		j.Replicas[w.of.Name] = n
	}
	return j
}

// note keeps a journal in place of the one that was read.
func (p *Pass) note(ctx context.Context, j journal, did string) (machine.Result, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return machine.Result{}, machine.Terminal(fmt.Errorf("writing the journal: %w", err))
	}
	err = p.Journal.StoreNote(ctx, p.Key, p.noted, text)
	if isAway(err) {
		p.outage(p.Key, p.record.Since, err, nil)
		return machine.Result{LookAgain: soon}, nil
	}
	if err != nil {
		return machine.Result{}, fmt.Errorf("writing the journal: %w", err)
	}
	return machine.Result{Did: did, LookAgain: soon}, nil
}

// owns notes the kinds of some dependents, and says whether one was not noted yet.
func (j *journal) owns(all []Dependent) (added bool) {
	owned := slices.Clone(j.Owned)
	for _, d := range all {
		if name := d.Kind.name(); !slices.Contains(owned, name) {
			owned, added = append(owned, name), true
		}
	}
	j.Owned = owned
	return added
}

// mostKinds bounds the journal: what lies in more kinds is counted together, as otherKinds.
const (
	mostKinds  = 200
	otherKinds = "others"
)

// take is the journal of the source as it is.
func (p *Pass) take() journal {
	j := journal{Move: p.facts.Marks.Companion.ID, Taken: p.Now().UTC().Truncate(time.Second), Counts: map[string]int{}}
	var texts []string
	for _, c := range p.sides.couples {
		if c.source == nil {
			continue
		}
		name := c.kinds.source.name()
		if _, known := j.Counts[name]; !known && len(j.Counts) >= mostKinds {
			name = otherKinds
		}
		j.Counts[name]++
		if text, err := json.Marshal(p.sides.essenceOfSource(c)); err == nil { // what came as JSON can be written as JSON
			texts = append(texts, c.kinds.source.name()+string(text))
		}
	}
	for _, w := range p.workloads {
		if j.Templates == nil {
			j.Templates = map[string]string{}
		}
		j.Templates[w.of.Name] = hashOf(compactJSON(w.template()))
	}
	slices.Sort(texts) // the order of couples depends on the target too
	j.Hash = hashOf(strings.Join(texts, "\n"))
	return j
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sourceChanged is the error of a source that is not what was noted. Of a lost journal nobody can tell.
func (p *Pass) sourceChanged() error {
	if p.journal.Hash == "" || p.take().Hash == p.journal.Hash {
		return nil
	}
	return machine.Terminal(errors.New("the source is not what it was when it was counted: somebody has written to it behind the fence, and a move would lose that"))
}
