package privatecapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/status"
)

// Condition is the type of the condition that tells of the machine on a HostedCluster.
const Condition = "PrivateCAPIMigrated"

// toldAgain is after how long a condition is written again that could not be.
const toldAgain = 10 * time.Second

// nextActions say what people can do in states that wait for them.
var nextActions = map[machine.State]string{
	guards.Failed:          "take annotation " + guards.FailedAnnotation + " off to have the move tried again",
	guards.Held:            "have whoever set annotation " + guards.MigrationAnnotation + " take it off, and " + guards.CompanionAnnotation + " where it stands beside it",
	guards.Ambiguous:       "look which side's objects count, and delete the others once their finalizers can do no harm",
	guards.CommitBlocked:   "put right what the message names: it is tried again by itself",
	guards.CleanupBlocked:  "put right what the message names: it is tried again by itself",
	guards.UnlockBlocked:   "put right what the message names: it is tried again by itself",
	guards.RestoreBlocked:  "put right what the message names: it is tried again by itself",
	guards.RollbackBlocked: "put right what the message names: it is tried again by itself",
}

// Line says in one line where a HostedCluster is, why, until when, and what can be done; refusal is that of the programme.
func Line(r machine.Record, refusal string) string {
	for _, more := range []string{nextActions[r.State], refusal} {
		if more != "" && !strings.Contains(r.Reason, more) {
			r.Reason = strings.TrimPrefix(r.Reason+"; "+more, "; ")
		}
	}
	return status.Line(r)
}

// tellRefusal has an Event tell once of a try to switch private types off while they are in use.
func (p *Pass) tellRefusal() {
	refusal, news := p.facts.Programme.Refusal(), false
	p.memory.of(p.Key, func(r *remembered) {
		news = r.refusal != refusal
		r.refusal = refusal
	})
	if news && refusal != "" {
		p.tell("SwitchingOffRefused", refusal)
	}
}

// Telling is a store that also tells of each record in a condition of its HostedCluster.
func (p *Phases) Telling(next machine.Store[guards.Facts, Works]) machine.Store[guards.Facts, Works] {
	return &conditioned{remembering: remembering{next: next, phases: p}}
}

type conditioned struct{ remembering }

// Save saves the record, and then the condition, unless the look has shown it as it should be. One that cannot be written holds nothing up.
func (s *conditioned) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	later, err := s.remembering.Save(ctx, key, shot)
	pass, is := shot.Seen.(*Pass)
	if err != nil || !is || pass.Hosted == nil || pass.condition(pass.Hosted.DeepCopy(), shot.Record) == nil {
		return later, err
	}
	if err := pass.writeCondition(ctx, shot.Record); err != nil && !apierrors.IsNotFound(err) && (later == 0 || later > toldAgain) {
		later = toldAgain
	}
	return later, nil
}

// writeCondition reads the HostedCluster first: watches show it without the rest of its status, and the pass may have written to it since it looked.
func (p *Pass) writeCondition(ctx context.Context, r machine.Record) error {
	namespace, name := Split(p.Key)
	o, err := p.API.Get(ctx, HostedClusters, namespace, name)
	if err != nil {
		return fmt.Errorf("reading HostedCluster %s: %w", p.Key, err)
	}
	if o.GetUID() != p.Hosted.GetUID() {
		return nil // the record is of the one that was there before
	}
	w := p.condition(o, r)
	if w == nil {
		return nil
	}
	_, err = p.API.Write(ctx, *w)
	return err
}

// condition is the write that has a HostedCluster, as the API server has it, tell of a record; nil if it does.
func (p *Pass) condition(o *unstructured.Unstructured, r machine.Record) *Write {
	is := "False"
	if r.State == guards.Private || p.facts.Marks.Companion.Stage == guards.Committed && p.direction() == guards.ToPrivate {
		is = "True"
	}
	wanted := map[string]any{"type": Condition, "status": is, "reason": string(r.State), "message": machine.Shorten(Line(r, p.facts.Programme.Refusal()), machine.MaxMessage)}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	at := slices.IndexFunc(list, func(item any) bool {
		one, _ := item.(map[string]any)
		return one["type"] == Condition
	})
	wanted["lastTransitionTime"] = r.Since.UTC().Format(time.RFC3339)
	if at >= 0 {
		have, _ := list[at].(map[string]any)
		if have["status"] == is && have["reason"] == wanted["reason"] && have["message"] == wanted["message"] {
			return nil
		}
		if have["status"] == is {
			wanted["lastTransitionTime"] = have["lastTransitionTime"]
		}
		list[at] = wanted
	} else {
		list = append(list, wanted)
	}
	status, _ := o.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
		o.Object["status"] = status
	}
	status["conditions"] = list
	return &Write{
		Verb: Replace, Kind: HostedClusters, Namespace: o.GetNamespace(), Name: o.GetName(), Status: true,
		UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Body: o.Object,
	}
}

// Started is when a move began, by its id; zero if that does not say.
func Started(c guards.Companion) time.Time {
	_, move, _ := strings.Cut(c.ID, "/")
	move, _, _ = strings.Cut(move, "/")
	at, err := time.Parse(moveForm, move)
	if err != nil {
		return time.Time{}
	}
	return at
}

// LockedFor counts from when the move began by its id: the lock outlives the process.
func (p *Pass) LockedFor() time.Duration {
	c := p.facts.Marks.Companion
	began := Started(c)
	if began.IsZero() || !c.IsOf(p.Installation) {
		return 0
	}
	return p.Now().Sub(began)
}

// moveForm is how the time at which a move began tells it apart.
const moveForm = "20060102T150405Z"

// Standing is how a HostedCluster stands, for metrics.
type Standing struct {
	Key   machine.Key
	Marks guards.Marks
	State machine.State
}

// Standings are those of all HostedClusters, as watches and records show them.
func (p *Phases) Standings(ctx context.Context) ([]Standing, error) {
	clusters, err := p.Clusters(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing HostedClusters: %w", err)
	}
	var all []Standing
	for _, o := range clusters {
		key := KeyOf(o)
		all = append(all, Standing{Key: key, Marks: guards.MarksOf(o.GetAnnotations()), State: p.memory.of(key, nil).record.State})
	}
	return all, nil
}

// RecordOf is what the condition of a HostedCluster tells of its record.
func RecordOf(o *unstructured.Unstructured) (machine.Record, bool) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		one, _ := item.(map[string]any)
		if one["type"] != Condition {
			continue
		}
		reason, _ := one["reason"].(string)
		message, _ := one["message"].(string)
		since, _ := one["lastTransitionTime"].(string)
		at, err := time.Parse(time.RFC3339, since)
		return machine.Record{State: machine.State(reason), Reason: message, Since: at}, err == nil
	}
	return machine.Record{}, false
}
