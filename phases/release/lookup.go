package release

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/phases/images"
)

const (
	// patience is how long an answer of registries is waited for.
	patience = 15 * time.Second
	// knownMost is how many answers are remembered.
	knownMost = 1024
)

// Lookup asks registries what release images are, for many clusters that each have credentials of their own. What a digest stands for
// never changes, so it is asked for once with the same access; a tag is asked for each time. If what is remembered is lost, it is
// asked for again.
type Lookup struct {
	options images.Options

	mu    sync.Mutex
	known map[[sha256.Size]byte]Release
}

// NewLookup makes a lookup by pullers with these options.
func NewLookup(o images.Options) *Lookup {
	return &Lookup{options: o, known: map[[sha256.Size]byte]Release{}}
}

// Resolve is the function of that name with an access of its own, within 15 seconds.
func (l *Lookup) Resolve(ctx context.Context, reference string, policy Policy, access images.Access) (Release, error) {
	key, err := keyOf(reference, access)
	if err != nil {
		return Release{}, err
	}
	_, notByDigest := images.ParseRef(reference)
	l.mu.Lock()
	found, has := l.known[key]
	l.mu.Unlock()
	if has && notByDigest == nil {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	puller := images.NewPuller(l.options)
	defer puller.Close()
	puller.Use(access)
	if found, err = Resolve(ctx, puller, reference, policy); err != nil {
		return Release{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= knownMost {
		clear(l.known)
	}
	l.known[key] = found
	return found, nil
}

// keyOf tells questions apart: whoever has no credentials for an image does not learn what somebody else was told.
func keyOf(reference string, access images.Access) ([sha256.Size]byte, error) {
	text, err := json.Marshal([]any{reference, access})
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("asking for release image %s: the access to it cannot be told", reference)
	}
	return sha256.Sum256(text), nil
}
