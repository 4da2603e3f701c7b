package dashboard

import (
	"encoding/json"
	"time"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// What the page asks and is told. All of it is JSON in UTF-8, in which nothing but printable text and the ends of lines is left;
// texts are what people, operators and API servers wrote: they are to be shown as text, and never read as HTML. No list is null.
//
//	POST /api/session                    Code -> Session; the one request without a token
//	GET  /api/contexts                   Contexts
//	GET  /api/diagrams                   Diagrams
//	GET  /api/watch                      a line of JSON each, of all contexts: Line
//	GET  /api/contexts/{id}/family       ?machine= &state= &search= &offset= &limit= -> Instances
//	GET  /api/contexts/{id}/instance     ?machine= &key= -> Instance
//	GET  /api/contexts/{id}/objects      ?search= &wave= &revision= &offset= &limit= -> Objects
//	GET  /api/contexts/{id}/history      what `capstan history -o json` prints
//	POST /api/contexts/{id}/plan         what `capstan plan -o json` prints
//
// Every other answer is a [Problem], with a status of 400 and above.

// TokenHeader is the header in which every request brings the token.
const TokenHeader = "Capstan-Token"

// Code is what a session is opened with.
type Code struct {
	Code string `json:"code"`
}

// Session is what a code is worth, once.
type Session struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
}

// Problem says why there is no answer, and what to do next.
type Problem struct {
	Error string `json:"error"`
	Next  string `json:"next,omitempty"`
}

// Contexts are the clusters that there is a page for.
type Contexts struct {
	Contexts []Context `json:"contexts"`
}

// Context is one of the kubeconfig's. ID stands for it in paths, since names have slashes in them.
type Context struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Server string `json:"server"`
}

// Diagrams are the tables of all machines, as they are declared.
type Diagrams struct {
	Machines []Diagram `json:"machines"`
}

// Diagram is the table of one machine. A family has an instance for each object of a kind, which Word names.
type Diagram struct {
	Machine string         `json:"machine"`
	Doc     string         `json:"doc"`
	Family  bool           `json:"family"`
	Word    string         `json:"word,omitempty"`
	Start   machine.State  `json:"start"`
	States  []DiagramState `json:"states"`
	Moves   []DiagramMove  `json:"moves"`
}

// DiagramState is a state: at rest, or one that alarms, or neither.
type DiagramState struct {
	Name  machine.State `json:"name"`
	Doc   string        `json:"doc"`
	Work  string        `json:"work,omitempty"`
	Rest  bool          `json:"rest"`
	Alarm bool          `json:"alarm"`
}

// DiagramMove is one edge. The event and the states are what a machine's history and its moves name, too.
type DiagramMove struct {
	From  machine.State `json:"from"`
	To    machine.State `json:"to"`
	Event machine.Event `json:"event"`
	// Kind is ordinary, urgent, failure or deadline; After is how long a failure or a deadline takes, as in "15m".
	Kind      view.Kind       `json:"kind"`
	After     string          `json:"after,omitempty"`
	When      string          `json:"when"`
	Meaning   string          `json:"meaning"`
	Effect    string          `json:"effect,omitempty"`
	Questions []view.Question `json:"questions"`
}

// The types of lines.
const (
	LineView    = "view"
	LineTrouble = "trouble"
	LineAlive   = "alive"
)

// Line is one line of a stream: a view of the whole cluster whenever something of it changed, trouble while it cannot be asked,
// or nothing but that the stream is alive. A view ends trouble.
type Line struct {
	Type string `json:"type"`
	// Context is the ID of the one that a view or trouble is of.
	Context string `json:"context,omitempty"`
	View    *View  `json:"view,omitempty"`
	// Message, Next and RetryIn are those of trouble; RetryIn is as in "5s".
	Message string `json:"message,omitempty"`
	Next    string `json:"next,omitempty"`
	RetryIn string `json:"retryIn,omitempty"`
}

// The ways in which a view is kept up to date.
const (
	ByWatch = "watch"
	ByPoll  = "poll"
)

// View is how a cluster stands.
type View struct {
	// At is when it was seen, by the clock of this command.
	At time.Time `json:"at"`
	// How is watch, or poll where something of it may only be got.
	How     string `json:"how"`
	Release string `json:"release,omitempty"`
	// Machines are those that have one instance only; families are counted.
	Machines  []Machine             `json:"machines"`
	Revisions []clusterapi.Revision `json:"revisions"`
	Images    []phases.ImageDetail  `json:"images"`
	Look      []Look                `json:"look"`
	// MoreLook counts what there is no room for in Look.
	MoreLook   int              `json:"moreLook,omitempty"`
	Acts       []Act            `json:"acts"`
	Conditions []view.Condition `json:"conditions"`
	Families   []Family         `json:"families"`
	Commands   []Command        `json:"commands"`
	// Unread says what beside ClusterAPI and ClusterOperator could not be read.
	Unread []Unread `json:"unread"`
}

