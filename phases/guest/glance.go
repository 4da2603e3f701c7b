package guest

import (
	"context"
	"reflect"
	"slices"
)

// isSame says that a glance at a guest shows what the last whole look has shown. It is false where that was no such look, was made for
// something else that is wanted now, or is too old: then a whole one is due.
func (p *Poller) isSame(ctx context.Context, g *guest, want wanted) bool {
	g.mu.Lock()
	last, fits := g.seen, g.seen.read && want.gated && reflect.DeepEqual(g.looked.want, want) && p.clock.Since(g.looked.at) < installing
	g.mu.Unlock()
	if !fits || !want.finished && last.complete { // then it is Nodes and etcd that are waited for
		return false
	}
	l, by, err := p.lineOf(ctx, g, want.cluster)
	if err != nil || by.leads != last.leads {
		return false
	}
	now := sight{}
	if !want.finished {
		err = now.askBootstrap(ctx, l, false)
		return err == nil && !now.complete
	}
	if now.askRelease(ctx, l) != nil || now.askOperators(ctx, l) != nil {
		return false
	}
	return now.who.ID == last.who.ID && now.version == last.version && slices.Equal(now.operators, last.operators)
}
