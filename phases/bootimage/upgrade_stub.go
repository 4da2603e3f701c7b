package bootimage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/stub"
)

// The annotations of a Secret whose stub was upgraded, as the machine-config operator writes them.
const (
	upgradedTo = "machineconfiguration.openshift.io/stub-ignition-upgraded-to"
	upgradedAt = "machineconfiguration.openshift.io/stub-ignition-upgraded-at"
)

// maxSharers bounds how many are named that start from the same stub.
const maxSharers = 10

// UpgradeStub makes the stub readable for the wanted image.
var UpgradeStub = machine.Action[*Pass]{
	Name: "UpgradeStub", Writes: []string{"ConfigMap", "Secret"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.upgradeStub(ctx) },
	Doc: "does what ReadStub does; tries by dry runs that the clone and the new image would be taken; waits until every target has been judged; converts the stub to spec 3.1 with all that is in it, stores the attempt, writes the Secret, bound to what was read, and tells that by an Event. Fails for good if the stub cannot be converted, the Secret is immutable, or something that stays on an older image starts from it or from its copy, which is named (StubShared). Of a copy the original is upgraded, and the copy is waited for.",
}

func (p *Pass) upgradeStub(ctx context.Context) (machine.Result, error) {
	if err := p.readStub(); err != nil || !p.writes() {
		return machine.Result{}, err
	}
	seen, field := p.stub, p.Target.stubKey()
	if seen.key.Name == "" || seen.problem == "" && seen.spec.IsSpec3() {
		return machine.Result{}, nil
	}
	if p.original.Name != "" {
		if !p.Verdict.Ours {
			return machine.Result{}, nil // whoever has Machine API upgrades it
		}
		field = "userData"
		if seen = p.look(ctx, p.original, field); seen.unread != nil {
			return machine.Result{}, seen.unread
		}
		if p.hears(ctx); seen.problem == "" && seen.spec.IsSpec3() || p.plan.Upgraded {
			return machine.Result{}, nil // the copy follows, or somebody has put the original back: it is written once a plan
		}
	}
	if seen.problem != "" {
		return machine.Result{}, machine.Terminal(fmt.Errorf("the stub in Secret %s: %s", seen.key, seen.problem))
	}
	return p.trying(func() (machine.Result, error) { return p.upgrade(ctx, seen, field) })
}

// upgrade converts a stub and writes it, once it is known that all else would be taken.
func (p *Pass) upgrade(ctx context.Context, seen stubSeen, field string) (machine.Result, error) {
	read := p.stubs.of(seen.key)
	if !read.mu.TryLock() { // one target writes it for all; those that would wait for it look like passes that hang
		return machine.Result{LookAgain: soon}, nil
	}
	defer read.mu.Unlock()
	if read.version != seen.version {
		return machine.Result{LookAgain: soon}, nil
	}
	if all, judged := p.Board.Complete(p.Verdict.News); !all || !judged {
		return machine.Result{LookAgain: soon}, nil // some of those that may start from it have not been looked at yet
	}
	if stay := p.stay(seen.key.String()); len(stay) > 0 {
		return machine.Result{}, machine.Terminal(fmt.Errorf("StubShared: Secret %s has a stub of spec %s, and what is not moved starts from it too and cannot read spec 3: %s",
			seen.key, seen.spec, strings.Join(stay, ", ")))
	}
	if err := p.copied(ctx, seen); err != nil {
		return machine.Result{}, err
	}
	secret := &corev1.Secret{}
	if err := p.Live.Get(ctx, seen.key, secret); err != nil {
		return machine.Result{}, fmt.Errorf("reading Secret %s: %w", seen.key, err)
	}
	if secret.ResourceVersion != seen.version {
		return machine.Result{LookAgain: soon}, nil
	}
	if ptr.Deref(secret.Immutable, false) {
		return machine.Result{}, machine.Terminal(fmt.Errorf("Secret %s has a stub of spec %s and is immutable: make it anew with a stub of spec 3", seen.key, seen.spec))
	}
	converted, err := p.Convert(ctx, secret.Data[field])
	if err != nil {
		return machine.Result{}, fmt.Errorf("converting the stub in Secret %s: %w", seen.key, err)
	}
	passed, err := p.tryRest(ctx)
	switch {
	case err != nil:
		return machine.Result{}, err
	case !passed:
		return machine.Result{LookAgain: soon}, nil
	}
	if err := errors.Join(p.count(ctx), p.countStub(ctx, read, seen.version)); err != nil {
		return machine.Result{}, err
	}
	secret.Data[field] = converted
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	secret.Annotations[upgradedTo], secret.Annotations[upgradedAt] = stub.Converted.String(), p.Now().Format(time.RFC3339)
	sent := &upgrade{key: seen.key, field: field, from: seen.spec, at: secret.Annotations[upgradedAt]}
	result, err := p.writeSecret(ctx, secret, sent)
	if err == nil && result.Did != "" {
		read.version, read.spec, read.at, read.upgraded = secret.ResourceVersion, stub.Converted, p.Now(), sent.at
		p.tellUpgrade(ctx, sent)
	}
	return result, err
}

