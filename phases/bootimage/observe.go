package bootimage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/newest"
)

// Observe looks at a target without changing anything. Only what is enrolled and may be touched has its stub read.
func (p *Phases) Observe(ctx context.Context, key machine.Key) (guards.Facts, *Pass, error) {
	if why := p.Blind(); why != "" {
		return guards.Facts{}, nil, errors.New("targets cannot be looked at: " + why)
	}
	pass := &Pass{Phases: p, Key: key, Verdict: p.Board.Verdict()}
	target, err := p.target(ctx, p.Client, key)
	if err != nil || target == nil {
		return guards.Facts{}, pass, err
	}
	pass.Target, pass.UID = target, string(target.Object.GetUID())
	f := guards.Facts{
		Seen: true,
		Object: guards.Object{
			API: api(target.Kind), Kind: kindName(target.Kind), Resource: string(target.Kind),
			Namespace: target.Object.GetNamespace(), Name: target.Name, UID: pass.UID,
		},
		Gate: guards.Gate{Known: pass.Verdict.Known, Open: pass.Verdict.Open, Why: pass.Verdict.Why},
	}
	if f.Others, err = pass.others(ctx); err != nil {
		return guards.Facts{}, pass, err
	}
	if f.Enrolment, err = pass.enrolment(ctx); err != nil {
		return guards.Facts{}, pass, err
	}
	f.Target = guards.Target{Read: true, Fields: target.fields()}
	if pass.Verdict.Golden != nil {
		pass.judge(&f)
	}
	pass.looksAtStub(ctx, &f)
	err = pass.remembers(ctx, &f)
	pass.facts = f
	return f, pass, err
}

// judge has the golden images say what the target should have.
func (p *Pass) judge(f *guards.Facts) {
	p.Judged = p.Verdict.Golden.Judge(&p.Verdict.Cluster, p.Target.For)
	f.Target.Image = present(p.Judged)
	if p.Judged.Outcome == golden.Invalid {
		f.Target.Problem = p.Judged.Message
		return
	}
	f.Verdict = guards.Verdict{Known: true, Wanted: p.Judged.Wanted, Same: p.Judged.Outcome == golden.AsWanted}
	if p.Judged.Outcome == golden.Skipped {
		f.Verdict.Skip, f.Verdict.Detail, f.Verdict.Uncounted = guards.Skip(p.Judged.Reason), p.Judged.Message, !p.Judged.Counted()
	}
}

// enrolment says whether the administrator has opted the target in, by itself or by its twin.
func (p *Pass) enrolment(ctx context.Context) (guards.Enrolment, error) {
	enrols := p.Verdict.Enrols
	if enrols == nil {
		return guards.Enrolment{}, nil
	}
	this := p.Verdict.Cluster.InfrastructureName
	if of := p.Target.clusterName(); of != "" && this == "" {
		return guards.Enrolment{}, nil // nobody can tell yet
	} else if of != "" && of != this {
		return guards.Enrolment{Known: true, OtherCluster: of}, nil
	}
	by := enrols[p.Target.Kind]
	if by != nil && by.Selects(p.Target.Object.GetLabels()) {
		return guards.Enrolment{Known: true, Is: true, By: selectedBy(p.Target.Kind, by)}, nil
	}
	if p.Target.Kind != golden.CAPIMachineSets || by != nil && by.RefusesTwins() {
		return guards.Enrolment{Known: true}, nil
	}
	twin, err := p.twin(ctx)
	if err != nil {
		return guards.Enrolment{}, err
	}
	if by = enrols[golden.MachineSets]; twin == nil || authority(twin) != guards.ClusterAPI || by == nil || !by.Selects(twin.Labels) {
		return guards.Enrolment{Known: true}, nil
	}
	return guards.Enrolment{Known: true, Is: true, By: "its twin in Machine API, which " + selectedBy(golden.MachineSets, by) + " selects"}, nil
}

// selectedBy names for people what selects targets of a kind, and what it says.
func selectedBy(kind golden.Kind, by bootboard.Selection) string {
	resource, _, _ := strings.Cut(string(kind), ".")
	if api(kind) == guards.MachineAPI {
		return fmt.Sprintf("%s %s in status.managedBootImagesStatus of MachineConfiguration cluster", resource, by)
	}
	return fmt.Sprintf("annotation boot-images-%s=%s of MachineConfiguration cluster", resource, by)
}

