package acts

import (
	"regexp"
	"time"
)

// The acts, by the names that their annotations and the audit trail have.
const (
	Pause              = "pause"
	LeaveAlone         = "leave-alone"
	Pin                = "pin"
	Adopt              = "adopt"
	ConsentToDelete    = "consent-to-delete"
	ConsentToUninstall = "consent-to-uninstall"
)

// The annotations of acts.
const (
	PauseAct      = "capi-operator.openshift.io/pause"
	LeaveAloneAct = "capi-operator.openshift.io/leave-alone"
	PinAct        = "capi-operator.openshift.io/pin"
	AdoptAct      = "capi-operator.openshift.io/adopt"
	ConsentAct    = "capi-operator.openshift.io/consent-to-delete"
	UninstallAct  = "capi-operator.openshift.io/consent-to-uninstall"
)

// Policy is the admission policy, and its binding, that holds the name in an act against who writes it.
const Policy = "capstan-acts"

// The limits of every act.
const (
	// MaxBytes bounds the text of an act, MaxLine each of its lines without the end, and MaxItems how many items it has.
	MaxBytes = 16 << 10
	MaxLine  = 512
	MaxItems = 64
	// MaxAhead is how far an act may be from the future: clocks differ.
	MaxAhead = time.Minute
)

// The patterns of what items say, for Go's regular expressions and for those of admission policies, which are the same.
const (
	numberPattern = `[1-9][0-9]{0,17}`
	namePattern   = `[^ ]+-[0-9a-f]{8}-` + numberPattern
	objectPattern = `[A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)? ([a-z0-9.-]+/)?[^ /]+`
	wordPattern   = `[^ ]+`
	digestPattern = `[0-9a-f]{64}`
)

// Unprintable is a regular expression, for both too, of what no line has: all but letters, marks, numbers, punctuation, symbols and the
// space. So none controls a terminal, turns its direction or ends a line where nobody sees it.
const Unprintable = `[^\pL\pM\pN\pP\pS ]`

// Item is what the items of one key look like.
type Item struct {
	Key string
	// Pattern is a regular expression that the whole value matches.
	Pattern string
	// Once says that there is one item of this key, first in its place; otherwise there is one or more, last of all.
	Once bool
	// Instead says that the item may be there in place of an end by time, and not beside one.
	Instead bool
}

// Form is what one act looks like.
type Form struct {
	Name, Annotation string
	// Verb on clusterapis/cluster is what setting, changing or removing it takes.
	Verb string
	// Longest is how long it may last, zero for an act that time does not end.
	Longest time.Duration
	// Items are its items, in the order in which they stand.
	Items []Item
}

// Forms are those of all acts.
var Forms = []Form{
	{Name: Pause, Annotation: PauseAct, Verb: "pause", Longest: 24 * time.Hour},
	{Name: LeaveAlone, Annotation: LeaveAloneAct, Verb: "pause", Longest: 24 * time.Hour, Items: []Item{{Key: "object", Pattern: objectPattern}}},
	{Name: Pin, Annotation: PinAct, Verb: "pin", Longest: 30 * 24 * time.Hour, Items: []Item{
		{Key: "revision", Pattern: numberPattern, Once: true}, {Key: "list", Pattern: wordPattern, Once: true, Instead: true},
	}},
	{Name: Adopt, Annotation: AdoptAct, Verb: "adopt", Items: []Item{
		{Key: "revision", Pattern: numberPattern, Once: true}, {Key: "object", Pattern: objectPattern + " " + wordPattern},
	}},
	{Name: ConsentToDelete, Annotation: ConsentAct, Verb: "consent", Items: []Item{
		{Key: "revision", Pattern: numberPattern, Once: true}, {Key: "object", Pattern: objectPattern + " " + wordPattern + " (0|" + numberPattern + ") " + digestPattern},
	}},
	{Name: ConsentToUninstall, Annotation: UninstallAct, Verb: "consent", Items: []Item{{Key: "revision", Pattern: namePattern, Once: true}}},
}

// FormOf is the form of an act, false for a name that is none's.
func FormOf(name string) (Form, bool) {
	for _, form := range Forms {
		if form.Name == name {
			return form, true
		}
	}
	return Form{}, false
}

// compiled are the patterns of items as they are matched.
var compiled = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for _, form := range Forms {
		for _, item := range form.Items {
			all[item.Pattern] = regexp.MustCompile(`^(` + item.Pattern + `)$`)
		}
	}
	return all
}()
