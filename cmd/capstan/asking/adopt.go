package asking

import (
	"context"
	"slices"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

// Taken is an object that somebody else has in the place of one of the newest revision, by what the operator has told.
func (c *Cluster) Taken(ctx context.Context, object string) (taken guards.Collision, revision int64, err error) {
	now, err := c.told(ctx)
	if err != nil {
		return guards.Collision{}, 0, err
	}
	for _, r := range now.detail.Revisions {
		revision = max(revision, r.Number)
	}
	at := slices.IndexFunc(now.detail.Collisions, func(c guards.Collision) bool { return c.Named() == object })
	switch {
	case at < 0:
		return guards.Collision{}, 0, &inspect.Error{
			What: "the operator tells of no " + object + " that is in its way: " + now.detail.Waits, Next: "capstan status says what is in its way",
		}
	case !now.detail.Collisions[at].Adoptable:
		return guards.Collision{}, 0, &inspect.Error{What: object + " cannot be adopted", Next: now.detail.Collisions[at].WayOut}
	}
	return now.detail.Collisions[at], revision, nil
}

// adopted says that none of the objects is in the operator's way any more: it takes them for its own, at once or in their turn.
func adopted(now seen, objects []string) bool {
	return !slices.ContainsFunc(now.detail.Collisions, func(c guards.Collision) bool { return slices.Contains(objects, c.Named()) })
}
