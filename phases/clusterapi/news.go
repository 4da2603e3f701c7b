package clusterapi

import (
	"fmt"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

// gatherMoves is how long transitions are gathered, so that one Event tells a
// passage through several states: an installation without trouble is one Event,
// whatever its length. A state that the machine rests in is told at once.
const gatherMoves = 10 * time.Second

// maxPath is how much of an Event's text the moves may take from a long line, in bytes.
const maxPath = 400

// tellMoves announces the transitions that have not been told. It is called
// when they are stored, and returns after how long to call it again.
func (s *Store) tellMoves(record machine.Record, line string, now time.Time) time.Duration {
	var made []machine.Transition
	for _, t := range record.Transitions {
		if t.At.After(s.movesTold) {
			made = append(made, t)
		}
	}
	if len(made) == 0 {
		return 0
	}
	if wait := made[0].At.Add(gatherMoves).Sub(now); wait > 0 && !s.Rests(record.State) {
		return wait
	}
	last := made[len(made)-1]
	s.movesTold = last.At
	s.events.tell(news{
		about: s.about(), key: pathOf(made, true), reason: string(last.To), action: string(last.Event),
		text: passage(line, made), warns: record.Failure != nil || s.Alarms(record.State),
	})
	return 0
}

// passage is the line and every move that led there. When there is no room for
// the moves' causes they go before a move does.
func passage(line string, made []machine.Transition) string {
	room := max(maxPath, machine.MaxMessage-len(line)-len(" []"))
	path := pathOf(made, true)
	if len(path) > room {
		path = machine.Shorten(pathOf(made, false), room)
	}
	return machine.Shorten(line, machine.MaxMessage-len(path)-len(" []")) + " [" + path + "]"
}

// pathOf is every move, with its cause or without; times are left out, so that the same way taken again is the same news.
func pathOf(made []machine.Transition, causes bool) string {
	var b strings.Builder
	for i, t := range made {
		if i == 0 {
			b.WriteString(string(t.From))
		}
		fmt.Fprintf(&b, " --%s--> %s", t.Event, t.To)
		if causes && t.Cause != "" {
			fmt.Fprintf(&b, " (%s)", t.Cause)
		}
	}
	return b.String()
}

// tellStanding announces what has come to stand since the stored detail was
// written, one Event for each kind of thing. What stood before is no news, also
// after a restart.
func (s *Store) tellStanding(before *configv1.ClusterOperator, f guards.Display) {
	old := storedDetail(before)
	announce(s, "Collision", "Apply", true, old.Collisions, f.Collisions, func(c guards.Collision) string { return c.Object + " " + c.Holder })
	announce(s, "Refused", "Apply", true, old.Refused, f.Refused, func(r guards.Refused) string { return r.Object })
	announce(s, "Contested", "Apply", true, old.Contested, f.Contested, func(c guards.Contested) string {
		return c.Object + " " + c.Field + " " + strings.Join(c.Managers, " ")
	})
	announce(s, "Retained", "Prune", false, old.Retained, f.Retained, func(r guards.RetainedObject) string { return r.Object })
	announce(s, "Stray", "Watch", true, old.Strays, f.Strays, func(stray string) string { return stray })
}

// announce tells those of now whose keys are not among those of before.
func announce[T any](s *Store, reason, action string, warns bool, before, now []T, key func(T) string) {
	known := map[string]bool{}
	for _, item := range before {
		known[key(item)] = true
	}
	var keys, texts []string
	for _, item := range now {
		if !known[key(item)] {
			keys, texts = append(keys, key(item)), append(texts, fmt.Sprint(item))
		}
	}
	if len(keys) == 0 {
		return
	}
	s.events.tell(news{
		about: s.about(), key: reason + " " + strings.Join(keys, "; "), reason: reason, action: action, warns: warns,
		text: machine.Shorten(strings.Join(texts, "; "), machine.MaxMessage),
	})
}

// about is the object that Events are about.
func (s *Store) about() corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: operatorv1alpha1.GroupVersion.String(), Kind: "ClusterAPI", Name: Singleton, UID: s.memory.apiUID,
	}
}