// Machine is how an instance stands, how it came there, and what can happen next.
type Machine struct {
	Machine string `json:"machine"`
	// Key is that of an instance of a family.
	Key machine.Key `json:"key,omitempty"`
	view.Head
	// Attention is one of the words below.
	Attention string `json:"attention"`
	Meaning   string `json:"meaning,omitempty"`
	Work      string `json:"work,omitempty"`
	// History are the last moves, the oldest first.
	History []machine.Transition `json:"history"`
	// Moves are those that can leave the present state, as `capstan explain -o json` tells them.
	Moves  []view.Way `json:"moves"`
	Untold string     `json:"untold,omitempty"`
}

// Whether somebody should look at a machine.
const (
	AttentionNone     = "none"     // it is where it should be
	AttentionUnderWay = "underway" // it is on its way, or nothing is told
	AttentionLook     = "look"     // somebody has to look
)

// Look is something that somebody should look at.
type Look struct {
	// Object is as in "Deployment capi-system/capi"; empty where it is about no single object.
	Object  string `json:"object,omitempty"`
	Trouble string `json:"trouble"` // one of the words below
	Why     string `json:"why"`
	// Next says what to do, Command is what to copy; either may be empty.
	Next    string `json:"next,omitempty"`
	Command string `json:"command,omitempty"`
}

// The kinds of trouble.
const (
	TroubleMachine   = "machine"   // a machine is in a state that alarms, or its work fails
	TroubleImage     = "image"     // a provider image is not to be had
	TroubleConsent   = "consent"   // a revision awaits consent
	TroubleCollision = "collision" // something of others is in the way
	TroubleRefused   = "refused"   // an update is refused, because data would be lost
	TroubleContested = "contested" // others keep changing a field
	TroubleFinding   = "finding"   // the API server found something that nobody refused
	TroubleDiffers   = "differs"   // not as it should be, and left so while it is paused
	TroubleAlone     = "leftalone" // left alone because people ask for it, and not as wanted
	TroubleRetained  = "retained"  // kept for the data in it
	TroubleStray     = "stray"     // marked as the operator's, and known to no revision
)

// Act is what people have asked for.
type Act struct {
	Act      string    `json:"act"`
	About    string    `json:"about,omitempty"`
	Revision int64     `json:"revision,omitempty"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at,omitzero"`
	// Until is its end; left out where another thing than time ends it.
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Standing says that it counts; Why why it does not, or not yet.
	Standing bool   `json:"standing"`
	Ended    bool   `json:"ended"`
	Why      string `json:"why,omitempty"`
	Unproved bool   `json:"unproved"`
	// Undo is the command that takes it back.
	Undo string `json:"undo"`
}

// Command is one to copy.
type Command struct {
	What    string `json:"what"`
	Command string `json:"command"`
}

// Unread is something that could not be read.
type Unread struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Next string `json:"next,omitempty"`
}

// Family is a machine with an instance for each of many objects.
type Family struct {
	Machine string `json:"machine"`
	Total   int    `json:"total"`
	// Counts are by state. They may count more than there are in the list: see Unnamed.
	Counts map[machine.State]int `json:"counts"`
	// Alarms counts those in states in which somebody has to look.
	Alarms int `json:"alarms"`
	// Unnamed counts those that the operator counts and does not name.
	Unnamed int `json:"unnamed,omitempty"`
	// Reading says that it is being read for the first time; Problem why nothing, or not all, is known.
	Reading bool   `json:"reading,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Instances are some of a family, those that need a look first, then by their keys.
type Instances struct {
	Family
	Matching int        `json:"matching"`
	Offset   int        `json:"offset"`
	Items    []Instance `json:"items"`
}

// Instance is one of a family, in a line.
type Instance struct {
	Key    machine.Key   `json:"key"`
	State  machine.State `json:"state"`
	Alarm  bool          `json:"alarm"`
	Since  time.Time     `json:"since,omitzero"`
	Reason string        `json:"reason,omitempty"`
}

// Objects are some of those that revisions list, in the order of doing.
type Objects struct {
	Total    int      `json:"total"`
	Matching int      `json:"matching"`
	Offset   int      `json:"offset"`
	Items    []Object `json:"items"`
	// Problem says what could not be read.
	Problem string `json:"problem,omitempty"`
}

// Object is one that a revision lists.
type Object struct {
	Object    string `json:"object"` // as in "Deployment capi-system/capi"
	Group     string `json:"group,omitempty"`
	Component string `json:"component,omitempty"`
	Revision  int64  `json:"revision"`
	Wave      int    `json:"wave"`
	// Retained says that it is of an older revision, and kept for the data in it.
	Retained bool `json:"retained,omitempty"`
}

// Plan is what `capstan plan -o json` prints.
type Plan = json.RawMessage
