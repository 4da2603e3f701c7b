package openshiftconfig

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/standing"
)

const configKind = "OpenShiftConfig"

// Phases look at OpenShiftConfigs and publish what their machines are started with.
type Phases struct {
	// Client reads objects from caches, but for Secrets, and writes.
	Client client.Client
	// Live reads from the API server itself.
	Live client.Reader
	// Published is told how large, in bytes, an Ignition config is that was stored; nil for nobody.
	Published func(role v1alpha1.Role, size int)

	mu sync.Mutex
	// known is what was read last. Lost, it is read again.
	known map[machine.Key]known
}

// known is what is known of the data of a config as long as all that it is made of has the same versions.
type known struct {
	sources, digest string
	// payload is the one that was read, until the data Secret is right; nil for none, and for one that is too large to be kept.
	payload *onePayload
	// right is the version of the data Secret when it was last read, or created, as it should be; empty for none.
	right string
	// uncached says that the API server has, or may have, a data Secret that the cache does not show.
	uncached bool
}

// Forget lets go of what is remembered of a config that is gone.
func (p *Phases) Forget(key machine.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, key)
}

func (p *Phases) remembered(key machine.Key) known {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[key]
}

func (p *Phases) remember(key machine.Key, k known) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[machine.Key]known{}
	}
	p.known[key] = k
}

// Pass is one look at an OpenShiftConfig, and what the work is done with.
type Pass struct {
	Look
	key    machine.Key
	facts  guards.Facts
	phases *Phases
	// data is what the Secret is to hold, refused why there is no such thing.
	data    []byte
	refused error
	// unseen is why not all could be read, nil where it was.
	unseen error
	// secret is the data Secret as it is, nil for none.
	secret *corev1.Secret
}

// Facts are what the pass has seen.
func (p *Pass) Facts() guards.Facts { return p.facts }

// Observe looks at the OpenShiftConfig of a key. Once the machine was started nothing is read but what caches hold, and neither while
// nobody owns the config.
func (p *Phases) Observe(ctx context.Context, key machine.Key) (guards.Facts, Works, error) {
	look, err := Read(ctx, p.Client, records.ObjectOf(key))
	if err != nil {
		return guards.Facts{}, nil, err
	}
	pass := &Pass{Look: look, key: key, facts: look.Facts(), phases: p}
	if look.Config == nil || look.Machine == nil || guards.BootHasBegun.Answer(pass.facts).Truth != machine.No {
		return pass.facts, pass, nil
	}
	if pass.unseen = pass.read(ctx); pass.unseen != nil {
		pass.facts.Unseen = machine.Shorten(pass.unseen.Error(), machine.MaxMessage)
	}
	return pass.facts, pass, nil
}

// state is the one that the machine has stored, from which the pass goes on; without one it begins at the start.
func (l Look) state() machine.State {
	stored, found := records.Decoded(l.Config.Status.Machine.Raw)
	if !found {
		return guards.Pending
	}
	return stored.State
}

// read compares the data Secret with what it should be, unless that was done and nothing has another version since. Before it is
// published nothing is asked of it but whether it is there, and of the cache only.
func (p *Pass) read(ctx context.Context) error {
	sources, secret, err := p.versions(ctx, p.phases.Client)
	if err != nil {
		return err
	}
	last := p.phases.remembered(p.key)
	same := sources != "" && last.sources == sources
	if same && secret != "" && last.right == secret {
		p.facts.Payload = guards.Payload{Known: true, There: true, Digest: last.digest}
		p.facts.Secret = guards.Secret{Known: true, There: true, Right: true}
		return nil
	}
	waits := slices.Contains(waiting, p.state())
	if waits {
		p.facts.Secret.Known = secret == ""
	}
	if waits && same {
		p.facts.Payload = guards.Payload{Known: true, There: true, Digest: last.digest}
		return nil
	}
	var before *onePayload
	if same {
		before = last.payload
	}
	from, read, err := p.sources(ctx, before)
	if err != nil {
		return err
	}
	p.facts.Payload = guards.Payload{Known: true, There: from.missing == "", Missing: from.missing}
	if from.missing != "" {
		return nil
	}
	p.facts.Payload.Digest = from.digest()
	found := known{sources: sources, digest: p.facts.Payload.Digest, payload: read.kept()}
	if !waits {
		p.data, p.refused = from.data()
		if p.refused == nil && p.state() == guards.Publishing && secret == "" && last.right == "" && !last.uncached {
			p.facts.Secret.Known = true // if the cache is behind, the creation is refused
		} else if err := p.compare(ctx); err != nil {
			return err
		}
	}
	found.uncached = p.secret != nil && secret == ""
	if p.facts.Secret.Right {
		found.right, found.payload = version(p.secret), nil
	}
	p.phases.remember(p.key, found)
	return nil
}

