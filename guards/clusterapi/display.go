package clusterapi

import (
	"fmt"
	"strings"
	"time"
)

// Display is what one look at the cluster has shown for people: conditions,
// commands, Events and metrics show it. No guard asks it.
type Display struct {
	// DesiredName is the name of the desired revision.
	DesiredName string
	// Foreign names the listed revisions that are not this operator's: nothing of them is applied or kept.
	Foreign []string
	// Keeping says why the current revision cannot be kept while a newer one is applied.
	Keeping string
	// ImageStates tell of the listed images that need not be fetched, and then how every image stands that is asked for, in the
	// order of references; ImageWarning says what works worse than it should without failing.
	ImageStates  []ImageState
	ImageWarning string
	// Attempted says that this process has tried to apply the desired revision, without which collisions, unsafe updates
	// and conflicts may be missed.
	Attempted bool
	// Collisions are objects that exist already and belong to somebody else; Refused are updates that are not sent
	// because they would lose data. Both hold the revision up until somebody gives way. The current revision's are
	// among them as long as it is kept.
	Collisions []Collision
	Refused    []Refused
	// Contested are applied objects of which somebody else keeps changing a field back.
	Contested []Contested
	// Findings are what the API server says of applied objects without refusing them.
	Findings []string
	// Retained are the objects kept for their users' data; Strays are objects with this installation's marks that no
	// revision and no inventory knows, and MoreStrays how many more there are. Of those StraysElsewhere counts the ones in
	// namespaces of others, by their most frequent kinds. None of them holds anything up.
	Retained []RetainedObject
	// Lost are those that were retained, and are going or gone while a consent to lose them stands.
	Lost            []LostObject
	Strays          []string
	StraysElsewhere []StrayCount
	MoreStrays      int
	// Revisions tell how far the listed revisions are, the oldest first.
	Revisions []Revision
	// Finalizers counts the objects that are being deleted and have finalizers pending.
	Finalizers int
	// Acts are what people ask for by annotations of the ClusterAPI; Differs names objects that are not as revisions have them,
	// which is told while nothing is put right, and MoreDiffers says how many more there are.
	Acts        []Act
	Differs     []string
	MoreDiffers int
	// HistoryBegins says that revisions were listed of which the history knows nothing, empty if there were none.
	HistoryBegins string
	// Retry is the word by which another attempt was asked for last, empty for none.
	Retry string
	// LeftAlone are the objects that people ask to leave as they are.
	LeftAlone []LeftAlone
	// UninstallConsent is what has to be written for a revision that would end what runs, empty while none awaits consent.
	UninstallConsent string
}

// ImageState is how one provider image stands: at hand, failed, being fetched
// or waiting for its turn.
type ImageState struct {
	// Name is enough of the reference to tell images apart; Component is what it brings, as far as a listed revision
	// says so.
	Name      string
	Reference string
	Component string
	Ready     bool
	Fetching  bool
	// NotNeeded says that it is known to bring nothing for the platform, for every one if that is empty, and is not fetched.
	// Retry is what asked for another attempt when that was found.
	NotNeeded bool
	Platform  string
	Retry     string
	// Failure is the kind of the last failure, empty for none. It stays while the next attempt runs.
	Failure string
	// Message is the last failure's own words.
	Message string
	// Since is when fetching began, NextTry when a failed image is tried again: the zero time for never by itself.
	Since, NextTry time.Time
}

// Collision is an object that exists and belongs to somebody else.
type Collision struct {
	Object string `json:"object" yaml:"object"`
	Holder string `json:"holder" yaml:"holder"`
	// Group is the object's API group, UID that of the object which is there, as far as it was read.
	Group string `json:"group,omitempty" yaml:"group"`
	UID   string `json:"uid,omitempty" yaml:"uid"`
	// Adoptable says that it may be adopted, Changes which fields that would change; else WayOut says what to do.
	Adoptable bool     `json:"adoptable,omitempty" yaml:"adoptable"`
	Changes   []string `json:"changes,omitempty" yaml:"changes"`
	WayOut    string   `json:"wayOut,omitempty" yaml:"wayOut"`
	// Why says so in a sentence that begins with the object, and what lets the machine go on.
	Why string `json:"-" yaml:"why"`
}

// Named is the object as an act names it.
func (c Collision) Named() string { return named(c.Object, c.Group) }

// named is an object of an API group as an act names it.
func named(object, group string) string {
	if group == "" {
		return object
	}
	kind, name, _ := strings.Cut(object, " ")
	return kind + "." + group + " " + name
}

