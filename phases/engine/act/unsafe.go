package act

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine/decide"
)

const (
	// askAgainUnsafe is how long a refused update is left alone while its CRD does not change.
	askAgainUnsafe = 30 * time.Second
	// readAgainUnsafe is how long the instances that a refusal is about are not read as a whole while their metadata is the same.
	readAgainUnsafe = 10 * time.Minute
	// namedAtMost is how many versions or fields a message names, and namedBytes how much of each.
	namedAtMost = 3
	namedBytes  = 100
)

// refusedUpdate is an update of a CRD that was not sent.
type refusedUpdate struct {
	why     string
	version string // resourceVersion of the CRD that was looked at
	at      time.Time
	read    *reading // nil when the metadata alone was enough
}

// over replaces the write that was refused, for as long as the CRD is the one that was looked at.
func (f *refusedUpdate) over(v decide.Verdict, version string) decide.Verdict {
	if f != nil && v.Writes() && f.version == version {
		v.Action, v.Why = decide.Refused, f.why
	}
	return v
}

// due says that it is time to ask again: the CRD is not the one that was refused, or the instances may have changed, which
// no watch shows.
func (f *refusedUpdate) due(version string, now time.Time) bool {
	return f == nil || f.version != version || now.Sub(f.at) >= askAgainUnsafe
}

// refuseUnsafe asks whether the update that a job is about to make is refused, and remembers the answer.
func (r *run) refuseUnsafe(ctx context.Context, j *job, desired *unstructured.Unstructured) (bool, error) {
	if !j.t.Key.IsCRD() || j.actual == nil || j.foundSafe == j.actual.GetResourceVersion() {
		return false, nil
	}
	r.p.mu.Lock()
	former := j.t.refusal
	r.p.mu.Unlock()
	why, read, err := r.e.unsafeUpdateSince(ctx, former, j.actual, desired)
	if err != nil {
		return false, err
	}
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if why == "" {
		j.foundSafe, j.t.refusal = j.actual.GetResourceVersion(), nil
		return false, nil
	}
	j.verdict.Action, j.verdict.Why = decide.Refused, why
	j.t.refusal = &refusedUpdate{why: why, version: j.actual.GetResourceVersion(), at: r.e.cfg.Clock.Now(), read: read}
	return true, nil
}

// unsafeUpdateSince is unsafeUpdate, without reading the fields of instances of which none has changed since a former
// refusal of the same update.
func (e *Engine) unsafeUpdateSince(ctx context.Context, former *refusedUpdate, actual, desired *unstructured.Unstructured) (string, *reading, error) {
	if former != nil && former.read != nil && former.version == actual.GetResourceVersion() && e.cfg.Clock.Since(former.read.at) < readAgainUnsafe {
		same, err := e.isAsRead(ctx, former.read)
		if err != nil {
			return "", nil, fmt.Errorf("looking whether instances of %s have changed: %w", actual.GetName(), err)
		}
		if same {
			return former.why, former.read, nil
		}
	}
	return e.unsafeUpdate(ctx, actual, desired)
}

// unsafeUpdate says why the desired CRD must not replace the existing one, empty if it may, and what it has read of
// instances to say so. It sends no request unless the update removes something. A conversion webhook is no reason, even while nothing answers there: a request that needs it
// fails until then, whereas without it the fields that only one of the versions has would be lost unnoticed.
func (e *Engine) unsafeUpdate(ctx context.Context, actual, desired *unstructured.Unstructured) (string, *reading, error) {
	n := decide.SchemaLossOf(actual, desired)
	if n.None() {
		return "", nil, nil
	}
	if len(n.Stored) > 0 {
		users, err := e.count(ctx, actual, decide.ReadableVersion(actual))
		if err != nil {
			return "", nil, err
		}
		gone := shortened(n.Stored)
		return fmt.Sprintf("would drop version %s, which status.storedVersions names (%s): store them in a version that stays, take %s off status.storedVersions, or keep it in the provider's manifest",
			gone, users, gone), nil, nil
	}
	if len(n.Served) > 0 {
		users, err := e.count(ctx, actual, n.Served[0])
		if err != nil || users.count > 0 {
			return fmt.Sprintf("would serve none of the versions %s any more, and %s can be read in no other: keep one of them served in the provider's manifest until they are moved",
				shortened(n.Served), users), nil, err
		}
	}
	if len(n.Unconverted) > 0 {
		users, err := e.count(ctx, actual, decide.ReadableVersion(actual))
		who := users.String()
		switch {
		case decide.ReadableVersion(actual) == "":
			who = "nobody can count them, because none of its versions is served"
		case e.cannotRead(err): // the webhook itself may be what does not answer
			who, err = "nobody can count them: "+err.Error(), nil
		case users.count == 0:
			who = ""
		}
		if err != nil || who != "" {
			gone := shortened(n.Unconverted)
			return fmt.Sprintf("would drop the conversion webhook, without which objects that are stored in version %s lose their fields (%s): store them in the storage version and take %s off status.storedVersions, or keep the webhook in the provider's manifest",
				gone, who, gone), nil, err
		}
	}
	for _, version := range n.Versions {
		users, read, err := e.users(ctx, actual, version)
		if err != nil || users.count > 0 {
			return fmt.Sprintf("would take %s of version %s from %s: remove that from them, or keep it in the provider's manifest",
				shortened(slices.Sorted(maps.Keys(users.fields))), version.Version, users), read, err
		}
	}
	return "", nil, nil
}

// shortened names the first of many.
func shortened(names []string) string {
	var first []string
	for _, name := range names[:min(len(names), namedAtMost)] {
		first = append(first, message.ShortenInside(name, namedBytes))
	}
	text := strings.Join(first, ", ")
	if more := len(names) - len(first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