// waiting are the states in which no data Secret is asked for yet.
var waiting = []machine.State{guards.Pending, guards.AwaitingPayload}

// compare reads the data Secret.
func (p *Pass) compare(ctx context.Context) error {
	secret := &corev1.Secret{}
	found, err := get(ctx, p.phases.Live, client.ObjectKeyFromObject(p.Config), secret)
	if err != nil {
		return err
	}
	p.facts.Secret = guards.Secret{Known: true, There: found}
	if found {
		p.secret = secret
		p.facts.Secret.Right = p.refused == nil && p.isRight()
		if !p.isOurs() {
			p.facts.Secret.Others = string(secret.UID)
		}
	}
	return nil
}

// wanted is the data Secret as it should be.
func (p *Pass) wanted() *corev1.Secret {
	owner := metav1.NewControllerRef(p.Config, v1alpha1.GroupVersion.WithKind(configKind))
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Config.Namespace, Name: p.Config.Name, OwnerReferences: []metav1.OwnerReference{*owner},
			Labels: map[string]string{clusterv1.ClusterNameLabel: p.Machine.Spec.ClusterName},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{payload.ValueKey: p.data, payload.FormatKey: []byte(payload.Format)},
	}
}

// isRight says that the Secret is as it should be. Labels and owners that others add are theirs.
func (p *Pass) isRight() bool {
	wanted := p.wanted()
	return p.isOurs() && p.secret.Type == wanted.Type && maps.EqualFunc(p.secret.Data, wanted.Data, bytes.Equal) &&
		p.secret.Labels[clusterv1.ClusterNameLabel] == wanted.Labels[clusterv1.ClusterNameLabel]
}

// isOurs says that the config controls the Secret.
func (p *Pass) isOurs() bool { return metav1.IsControlledBy(p.secret, p.Config) }

// inTheWay is the error of a Secret of the name that is not ours. That of a former config of the name is collected in a moment.
func (p *Pass) inTheWay() error {
	key := client.ObjectKeyFromObject(p.secret)
	if owner := metav1.GetControllerOf(p.secret); owner != nil && owner.Kind == configKind && owner.Name == p.Config.Name {
		return fmt.Errorf("waiting for Secret %s to go, which is still that of a former %s of the name", key, configKind)
	}
	return &standing.ConflictError{Kind: "Secret", Key: key.String(), OwnerKind: configKind, Owner: p.Config.Name}
}

// PublishData has the Secret hold what the machine is started with.
func (p *Pass) PublishData(ctx context.Context) (machine.Result, error) {
	if err := cmp.Or(p.unseen, p.refused); err != nil {
		return machine.Result{}, err
	}
	if p.data == nil || p.facts.Secret.Right {
		return machine.Result{}, nil // a row leads on
	}
	did, err := p.publish(ctx)
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		last := p.phases.remembered(p.key)
		last.uncached = true
		p.phases.remember(p.key, last)
		return machine.Result{LookAgain: again}, nil // somebody has written since it was read, and it is read again
	}
	if err != nil {
		return machine.Result{}, fmt.Errorf("publishing data Secret %s/%s: %w", p.Config.Namespace, p.Config.Name, err)
	}
	if p.phases.Published != nil {
		p.phases.Published(p.Config.Spec.Role, len(p.data))
	}
	return machine.Result{Did: did, LookAgain: again}, nil
}

// create creates the Secret. If the API server has stored it as wanted, its version is remembered, so that it is not read back; a webhook
// may have changed it.
func (p *Pass) create(ctx context.Context, wanted *corev1.Secret) error {
	if err := p.phases.Client.Create(ctx, wanted); err != nil {
		return err
	}
	last := p.phases.remembered(p.key)
	if p.secret = wanted; p.isRight() {
		last.right, last.payload = version(wanted), nil
	} else {
		last.uncached = true
	}
	p.phases.remember(p.key, last)
	return nil
}

// publish makes one request. Another one of the name is not ours to write; the version that was read says whether it is the same one.
func (p *Pass) publish(ctx context.Context) (did string, err error) {
	wanted := p.wanted()
	switch {
	case p.secret == nil:
		return "created the data Secret", p.create(ctx, wanted)
	case !p.isOurs():
		return "", p.inTheWay()
	case p.secret.Type != wanted.Type: // which nobody can change
		return "deleted a data Secret of another type", p.phases.Client.Delete(ctx, p.secret, client.Preconditions{UID: &p.secret.UID, ResourceVersion: &p.secret.ResourceVersion})
	}
	right := p.secret.DeepCopy()
	right.Data = wanted.Data
	if right.Labels == nil {
		right.Labels = map[string]string{}
	}
	maps.Copy(right.Labels, wanted.Labels)
	return "put the data Secret right", p.phases.Client.Update(ctx, right)
}