func (c Collision) String() string { return c.Object + " " + c.Why }

// Refused is an update that is not sent because it would lose data of users.
type Refused struct {
	Object string `json:"object" yaml:"object"`
	// Why names what would be lost and whose.
	Why string `json:"why" yaml:"why"`
}

func (r Refused) String() string {
	return fmt.Sprintf("the update of %s is refused: %s", r.Object, r.Why)
}

// Contested is an object of which others keep changing a field that is this
// installation's.
type Contested struct {
	Object   string   `json:"object" yaml:"object"`
	Field    string   `json:"field" yaml:"field"`
	Managers []string `json:"managers" yaml:"managers"`
	// By says in words who changes the field.
	By string `json:"by" yaml:"by"`
	// Admission says that something else is made of the field whenever it is written.
	Admission bool `json:"admission,omitempty" yaml:"admission,omitempty"`
	// Times counts how often the field was put right.
	Times int `json:"times" yaml:"times"`
}

// String leaves the count out: it would make the same fact new each time.
func (c Contested) String() string {
	if c.Admission {
		return fmt.Sprintf("field %s of %s is changed by %s whenever it is written, and written less and less often; let the manifest say what the cluster makes of it, or have the webhook or policy leave it alone",
			c.Field, c.Object, c.By)
	}
	return fmt.Sprintf("field %s of %s is changed by %s again and again and put right less and less often; stop one of the two", c.Field, c.Object, c.By)
}

// RetainedObject is an object that no revision has any more and that is kept because
// it holds data of users.
type RetainedObject struct {
	Object string `json:"object" yaml:"object"`
	// Group is the object's API group.
	Group string `json:"group,omitempty" yaml:"group"`
	// Why says what it holds, Count how much of that; zero while it was not counted.
	Why   string `json:"why,omitempty" yaml:"why"`
	Count int64  `json:"count,omitempty" yaml:"count"`
	// Void says why a consent to lose it does not count, which was given at the moment Asked; empty if there is none.
	Void  string    `json:"void,omitempty" yaml:"void"`
	Asked time.Time `json:"asked,omitzero" yaml:"asked"`
}

// Named is the object as an act names it.
func (r RetainedObject) Named() string { return named(r.Object, r.Group) }

// Uncounted says that the object was looked at, and that nobody can tell how much it holds.
func (r RetainedObject) Uncounted() bool { return r.Count == 0 && r.Why != "" }

func (r RetainedObject) String() string {
	why := strings.TrimPrefix(strings.TrimSuffix(r.Why+"; "+r.Void, "; "), "; ")
	if why == "" {
		return r.Object
	}
	return fmt.Sprintf("%s (%s)", r.Object, why)
}

// LostObject is an object that was retained, and is going or gone by now. A consent to lose that very object stands, which was given
// at the moment Asked.
type LostObject struct {
	Object string    `json:"object" yaml:"object"`
	Group  string    `json:"group,omitempty" yaml:"group"`
	Asked  time.Time `json:"asked,omitzero" yaml:"asked"`
	// More says that there are others after it, for which there was no room.
	More bool `json:"more,omitempty" yaml:"more"`
}

// Named is the object as an act names it.
func (l LostObject) Named() string { return named(l.Object, l.Group) }

// VoidConsent is a consent to lose an object that does not count.
type VoidConsent struct{ Object, Void string }

func (v VoidConsent) String() string { return v.Object + ": " + v.Void }

// StrayCount is how many strays there are of a kind, which is written with its API group as kubectl takes it.
type StrayCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

func (s StrayCount) String() string { return fmt.Sprintf("%s x %d", s.Kind, s.Count) }

// Revision is how far one listed revision is.
type Revision struct {
	Name      string `json:"name"`
	Number    int64  `json:"number"`
	ContentID string `json:"contentID"`
	Current   bool   `json:"current,omitempty"`
	// Waves is empty for a revision that is neither the desired nor the current one.
	Waves []Wave `json:"waves,omitempty"`
}

// Wave is how far one wave of a revision is: Done of Total objects.
type Wave struct {
	Number    int    `json:"number"`
	Name      string `json:"name"`
	Component string `json:"component"`
	Done      int    `json:"done"`
	Total     int    `json:"total"`
}

// Texts are those of standing things, in their order.
func Texts[S fmt.Stringer](standing []S) []string {
	var texts []string
	for _, s := range standing {
		texts = append(texts, s.String())
	}
	return texts
}
