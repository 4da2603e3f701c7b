package inputs

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/keys"
	"github.com/capstan-capi/capstan/phases/release"
)

// Releases tells what release an image is, asked with an access of one cluster's own.
type Releases interface {
	Resolve(ctx context.Context, reference string, policy release.Policy, access images.Access) (release.Release, error)
}

// Resolver resolves the inputs of all OpenShiftControlPlanes. It may be used by many goroutines, one for each of them.
type Resolver struct {
	client client.Client
	// live reads from the API server itself, and not from a cache.
	live     client.Reader
	releases Releases
	now      func() time.Time
	// CollectImage is that of this program, whose command collect runs beside the installer. Without it there are no Jobs.
	CollectImage string
	// Keys are those that were made ahead; nil for none.
	Keys *keys.Stock

	mu     sync.Mutex
	recall map[client.ObjectKey]*memory
}

// memory is what is remembered of one OpenShiftControlPlane. Another one of the name has another UID.
type memory struct {
	of      types.UID
	inputs  reading
	release answer
	roles   map[payload.Role]judged
	log     lastLog
	running running
	// clusterID is that of the cluster that is made, empty while it is not known.
	clusterID string
}

// New makes a resolver. c reads PartialObjectMetadata of Secrets and of definitions from a cache; live reads from the API server
// itself.
func New(c client.Client, live client.Reader, releases Releases, now func() time.Time) *Resolver {
	return &Resolver{client: c, live: live, releases: releases, now: now, recall: map[client.ObjectKey]*memory{}}
}

// Forget lets go of what is remembered of an OpenShiftControlPlane that is gone.
func (r *Resolver) Forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.recall, key)
}

// remembered is what is remembered of the object of a look. Only one goroutine at a time looks at one object.
func (r *Resolver) remembered(look phases.Look) *memory {
	key := client.ObjectKeyFromObject(look.Plane)
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.recall[key]
	if m == nil || m.of != look.Plane.UID {
		m = &memory{of: look.Plane.UID, roles: map[payload.Role]judged{}}
		r.recall[key] = m
	}
	return m
}

// Seen is what one look has shown, and what the works of that pass are done with.
type Seen struct {
	r      *Resolver
	look   phases.Look
	facts  *guards.Facts
	memory *memory
	// versionsSum tells versions of the Secrets of the inputs apart.
	versionsSum string
	// unread is why inputs or payload could not be read, nil if they were.
	unread error
	// stubs are what came of looking at what is left of the payload once the bootstrap is finished.
	stubs map[payload.Role]judged
}

// See fills the facts of inputs and payload, and the platform of the Cluster. What cannot be read is not known, and the works of the
// pass return why. Of an object that is being deleted nothing is read.
func (r *Resolver) See(ctx context.Context, look phases.Look, f *guards.Facts) (*Seen, error) {
	s := &Seen{r: r, look: look, facts: f}
	if look.Plane == nil || look.Cluster == nil || f.Object.Deleting {
		return s, ctx.Err()
	}
	s.memory = r.remembered(look)
	if s.unread = s.seeInputs(ctx); s.unread == nil {
		s.unread = errors.Join(s.seePayload(ctx), s.seeCertificates(ctx))
	}
	return s, ctx.Err()
}

// frozen is the digest of the frozen inputs, empty while they are not.
func (s *Seen) frozen() string { return s.facts.Reached().Inputs }

func (s *Seen) key() client.ObjectKey { return client.ObjectKeyFromObject(s.look.Plane) }
