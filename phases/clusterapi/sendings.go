package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
)

// noteWithin is how long a deletion by a consent waits for the history.
const noteWithin = 3 * time.Second

// sending is a deletion by a consent that was about to be sent, as the history of a revision has it: the act may be gone by the time
// that somebody sees what came of it.
type sending struct {
	revision, line string
	key            engine.Key
	consent        engine.Consent
}

// lineOf is a deletion as it is stored: the object as an act names it, its UID, how many objects it held, and who consented.
func lineOf(key engine.Key, c engine.Consent) string {
	o := acts.Object{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name}
	return fmt.Sprintf("%s %s %d %s", o, c.UID, c.Count, c.By)
}

// sendings are those of which nobody has seen what came of them, the oldest first.
func (p *Pass) sendings() (all []sending) {
	known, _ := p.History.Known()
	for _, r := range known.Revisions {
		for _, line := range r.Sent {
			o := acts.ObjectOf(line)
			if len(o.Rest) < 3 {
				continue
			}
			count, _ := strconv.ParseInt(o.Rest[1], 10, 64) // this operator has written it
			all = append(all, sending{r.Name, line, keyOf(o), engine.Consent{
				UID: types.UID(o.Rest[0]), Count: count, By: strings.Join(o.Rest[2:], " "),
			}})
		}
	}
	return all
}

// losing has the history remember that an object is about to be deleted by a consent: this process may be killed before it
// says that it was. Nothing waits long for that.
func (p *Pass) losing(ctx context.Context) func(engine.Key, types.UID) {
	given := p.consents(p.desired.Number)
	return func(key engine.Key, _ types.UID) {
		if err := p.noteLosing(ctx, lineOf(key, given[key.Identity()])); err != nil {
			p.Log.Info("that a consent is about to be used could not be written", "object", key.String(), "error", err.Error())
		}
	}
}

func (p *Pass) noteLosing(ctx context.Context, line string) error {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	if err := p.History.Load(ctx); err != nil {
		return err
	}
	p.handed.Store(line, nil)
	p.History.Send(p.desired.Name, line)
	return p.History.Flush(ctx)
}

// sent are the UIDs of objects of which the deletion by a consent may have been sent, without anybody having seen what came of it.
func (p *Pass) sent(ctx context.Context) map[engine.Key]types.UID {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	if err := p.History.Load(ctx); err != nil {
		p.Log.Info("which consents were about to be used could not be read", "error", err.Error())
	}
	sent := map[engine.Key]types.UID{}
	for _, s := range p.sendings() {
		p.handed.Store(s.line, nil)
		sent[s.key] = s.consent.UID
	}
	return sent
}

// used is what is told of a consent that was used, and the revision that it was used for.
func (p *Pass) used(o engine.Orphan, sent []sending) (revision, text string) {
	revision = p.desired.Name
	consent, is := p.consents(p.desired.Number)[o.Key.Identity()]
	for _, s := range sent {
		if s.key == o.Key.Identity() && (o.UID == "" || o.UID == s.consent.UID) {
			revision, consent, is = s.revision, s.consent, true
		}
	}
	if !is {
		return revision, o.Key.String()
	}
	return revision, fmt.Sprintf("%s (UID %s) with %d that it held, by %s", o.Key, consent.UID, consent.Count, consent.By)
}

// settle ends that the history remembers what was sent, once a teardown that knew of it has seen what came of it.
func (p *Pass) settle(report *engine.TeardownReport, sent []sending) {
	if len(sent) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, s := range sent {
		_, handed := p.handed.Load(s.line)
		seen[s.line] = handed && !slices.ContainsFunc(report.Waiting, func(o engine.Orphan) bool {
			return o.Key.Identity() == s.key && undecided(o)
		})
	}
	p.History.Settle(func(line string) bool { return !seen[line] })
}
