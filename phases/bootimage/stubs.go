package bootimage

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/phases/newest"
	"github.com/capstan-capi/capstan/phases/stub"
)

// Secret is an empty Secret of which metadata alone is read.
func Secret() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
}

// stubs remembers what came of reading Secrets, each version once for all targets: the version of the config, and never what is
// in it. Lost, they are read again.
type stubs struct {
	mu sync.Mutex
	by map[string]*stubRead // by namespace/name
}

type stubRead struct {
	mu       sync.Mutex
	version  string // resourceVersion of what was read, or written, at a time
	at       time.Time
	spec     stub.Version
	problem  string // why it is no config
	counted  string // resourceVersion of which an upgrade was counted
	upgraded string // what it says of when it was upgraded to what stubs are converted to, empty if it was not
}

// stubSeen is the stub of a target.
type stubSeen struct {
	key     client.ObjectKey
	version string
	spec    stub.Version
	problem string
	// upgraded is when its Secret was upgraded, as that says, empty if it was not.
	upgraded string
	// unread is why the Secret was not read, which trying again may heal.
	unread error
}

func (s *stubs) of(key client.ObjectKey) *stubRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*stubRead{}
	}
	secret := key.String()
	if s.by[secret] == nil {
		s.by[secret] = &stubRead{}
	}
	return s.by[secret]
}

// forget lets go of what was read of a Secret. A pass that looks at it meanwhile does so with what it has, and none after it.
func (s *stubs) forget(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, secret)
}

// look reads a Secret if it is new or has changed.
func (p *Phases) look(ctx context.Context, key client.ObjectKey, field string) stubSeen {
	seen := stubSeen{key: key}
	meta := Secret()
	if err := p.Client.Get(ctx, key, meta); err != nil {
		seen.unread = fmt.Errorf("looking for Secret %s: %w", key, err)
		return seen
	}
	read := p.stubs.of(key)
	read.mu.Lock()
	defer read.mu.Unlock()
	// What was read counts for more than an older copy from the cache for a while. Later an API server may have gone back.
	late := newest.Behind(meta.ResourceVersion, read.version) && newest.Trusted(p.Now().Sub(read.at))
	if read.version != meta.ResourceVersion && !late {
		secret := &corev1.Secret{}
		if err := p.Live.Get(ctx, key, secret); err != nil {
			seen.unread = fmt.Errorf("reading Secret %s: %w", key, err)
			return seen
		}
		read.version, read.problem, read.at, read.upgraded = secret.ResourceVersion, "", p.Now(), ""
		if secret.Annotations[upgradedTo] == stub.Converted.String() {
			read.upgraded = secret.Annotations[upgradedAt]
		}
		spec, err := stub.Read(secret.Data[field])
		if read.spec = spec; err != nil {
			read.problem = err.Error()
		}
	}
	seen.version, seen.spec, seen.problem, seen.upgraded = read.version, read.spec, read.problem, read.upgraded
	return seen
}

// facts are what guards decide on.
func (s stubSeen) facts(original client.ObjectKey) guards.Stub {
	f := guards.Stub{Secret: s.key.String(), SecretVersion: s.version}
	switch {
	case s.unread != nil:
		f.Unread = s.unread.Error()
	case s.problem != "":
		f.Known, f.Old, f.Spec = true, true, "no known version"
	default:
		f.Known, f.Old, f.Spec = true, !s.spec.IsSpec3(), s.spec.String()
	}
	if f.Old && original.Name != "" {
		f.Awaits = original.String()
	}
	return f
}

// originalOf is the Secret that a target's own is a copy of: that of the same name where Machine API's are. Empty for none. It
// is in no cache where Machine API is somebody else's.
func (p *Phases) originalOf(ctx context.Context, key client.ObjectKey) (client.ObjectKey, error) {
	if key.Namespace == MachineAPINamespace {
		return client.ObjectKey{}, nil
	}
	from := p.Live
	if p.MachineAPI {
		from = p.Client
	}
	original := client.ObjectKey{Namespace: MachineAPINamespace, Name: key.Name}
	err := from.Get(ctx, original, Secret())
	if apierrors.IsNotFound(err) {
		return client.ObjectKey{}, nil
	}
	if err != nil {
		return client.ObjectKey{}, fmt.Errorf("looking for Secret %s: %w", original, err)
	}
	return original, nil
}
