package clusterapi

import (
	"fmt"
	"strings"
)

// The things that may stand without the machine failing or for as long as
// somebody else does not act. Their texts are what people read of them, the
// same wherever they are told.

// Collision is an object that exists and belongs to somebody else.
type Collision struct {
	Object string `json:"object" yaml:"object"`
	Holder string `json:"holder" yaml:"holder"`
	// Why says so in a sentence that begins with the object, and what lets the machine go on.
	Why string `json:"-" yaml:"why"`
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
	// Times counts how often the field was put right.
	Times int `json:"times" yaml:"times"`
}

// String leaves the count out: it would make the same fact new each time.
func (c Contested) String() string {
	who := "somebody who leaves no trace in its managedFields"
	if len(c.Managers) > 0 {
		who = "field manager " + strings.Join(c.Managers, " and ")
	}
	return fmt.Sprintf("field %s of %s is changed by %s again and again and put right less and less often; stop one of the two", c.Field, c.Object, who)
}

// Retained is an object that no revision has any more and that is kept because
// it holds data of users.
type Retained struct {
	Object string `json:"object" yaml:"object"`
	// Why says what it holds, Count how much of that; zero while it was not counted.
	Why   string `json:"why,omitempty" yaml:"why"`
	Count int64  `json:"count,omitempty" yaml:"count"`
}

func (r Retained) String() string {
	if r.Why == "" {
		return r.Object
	}
	return fmt.Sprintf("%s (%s)", r.Object, r.Why)
}

// Revision is how far one listed revision is.
type Revision struct {
	Name      string `json:"name"`
	Number    int64  `json:"number"`
	ContentID string `json:"contentID"`
	Current   bool   `json:"current,omitempty"`
	// Waves is empty for a revision that is neither the newest nor the current one.
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