// looksAtStub finds the stub of the target, and reads it where the target may be written.
func (p *Pass) looksAtStub(ctx context.Context, f *guards.Facts) {
	name, provided, err := p.Target.secretName()
	switch {
	case provided:
		f.Stub = guards.Stub{Known: true}
		return
	case err != nil:
		p.stub.unread = machine.Terminal(err)
		f.Stub = guards.Stub{Unread: err.Error()}
		return
	}
	key := client.ObjectKey{Namespace: p.Target.Object.GetNamespace(), Name: name}
	if p.MachineAPI {
		if p.original, err = p.originalOf(ctx, key); err != nil {
			p.stub = stubSeen{key: key, unread: err}
			f.Stub = p.stub.facts(p.original)
			return
		}
	}
	p.stub.key = key
	if f.Stub.Secret = key.String(); !f.Gate.Open || guards.Enrolled.Answer(*f).Truth != machine.Yes || guards.Touchable.Answer(*f).Truth != machine.Yes {
		return
	}
	p.stub = p.look(ctx, key, p.Target.stubKey())
	f.Stub = p.stub.facts(p.original)
	if f.Stub.Old && !p.MachineAPI {
		if p.original, err = p.originalOf(ctx, key); err != nil {
			p.stub.unread = err
		}
		f.Stub = p.stub.facts(p.original)
	}
}

// remembers looks at attempts, plan, clone and the last write.
func (p *Pass) remembers(ctx context.Context, f *guards.Facts) error {
	note, err := p.Notes.Note(ctx, p.Key)
	if err != nil {
		return err
	}
	p.seen, p.attempts = note, decodedAttempts(note)
	remembered := p.memory.of(p.Key, nil)
	p.plan, p.Tries = remembered.plan, remembered.state == Failed
	p.storedByNow()
	f.Attempts = p.tells(f.Verdict.Wanted)
	f.Attempts.Known = f.Verdict.Known
	if err := p.sees(ctx, f); err != nil {
		return err
	}
	if p.attempts.Upgraded && f.Attempts.Made > 0 {
		f.Attempts.StubUpgraded = p.stub.key.String()
	}
	f.Plan = guards.Plan{Known: true, None: p.plan == nil || p.plan.UID != p.UID}
	if !f.Plan.None {
		f.Plan.Wanted, f.Plan.Old, f.Plan.SecretVersion = p.plan.Wanted, p.plan.Old, p.plan.SecretVersion
	}
	f.Write = p.arrived(remembered)
	return p.looksAtClone(ctx, f)
}

// arrived says how far the last write has come. A process that has written nothing has to ask.
func (p *Pass) arrived(r remembered) guards.Write {
	if r.lost || r.written == "" {
		return guards.Write{}
	}
	return guards.Write{Known: true, Seen: !newest.Behind(p.Target.Object.GetResourceVersion(), r.written)}
}

// looksAtClone looks for the template that the plan leads to.
func (p *Pass) looksAtClone(ctx context.Context, f *guards.Facts) error {
	if api(p.Target.Kind) == guards.MachineAPI || p.Judged.CloneName == "" {
		f.Template.Known = p.Judged.Outcome == golden.AsWanted
		f.Template.Ready = f.Template.Known
		return nil
	}
	clone, err := p.templateOf(ctx, p.Target.For.Template.GetKind(), p.Judged.CloneName)
	if err != nil {
		return err
	}
	f.Template = guards.Template{Known: true, Name: p.Judged.CloneName, Retiring: p.Board.Retiring(p.Judged.CloneName)}
	if clone != nil && !f.Template.Retiring {
		p.clone = clone
		f.Template.Ready = p.Judged.IsClone(clone)
		// Not its resourceVersion: to claim it is no reason to try again.
		f.Template.Version = fmt.Sprintf("%s/%d", clone.GetUID(), clone.GetGeneration())
	}
	return nil
}

// fields is a fingerprint of what of a target matters, but for its image.
func (t *Target) fields() string {
	annotations := t.Object.GetAnnotations()
	parts := []string{
		t.For.Strategy, string(t.For.ProviderSpec), annotations[guards.AdoptImageAnnotation], annotations[guards.AllowRolloutAnnotation],
		annotations[guards.RetryAnnotation], annotations[golden.ArchAnnotation],
	}
	if o, is := t.Object.(*unstructured.Unstructured); is {
		spec, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template", "spec")
		of, _ := spec.(map[string]any)
		parts = append(parts, fmt.Sprint(of["infrastructureRef"], of["bootstrap"]))
	}
	if t.For.Template != nil {
		parts = append(parts, t.For.Template.GetResourceVersion())
	}
	return hashed(strings.Join(parts, "\x00"))
}

// lastWriter is the field manager that has written an object last. It is asked at each pass, and what an untyped object has of
// managers is not decoded for that.
func lastWriter(o client.Object) (name string) {
	if untyped, is := o.(*unstructured.Unstructured); is {
		return lastOf(untyped)
	}
	var last int64
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.Unix() >= last {
			name, last = entry.Manager, entry.Time.Unix()
		}
	}
	return name
}

func lastOf(o *unstructured.Unstructured) (name string) {
	managers, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
	entries, _ := managers.([]any)
	last := ""
	for _, one := range entries {
		entry, _ := one.(map[string]any)
		manager, _ := entry["manager"].(string)
		at, _ := entry["time"].(string) // in UTC, to the second: what is later comes later in order
		if subresource, _ := entry["subresource"].(string); subresource == "" && at != "" && at >= last {
			name, last = manager, at
		}
	}
	return name
}

// present are the images that a target names.
func present(v golden.Verdict) string { return strings.Join(v.Present, ",") }
