package bootgate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
)

// again is when to look again after somebody else was quicker.
const again = time.Second

func (p *Phases) knownKey() client.ObjectKey {
	return client.ObjectKey{Namespace: p.OperatorNamespace, Name: KnownConfigMap}
}

// rememberImages adds the golden images to those that were ever golden. A list that somebody has deleted is made again of what
// the process has seen in it.
func (p *Pass) rememberImages(ctx context.Context) (did string, lookAgain time.Duration, err error) {
	if p.golden == nil || p.Facts.Golden.Known {
		return "", 0, nil
	}
	data := p.memory.kept
	if p.world.known != nil {
		data = p.world.known.Data
	}
	next, _ := golden.Remember(data, p.golden)
	if p.world.known == nil {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.OperatorNamespace, Name: KnownConfigMap}, Data: next}
		err = p.Client.Create(ctx, made, client.FieldOwner(FieldManager))
		return p.wroteKnown(data, made, err)
	}
	wanted := p.world.known.DeepCopy()
	wanted.Data = next
	err = p.Client.Update(ctx, wanted, client.FieldOwner(FieldManager))
	if apierrors.IsNotFound(err) {
		return "", again, nil
	}
	return p.wroteKnown(data, wanted, err)
}

// tellOlder tells that the golden images are older than those that were golden before them, which are followed all the same.
func (p *Pass) tellOlder(before map[string]string) {
	history := p.world.history()
	older := golden.Returns(before, p.golden)
	if len(before) > 0 && len(history) > 1 {
		now, nowErr := releaseOf(history[0].Version)
		last, lastErr := releaseOf(history[1].Version)
		older = older || nowErr == nil && lastErr == nil && now.LessThan(last)
	}
	if !older {
		return
	}
	p.Event(events.Event{
		By: FieldManager, About: About(p), Key: "OlderBootImages " + p.golden.Fingerprint(), Reason: "OlderBootImages", Action: "Followed",
		Text: "the golden boot images are older than those before them; targets are moved to them all the same",
	})
}

// wroteKnown goes on from what the API server has answered. One who was quicker is no error: what he wrote is seen soon.
func (p *Pass) wroteKnown(before map[string]string, answered *corev1.ConfigMap, err error) (string, time.Duration, error) {
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return "", again, nil
	case err != nil:
		return "", 0, fmt.Errorf("writing ConfigMap %s: %w", KnownConfigMap, err)
	}
	p.world.known, p.memory.kept, p.Facts.Golden.Known = answered, answered.Data, true
	p.memory.known.keep(answered, p.Now())
	p.tellOlder(before)
	return "added the golden boot images to ConfigMap " + KnownConfigMap, 0, nil
}
