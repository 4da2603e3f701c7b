package privatecapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// maxQuoted bounds what a reason takes from an object, in bytes.
const maxQuoted = 256

// Marks is what the annotations of a HostedCluster say.
type Marks struct {
	// Legacy and Private are the marks of the old and of the new operator, Migrating is the lock.
	Legacy    bool `yaml:"legacy"`
	Private   bool `yaml:"private"`
	Migrating bool `yaml:"migrating"`
	// Failed is why a move was undone, empty for none.
	Failed Reason `yaml:"failed"`
	// Scope is another's value of the annotation for scopes, as it stands or as it waits; empty for none.
	Scope string `yaml:"scope"`
	// Companion says whose the lock is; Present is false where there is none.
	Companion Companion `yaml:"companion"`
	// Restored says that it was put back from a backup, which may be older than the programme.
	Restored bool `yaml:"restored"`
	// Paused and Revert are requests of people.
	Paused bool `yaml:"paused"`
	Revert bool `yaml:"revert"`
}

// Companion stands beside the lock: which move it is of, where that leads, how far it has come, and why it is undone, if it is.
type Companion struct {
	Present bool `json:"-" yaml:"present"`
	// Problem says why it cannot be read, empty if it can.
	Problem string `json:"-" yaml:"problem"`
	// ID is that of the installation that moves, what tells its moves apart, and the direction, with slashes between them, see
	// [MigrationID]. Direction is told beside it for people: that of the ID counts, which the fence names.
	ID        string    `json:"id" yaml:"id"`
	Direction Direction `json:"direction" yaml:"direction"`
	Stage     Stage     `json:"stage" yaml:"stage"`
	Reason    Reason    `json:"reason,omitempty" yaml:"reason"`
	// Started says that the components were started on the copies, or may have been, and Ran that the target runs, or may have.
	Started bool `json:"started,omitempty" yaml:"started"`
	Ran     bool `json:"ran,omitempty" yaml:"ran"`
}

// MarksOf reads the annotations of a HostedCluster.
func MarksOf(annotations map[string]string) Marks {
	scope, previous := annotations[ScopeAnnotation], annotations[PreviousScopeAnnotation]
	m := Marks{
		Legacy:  scope == ScopeLegacy,
		Private: annotations[PrivateTypesAnnotation] == MarkTrue,
		Scope:   scope,
	}
	if m.Legacy {
		m.Scope = previous
	}
	_, m.Migrating = annotations[MigrationAnnotation]
	_, m.Restored = annotations[RestoredAnnotation]
	_, m.Paused = annotations[PausedAnnotation]
	_, m.Revert = annotations[RevertAnnotation]
	if failed, is := annotations[FailedAnnotation]; is {
		m.Failed = Reason(failed)
		if failed == "" { // somebody else's, which blocks all the same
			m.Failed = AmbiguousState
		}
	}
	if text, is := annotations[CompanionAnnotation]; is {
		m.Companion = readCompanion(text)
	}
	return m
}

// readCompanion reads what Text writes. One that cannot be read is present, and nobody's.
func readCompanion(text string) Companion {
	var c Companion
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return Companion{Present: true, Problem: err.Error()}
	}
	c.Present = true
	switch c.ID {
	case "":
		c.Problem = "it has no id"
	default:
		c.Direction = Direction(c.ID[strings.LastIndex(c.ID, "/")+1:])
		if c.Direction != ToPrivate && c.Direction != ToStandard {
			c.Problem = "its id names no direction"
		}
	}
	switch c.Stage {
	case Moving, Live, Committed, Undoing, Undone:
	default:
		c.Problem = fmt.Sprintf("%q is no stage", c.Stage)
	}
	if c.Problem != "" {
		return Companion{Present: true, Problem: c.Problem}
	}
	return c
}

// Text is the companion as its annotation has it.
func (c Companion) Text() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts alone can always be written
	}
	return string(text)
}

// IsOf says whether the companion is of an installation.
func (c Companion) IsOf(installation string) bool {
	of, _, cut := strings.Cut(c.ID, "/")
	return c.Present && c.Problem == "" && cut && installation != "" && of == installation
}

// MigrationID names a move of an installation, and where it leads: whoever turns that makes it another move, which no fence names.
func MigrationID(installation, move string, to Direction) string {
	return strings.Join([]string{installation, move, string(to)}, "/")
}

// MoveOf names a move at a stage as a label can: in sixteen letters and digits, whatever its id is.
func MoveOf(id string, stage Stage) string {
	const length = 8
	sum := sha256.Sum256([]byte(id + " " + string(stage)))
	return hex.EncodeToString(sum[:length])
}

// IsNamed says whether a name is one that [MoveOf] gives to this move, and whether it is that of its present stage.
func (c Companion) IsNamed(by string) (move, stage bool) {
	for _, s := range []Stage{Moving, Live, Committed, Undoing, Undone} {
		move = move || by == MoveOf(c.ID, s)
	}
	return move, by == MoveOf(c.ID, c.Stage)
}

// Locked says that the lock is there, or what stands beside it.
func (m Marks) Locked() bool { return m.Migrating || m.Companion.Present }