// tryRest tries by dry runs what would be written after the stub, and says whether that passed: a stub that was upgraded for nothing
// helps nobody.
func (p *Pass) tryRest(ctx context.Context) (passed bool, err error) {
	if p.Judged.Outcome != golden.Outdated {
		return true, nil
	}
	if p.clone != nil {
		if err := p.taken(p.clone); err != nil {
			return false, err
		}
	} else if api(p.Target.Kind) != guards.MachineAPI {
		if result, err := p.makeClone(ctx, true); err != nil || result.LookAgain > 0 {
			return false, err
		}
	}
	return p.patch(ctx, true)
}

func (p *Pass) writeSecret(ctx context.Context, secret *corev1.Secret, sent *upgrade) (machine.Result, error) {
	options := []client.UpdateOption{client.FieldOwner(golden.FieldManager)}
	if p.Tries {
		options = append(options, client.DryRunAll)
	} else {
		p.replan(func(plan *plan) { plan.Sent, plan.Upgrade = true, sent })
	}
	key := client.ObjectKeyFromObject(secret)
	err := p.Writer.Update(ctx, secret, options...)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return machine.Result{LookAgain: soon}, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		// What the API server says of it may quote it.
		return machine.Result{}, machine.Terminal(errors.New("the API server refuses the upgraded stub of Secret " + key.String()))
	case err != nil:
		return machine.Result{}, fmt.Errorf("writing Secret %s: %w", key, err)
	case p.Tries:
		return machine.Result{}, nil
	}
	return machine.Result{Did: fmt.Sprintf("upgraded the stub in Secret %s to spec %s", key, stub.Converted), LookAgain: soon}, nil
}

// copied is the error of a stub that has a copy for Cluster API while nobody looks at what starts from that.
func (p *Pass) copied(ctx context.Context, seen stubSeen) error {
	if p.ClusterAPI || seen.key.Namespace != MachineAPINamespace {
		return nil
	}
	other := client.ObjectKey{Namespace: p.CAPINamespace, Name: seen.key.Name}
	err := p.Client.Get(ctx, other, Secret())
	if err == nil {
		return machine.Terminal(fmt.Errorf("StubShared: Secret %s has a stub of spec %s and a copy %s, and what starts from that is not looked at: run the operator with --boot-images=MachineAPI,ClusterAPI",
			seen.key, seen.spec, other))
	}
	return client.IgnoreNotFound(err)
}

// stay are those that start from a stub and are not moved, but for the target itself.
func (p *Pass) stay(secret string) []string {
	stay := slices.DeleteFunc(p.Board.Stay(secret), func(name string) bool { return name == string(p.Key) })
	if more := len(stay) - maxSharers; more > 0 {
		stay = append(stay[:maxSharers], fmt.Sprintf("and %d more", more))
	}
	return stay
}
