package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	bootimagetable "github.com/capstan-capi/capstan/machine/bootimage"
	compatibilitytable "github.com/capstan-capi/capstan/machine/compatibility"
)

// sourceOf keeps the roster of a family up to date until the context ends; nil for a machine that is none.
func sourceOf(of view.View) func(context.Context, *cluster, *roster) {
	switch of.Table.Name {
	case compatibilitytable.Table.Name:
		return func(ctx context.Context, c *cluster, r *roster) {
			(&requirements{c: c, r: r, lane: newLane()}).run(ctx)
		}
	case bootimagetable.Table.Name:
		return func(ctx context.Context, c *cluster, r *roster) { (&targets{c: c, r: r, lane: newLane()}).run(ctx) }
	}
	return nil
}

// requirementsWord names them to people.
const requirementsWord = "CompatibilityRequirements"

const (
	// pageOf is how many are listed at a time: each may carry a definition.
	pageOf = 50
	// share is how much of the time a list of a family takes at most.
	share = 20
)

// requirements are a family whose instances' objects hold their records: they are listed, and then watched where that is allowed.
type requirements struct {
	c       *cluster
	r       *roster
	lane    lane
	refused time.Time
}

// listedRequirement is what is read of one in a list: the definition that it carries is not kept.
type listedRequirement struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status requirementsv1alpha1.CompatibilityRequirementStatus `json:"status"`
}

// run goes on until the context ends.
func (q *requirements) run(ctx context.Context) {
	var wait time.Duration
	for ctx.Err() == nil {
		begun := time.Now()
		conn, version, err := q.list(ctx)
		if ctx.Err() != nil {
			return
		}
		q.c.touch()
		if err != nil {
			wait = q.c.times.slower(wait)
			if apierrors.IsForbidden(err) || inspect.NotServed(err) {
				wait = q.c.times.unwatched
			}
			pause(ctx, wait)
			continue
		}
		took := time.Since(begun)
		wait = max(q.c.times.family, share*took)
		if time.Since(q.refused) > q.c.times.unwatched && q.watch(ctx, conn, version) {
			wait = max(q.c.times.poll, took) // it is listed anew only when a watch cannot go on
		}
		pause(ctx, wait)
	}
}

// list reads all, page by page, and returns the version that a watch goes on from.
func (q *requirements) list(ctx context.Context) (conn *connection, version string, err error) {
	if conn, err = q.c.connection(); err != nil {
		q.lacks(conn, err)
		return conn, "", err
	}
	rows, problem := map[machine.Key]row{}, ""
	next := ""
	for {
		var page []listedRequirement
		page, next, version, err = q.page(ctx, conn, next)
		if err != nil {
			q.lacks(conn, err)
			return conn, "", err
		}
		for _, one := range page {
			q.add(ctx, rows, one)
		}
		if len(rows) >= maxInstances && next != "" {
			problem = tooMany
			break
		}
		if next == "" {
			break
		}
	}
	q.r.replace(rows, nil, problem, nil)
	return conn, version, nil
}

// page reads one.
func (q *requirements) page(ctx context.Context, conn *connection, from string) (page []listedRequirement, next, version string, err error) {
	text, err := within(ctx, q.lane, q.c.times.request, func(ctx context.Context) ([]byte, error) {
		return conn.listed(ctx, q.kind(), pageOf, from)
	})
	if err != nil {
		return nil, "", "", err
	}
	var list struct {
		Metadata metav1.ListMeta     `json:"metadata"`
		Items    []listedRequirement `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, "", "", fmt.Errorf("reading a list of %s: %w", requirementsWord, err)
	}
	return list.Items, list.Metadata.Continue, list.Metadata.ResourceVersion, nil
}

func (q *requirements) kind() schema.GroupVersionResource { return q.r.of.Instances.Kind }

// add adds a requirement to rows as `capstan status` sees it.
func (q *requirements) add(ctx context.Context, rows map[machine.Key]row, one listedRequirement) {
	key := machine.Key(one.Metadata.Name)
	seen, err := q.r.of.Look(ctx, func(_ context.Context, _ schema.GroupVersionResource, _, _, _ string, into any) (bool, error) {
		asked, is := into.(*requirementsv1alpha1.CompatibilityRequirement)
		if !is {
			return false, errors.New("another kind is asked for than is listed")
		}
		asked.Name, asked.Status = one.Metadata.Name, one.Status
		return true, nil
	}, key)
	if err != nil {
		seen = view.Seen{Problem: err.Error(), Status: seen.Status}
	}
	if seen.Status != nil {
		rows[key] = q.r.rowOf(key, seen)
	}
}

// lacks tells why there is no list.
func (q *requirements) lacks(conn *connection, err error) {
	served := inspect.NotServed(err)
	if conn != nil {
		err = explain(err, conn.config, q.c.times.request, "list", requirementsWord)
		q.c.renew(conn)
	}
	why := problemOf(err)
	if served {
		q.r.lacks(why.Error, nil)
		return
	}
	q.r.lacks(why.Error, []Unread{{What: requirementsWord, Why: why.Error, Next: why.Next}})
}

// watch takes in changes from a version on, as long as it can go on. It says whether there was a watch.
func (q *requirements) watch(ctx context.Context, conn *connection, version string) bool {
	was := false
	for ctx.Err() == nil {
		begun := time.Now()
		next, err := q.changes(ctx, conn, version)
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			q.refused = time.Now()
			return false
		}
		if err != nil || next == "" || next == version && time.Since(begun) < q.c.times.poll {
			return was // it is listed anew
		}
		version, was = next, true
	}
	return was
}

// changes takes in what a watch tells for a round, and returns the version that the next goes on from; empty where none can.
func (q *requirements) changes(ctx context.Context, conn *connection, version string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, watchRounds*q.c.times.round+grace)
	defer cancel()
	events, err := watchFor(ctx, cancel, q.lane, q.c.times, func(ctx context.Context) (watch.Interface, error) {
		return conn.objects.Resource(q.kind()).Watch(ctx, metav1.ListOptions{
			ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: seconds(watchRounds * q.c.times.round),
		})
	})
	if err != nil {
		return "", err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, is := event.Object.(*unstructured.Unstructured)
		if !is || event.Type == watch.Error {
			return "", nil
		}
		version = object.GetResourceVersion()
		q.take(ctx, event.Type, object)
	}
	return version, nil
}

// watchRounds is how many rounds a watch of a family is believed: it has bookmarks, which come every minute.
const watchRounds = 5

// take takes in one change.
func (q *requirements) take(ctx context.Context, event watch.EventType, object *unstructured.Unstructured) {
	name := machine.Key(object.GetName())
	if event == watch.Bookmark {
		return
	}
	if event == watch.Deleted {
		q.r.drop(name)
		q.c.touch()
		return
	}
	unstructured.RemoveNestedField(object.Object, "spec")
	one := listedRequirement{}
	one.Metadata.Name = object.GetName()
	if status, is := object.Object["status"].(map[string]any); is {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &one.Status); err != nil {
			return // the next list tells of it
		}
	}
	changed := map[machine.Key]row{}
	q.add(ctx, changed, one)
	for _, one := range changed {
		q.r.put(one)
	}
	q.c.touch()
}
