// Package bootboard is what the gate of boot images and their targets tell each other, in memory: the gate's verdict to the
// targets, and how each target stands back to the gate and to those that start from the same stub. It stores nothing and
// decides nothing. A new process knows nothing of either: targets wait for the gate's first pass.
package bootboard

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Selection says which targets of a kind are enrolled.
type Selection interface {
	// Selects says whether a target with these labels is enrolled.
	Selects(labels map[string]string) bool
	// RefusesTwins says that also the authoritative twin of an enrolled target is not enrolled.
	RefusesTwins() bool
	// String is what people have said, such as All or a label selector; empty if nobody has.
	String() string
}

// Verdict is what the gate has come to in a pass of this process. The zero value is that of no pass.
type Verdict struct {
	// Known says that a pass was made, and no answer was Unknown; Why says why boot images may not be moved.
	Known, Open bool
	Why         string
	// Golden is what was judged, nil unless boot images may be moved.
	Golden  *golden.Golden
	Cluster golden.Cluster
	// Ours says that the boot images of Machine API are this operator's to move, ClaimedBy which field manager of somebody else
	// claims them.
	Ours      bool
	ClaimedBy string
	// Enrols are the selections by kind; without one, no target of a kind is enrolled.
	Enrols map[golden.Kind]Selection
	// News is a fingerprint of all of this. Targets wake when it is another.
	News string
}

// Standing is how a target stands.
type Standing struct {
	Kind golden.Kind
	// Name is that of the object, without its namespace.
	Name  string
	State machine.State
	// Counts says that people expect the target to have the wanted image; of one that does not count Done, Working, Skipped and
	// Stuck are false, and of another one at most one is true.
	Counts                        bool
	Done, Working, Skipped, Stuck bool
	// Why says with the remedy why it is skipped or stuck.
	Why string
	// Stub is the Secret that its machines start from, as namespace/name, and Original the one that this is a copy of; empty
	// for none.
	Stub, Original string
	// Shares says that it has a say in whether a stub is upgraded, MayMove that it may get the wanted image, or has it.
	Shares, MayMove bool
	// Clone is the infrastructure template that a plan leads to, and Template the one that the target names; empty for none.
	Clone, Template string
	// News is that of the verdict that the target was judged by.
	News string
}

// Board is safe for many goroutines.
type Board struct {
	mu       sync.Mutex
	verdict  Verdict
	standing map[machine.Key]Standing
	// wake wakes the targets, tell the gate; nil as long as nobody listens.
	wake, tell func()
	// roster says which targets there are, nil as long as nobody knows.
	roster func() (keys []machine.Key, known bool)
	// blind says why targets cannot be looked at yet, nil as long as nobody knows of anything.
	blind func() string
	// retiring are the templates that are being deleted, and whether a plan waits for that.
	retiring map[string]bool
	// given are the targets that were given their image by the verdict of these news, until they stand accordingly; moved those
	// that do since the gate has asked. has are the news of the verdict by which each was given it last, or had it.
	given map[machine.Key]string
	moved map[machine.Key]bool
	has   map[machine.Key]string
}

// New is an empty board.
func New() *Board {
	return &Board{
		standing: map[machine.Key]Standing{}, retiring: map[string]bool{},
		given: map[machine.Key]string{}, moved: map[machine.Key]bool{}, has: map[machine.Key]string{},
	}
}

// OnNews has a function called when the gate's verdict is another. It must not wait.
func (b *Board) OnNews(wake func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake = wake
}

// OnStanding has a function called when a target stands otherwise. It must not wait.
func (b *Board) OnStanding(tell func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell = tell
}

// Post is what a pass of the gate ends with.
func (b *Board) Post(v Verdict) {
	b.mu.Lock()
	news := b.verdict.News != v.News || b.verdict.Known != v.Known
	b.verdict = v
	wake := b.wake
	b.mu.Unlock()
	if news && wake != nil {
		wake()
	}
}

// Verdict is the last one.
func (b *Board) Verdict() Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.verdict
}

// Stand is what a pass of a target ends with.
func (b *Board) Stand(key machine.Key, s Standing) {
	b.mu.Lock()
	before, was := b.standing[key]
	b.standing[key] = s
	if news, is := b.given[key]; is && b.has[key] != news {
		b.has[key], b.moved[key] = news, true
	}
	delete(b.given, key)
	if s.Done {
		b.has[key] = s.News
	}
	tell := b.tell
	b.mu.Unlock()
	if (!was || before != s) && tell != nil {
		tell()
	}
}

// Moved counts a target that was given its image by the verdict of these news, from when it stands next; one that is given it
// again, as when somebody has changed it back, counts once.
func (b *Board) Moved(key machine.Key, news string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given[key] = news
}

// TakeMoved is how many targets were given their image since it was asked last.
func (b *Board) TakeMoved() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	moved := len(b.moved)
	clear(b.moved)
	return moved
}

// Gone takes a target away.
func (b *Board) Gone(key machine.Key) {
	b.mu.Lock()
	_, was := b.standing[key]
	delete(b.standing, key)
	delete(b.given, key)
	delete(b.has, key)
	tell := b.tell
	b.mu.Unlock()
	if was && tell != nil {
		tell()
	}
}

// Standings are all, sorted by kind and name.
func (b *Board) Standings() []Standing {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.standing))
	b.mu.Unlock()
	slices.SortFunc(all, func(x, y Standing) int {
		if x.Kind != y.Kind {
			return strings.Compare(string(x.Kind), string(y.Kind))
		}
		return strings.Compare(x.Name, y.Name)
	})
	return all
}

// Of is how a target stands, if it does.
func (b *Board) Of(key machine.Key) (Standing, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, is := b.standing[key]
	return s, is
}

// StartFrom are the targets whose machines start from a Secret, or from a copy of it.
func (b *Board) StartFrom(secret string) []machine.Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	var keys []machine.Key
	for key, s := range b.standing {
		if s.Stub == secret || s.Original == secret {
			keys = append(keys, key)
		}
	}
	return keys
}

// IsStub says that the machines of a target start from a Secret, or from a copy of it.
func (b *Board) IsStub(secret string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.standing {
		if s.Stub == secret || s.Original == secret {
			return true
		}
	}
	return false
}

// Stay are those that have a say in whether a stub is upgraded, start from it or from a copy of it, and may not move, by kind
// and name.
func (b *Board) Stay(secret string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, s := range b.standing {
		if (s.Stub == secret || s.Original == secret) && s.Shares && !s.MayMove {
			names = append(names, string(s.Kind)+"/"+s.Name)
		}
	}
	slices.Sort(names)
	return names
}
