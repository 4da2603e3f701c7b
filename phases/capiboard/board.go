// Package capiboard is what the machines of private Cluster API types tell each other, in memory: those of HostedClusters which
// of them need HyperShift's old operator, and the machine of that whether it is kept. It stores nothing and decides nothing. A new
// process knows nothing of either.
package capiboard

import (
	"context"
	"errors"
	"sync"
)

// Programme is the name of the ConfigMap by which the programme is enabled, paused and given its time of retention.
const Programme = "capstan-private-capi"

// Board is used by several machines at the same time.
type Board struct {
	mu     sync.Mutex
	others func(context.Context) ([]string, error)
	judged bool
	kept   bool
	news   []func()
}

// New is a board on which nothing stands.
func New() *Board { return &Board{} }

// OnOthers has somebody asked which HostedClusters are not the new operator's alone, each with why.
func (b *Board) OnOthers(ask func(context.Context) ([]string, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = ask
}

// Others asks that. It is an error where nobody can tell.
func (b *Board) Others(ctx context.Context) ([]string, error) {
	b.mu.Lock()
	ask := b.others
	b.mu.Unlock()
	if ask == nil {
		return nil, errors.New("nobody looks at HostedClusters")
	}
	return ask(ctx)
}

// Judge says that a machine will say whether the old operator is kept: until it has, it is not known to be.
func (b *Board) Judge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.judged = true
}

// Keep says whether the old operator is kept.
func (b *Board) Keep(kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = kept
}

// Kept says whether the old operator is kept, as it always is where no machine judges that.
func (b *Board) Kept() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept || !b.judged
}

// OnNews has somebody told when HostedClusters have changed.
func (b *Board) OnNews(hear func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news = append(b.news, hear)
}

// News tells that they have.
func (b *Board) News() {
	b.mu.Lock()
	all := b.news
	b.mu.Unlock()
	for _, hear := range all {
		hear()
	}
}
