package act

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

const (
	// askAgainUnsafe is how long a refused update is left alone while its CRD does not change.
	askAgainUnsafe = 30 * time.Second
	// instancePage bounds how many custom resources are in memory at a time.
	instancePage = 200
	// namedAtMost is how many instances or fields a message names.
	namedAtMost = 3
)

// refusedUpdate is an update of a CRD that was not sent.
type refusedUpdate struct {
	why     string
	version string // resourceVersion of the CRD that was looked at
	at      time.Time
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
	why, err := r.e.unsafeUpdate(ctx, j.actual, desired)
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
	j.t.refusal = &refusedUpdate{why: why, version: j.actual.GetResourceVersion(), at: r.e.cfg.Clock.Now()}
	return true, nil
}

// unsafeUpdate says why the desired CRD must not replace the existing one, empty if it may. It sends no request unless the
// update removes something. A conversion webhook is no reason, even while nothing answers there: a request that needs it
// fails until then, whereas without it the fields that only one of the versions has would be lost unnoticed.
func (e *Engine) unsafeUpdate(ctx context.Context, actual, desired *unstructured.Unstructured) (string, error) {
	n := decide.SchemaLossOf(actual, desired)
	if n.None() {
		return "", nil
	}
	if len(n.Stored) > 0 {
		users, err := e.users(ctx, actual, decide.VersionLoss{Version: decide.ReadableVersion(actual)}, everything)
		if err != nil {
			return "", err
		}
		gone := shortened(n.Stored)
		return fmt.Sprintf("would drop version %s, which status.storedVersions names (%s): store them in a version that stays, take %s off status.storedVersions, or keep it in the provider's manifest",
			gone, users, gone), nil
	}
	if len(n.Served) > 0 {
		users, err := e.users(ctx, actual, decide.VersionLoss{Version: n.Served[0]}, everything)
		if err != nil || users.count > 0 {
			return fmt.Sprintf("would serve none of the versions %s any more, and %s can be read in no other: keep one of them served in the provider's manifest until they are moved",
				shortened(n.Served), users), err
		}
	}
	if len(n.Unconverted) > 0 {
		users, err := e.users(ctx, actual, decide.VersionLoss{Version: decide.ReadableVersion(actual)}, everything)
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
				gone, who, gone), err
		}
	}
	for _, version := range n.Versions {
		users, err := e.users(ctx, actual, version, version.LostFrom)
		if err != nil || users.count > 0 {
			return fmt.Sprintf("would take %s of version %s from %s: remove that from them, or keep it in the provider's manifest",
				shortened(users.fields), version.Version, users), err
		}
	}
	return "", nil
}

// users are the instances of a CRD that an update would hurt.
type users struct {
	count  int
	first  []string // names of some
	fields []string // what they use, each once
}

func (u users) String() string {
	text := fmt.Sprintf("%d instances", u.count)
	if u.count == 1 {
		text = "1 instance"
	}
	if u.count > 0 {
		text += " (" + strings.Join(u.first, ", ")
		if u.count > len(u.first) {
			text += ", …"
		}
		text += ")"
	}
	return text
}

// everything is what an instance loses that is lost as a whole.
func everything(*unstructured.Unstructured) []string { return []string{"all"} }

// users reads all instances in one version, a page at a time, and notes those that would lose something. No answer is an
// error: whether there is data must be known for sure.
func (e *Engine) users(ctx context.Context, crd *unstructured.Unstructured, in decide.VersionLoss, hits func(*unstructured.Unstructured) []string) (users, error) {
	var found users
	if in.Version == "" {
		return found, nil
	}
	client := e.dynamic.Resource(decide.InstancesOf(crd, in.Version))
	for page := ""; ; {
		list, err := client.List(throttle.Apart(ctx), metav1.ListOptions{Limit: instancePage, Continue: page})
		if err != nil {
			return found, fmt.Errorf("looking whether instances of %s lose anything: %w", crd.GetName(), err)
		}
		for i := range list.Items {
			found.note(&list.Items[i], hits(&list.Items[i]))
		}
		if page = list.GetContinue(); page == "" {
			return found, nil
		}
	}
}

func (u *users) note(obj *unstructured.Unstructured, lost []string) {
	if len(lost) == 0 {
		return
	}
	u.count++
	if len(u.first) < namedAtMost {
		u.first = append(u.first, strings.TrimPrefix(types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}.String(), "/"))
	}
	for _, field := range lost {
		if !slices.Contains(u.fields, field) {
			u.fields = append(u.fields, field)
		}
	}
}

// shortened names the first of many.
func shortened(names []string) string {
	if more := len(names) - namedAtMost; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedAtMost], ", "), more)
	}
	return strings.Join(names, ", ")
}
