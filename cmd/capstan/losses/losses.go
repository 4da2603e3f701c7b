// Package losses tells what would be lost with objects that are retained for the data in them: it lists what they hold, by the
// code by which the operator does before it deletes one, and as whoever asks. It writes nothing, and decides nothing.
package losses

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Loss is what would be lost with an object; its JSON is what capstan consent -o json prints.
type Loss struct {
	Object     string   `json:"object"`
	UID        string   `json:"uid"`
	Finalizers []string `json:"finalizers,omitempty"`
	// Count is of what it holds, which Holds says in words.
	Count int64  `json:"count"`
	Holds string `json:"holds"`
	// Digest tells what it holds from all else; empty while nobody can tell all of it, for which Open says why.
	Digest string   `json:"digest,omitempty"`
	Open   []string `json:"open,omitempty"`
	// Held are the first of what it holds, and More how many are not named.
	Held []Held `json:"held"`
	More int    `json:"more,omitempty"`
}

// Held is an object that would be lost.
type Held struct {
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	UID        string    `json:"uid"`
	Created    time.Time `json:"created,omitzero"`
	Finalizers []string  `json:"finalizers,omitempty"`
	// BeingDeleted says that it is, and may wait for its finalizers; New that it was made after a consent that was given.
	BeingDeleted bool `json:"beingDeleted,omitempty"`
	New          bool `json:"new,omitempty"`
}

// Named is how many of what an object holds are named unless all are asked for.
const Named = 20

// Lister lists what objects hold.
type Lister struct {
	host   string
	engine *engine.Engine
}

// NewLister binds to a cluster and to the operator's namespace; nothing is sent.
func NewLister(config *rest.Config, namespace string) (*Lister, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100 // a namespace is looked through kind by kind
	looks, err := phases.NewEngineOfViewer(config, namespace)
	if err != nil {
		return nil, err
	}
	return &Lister{host: config.Host, engine: looks}, nil
}

// Of lists what would be lost with an object. Named are so many of it at most; what was made after a moment is new.
func (l *Lister) Of(ctx context.Context, object acts.Object, named int, since time.Time) (Loss, error) {
	found, err := l.engine.Holds(ctx, engine.Key{Group: object.Group, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name})
	switch {
	case apierrors.IsNotFound(err):
		return Loss{}, &inspect.Error{What: object.String() + " is not there any more", Next: "capstan status says what is retained"}
	case apierrors.IsForbidden(err):
		return Loss{}, &inspect.Error{
			What: fmt.Sprintf("you may not see what would be lost with %s: %v", object, err), Next: "ask for that right (verbs get and list), or have somebody consent who has it", Err: err,
		}
	case err != nil:
		return Loss{}, inspect.Explain(err, l.host, "list what is held by", object.String())
	}
	return lossOf(object, found, named, since), nil
}

func lossOf(object acts.Object, found *engine.Loss, named int, since time.Time) Loss {
	loss := Loss{
		Object: object.String(), UID: string(found.Object.UID), Finalizers: found.Object.Finalizers,
		Count: found.Contents.Count, Holds: found.Contents.What, Digest: found.Contents.Holding.Digest(), Held: []Held{},
	}
	if found.Contents.Holding == nil {
		return loss
	}
	loss.Open, loss.Count = found.Contents.Holding.Open, int64(len(found.Contents.Holding.Objects))
	all := slices.Clone(found.Contents.Holding.Objects)
	slices.SortStableFunc(all, func(a, b engine.InHolding) int { // what is new is named first
		return cmp.Compare(rank(a, since), rank(b, since))
	})
	for _, o := range all[:min(len(all), named)] {
		loss.Held = append(loss.Held, Held{
			Kind: o.Kind.String(), Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Created: o.Created,
			Finalizers: o.Finalizers, BeingDeleted: o.Going, New: o.IsNewSince(since),
		})
	}
	loss.More = len(all) - len(loss.Held)
	return loss
}

func rank(o engine.InHolding, since time.Time) int {
	if o.IsNewSince(since) {
		return 0
	}
	return 1
}

// Line is what the act says of it.
func (l Loss) Line() string {
	return fmt.Sprintf("%s %s %d %s", l.Object, l.UID, l.Count, l.Digest)
}

// DigestOf tells what an act consents to from all else: losses, and what it says besides of others that were listed before. Of
// one loss alone it is its own digest, of several SHA-256 over their lines in the act, sorted, each with its key and a line feed.
func DigestOf(all []Loss, besides []string) string {
	if len(all) == 1 && len(besides) == 0 {
		return all[0].Digest
	}
	lines := make([]string, 0, len(all)+len(besides))
	for _, l := range all {
		lines = append(lines, "object: "+l.Line()+"\n")
	}
	for _, said := range besides {
		lines = append(lines, "object: "+said+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}
