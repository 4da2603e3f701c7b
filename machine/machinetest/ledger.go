package machinetest

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// deletion begins the words by which deletions are counted, and the part of a Doc that names them.
const deletion = "Deletes: "

// Deletion is the word by which a world counts deletions, beside the word for the write that each of them is. of is what the Doc of an
// action calls it behind "Deletes:".
func Deletion(of string) string { return deletion + of }

// Ledger notes what actions write, and holds it against what they name. The zero Ledger is an empty one.
type Ledger[E any] struct {
	// noted are the words for what was written, by the names of actions.
	noted map[string]map[string]bool
}

// Note returns an action that is noted while it runs, also where it ends in a panic. written counts all that was written so far, by the
// words that actions name it with.
func (l *Ledger[E]) Note(a machine.Action[E], written func() map[string]int) machine.Action[E] {
	run := a.Run
	if run == nil {
		return a
	}
	if l.noted == nil {
		l.noted = map[string]map[string]bool{}
	}
	if l.noted[a.Name] == nil {
		l.noted[a.Name] = map[string]bool{}
	}
	noted := l.noted[a.Name]
	a.Run = func(ctx context.Context, env E) (machine.Result, error) {
		before := maps.Clone(written())
		defer func() {
			for word, count := range written() {
				if count > before[word] {
					noted[word] = true
				}
			}
		}()
		return run(ctx, env)
	}
	return a
}

// Check fails where an action has written what its Writes do not name, or has deleted what its Doc does not name. whole has it also
// fail for what is named and was never written.
func (l *Ledger[E]) Check(t testing.TB, whole bool, actions ...machine.Action[E]) {
	t.Helper()
	for _, a := range actions {
		for _, fault := range l.faults(a, whole) {
			t.Errorf("%s %s", a.Name, fault)
		}
	}
}

// named is how the generated page of a table begins what it tells of an action.
var named = regexp.MustCompile(`\*\*(\w+)\*\*: `)

// Whole is Check with all that is named, of all actions of a table: it also fails where these are not those that the generated page of
// the table, a file, has.
func (l *Ledger[E]) Whole(t testing.TB, page string, actions ...machine.Action[E]) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, told, _ := strings.Cut(string(text), "\n## States\n")
	for _, fault := range strangers(told, actions) {
		t.Error(fault)
	}
	l.Check(t, true, actions...)
}

// strangers are the actions that only the page or only the test has; the engine's own does what others do.
func strangers[E any](told string, actions []machine.Action[E]) []string {
	var all []string
	paged, tried := map[string]bool{}, map[string]bool{machine.Resume[E]().Name: true}
	for _, found := range named.FindAllStringSubmatch(told, -1) {
		paged[found[1]] = true
	}
	for _, a := range actions {
		if tried[a.Name] = true; !paged[a.Name] {
			all = append(all, a.Name+" is tried, and the table does not have it")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(paged)) {
		if !tried[name] {
			all = append(all, name+" is in the table, and is not tried")
		}
	}
	return all
}

func (l *Ledger[E]) faults(a machine.Action[E], whole bool) []string {
	var all []string
	deletes, deleted := deletions(a.Doc), false
	for _, word := range slices.Sorted(maps.Keys(l.noted[a.Name])) {
		of, is := strings.CutPrefix(word, deletion)
		deleted = deleted || is
		switch {
		case is && !strings.Contains(deletes, of):
			all = append(all, "deleted "+of+", which its Doc does not name")
		case !is && !slices.Contains(a.Writes, word):
			all = append(all, "wrote "+word+", which it does not name")
		}
	}
	if !whole {
		return all
	}
	for _, word := range a.Writes {
		if !l.noted[a.Name][word] {
			all = append(all, "names "+word+", and never wrote it")
		}
	}
	if deletes != "" && !deleted {
		all = append(all, "says that it deletes "+deletes+", and never deleted anything")
	}
	return all
}

// deletions are what a Doc says that is deleted, up to the end of that sentence.
func deletions(doc string) string {
	_, rest, _ := strings.Cut(doc, deletion)
	sentence, _, _ := strings.Cut(rest, ".")
	return sentence
}

// Actions are the works and effects of a table, each once.
func Actions[F, E any](of machine.Table[F, E]) []machine.Action[E] {
	var all []machine.Action[E]
	WithActions(of, func(a machine.Action[E]) machine.Action[E] {
		if a.Run != nil && !slices.ContainsFunc(all, func(one machine.Action[E]) bool { return one.Name == a.Name }) {
			all = append(all, a)
		}
		return a
	})
	return all
}
