package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

// get reads the object with the kind and name of another one.
func (w *world) get(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(o.GroupVersionKind())
	err := w.client.Get(ctx, client.ObjectKeyFromObject(o), found)
	return found, err
}

// fetch is get of an object that must be there.
func (w *world) fetch(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	found, err := w.get(ctx, o)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// uid is the identity of an object that must be there.
func (w *world) uid(ctx context.Context, o *unstructured.Unstructured) types.UID {
	GinkgoHelper()
	return w.fetch(ctx, o).GetUID()
}

// uids are the identities of objects that must be there.
func (w *world) uids(ctx context.Context, objects ...*unstructured.Unstructured) map[engine.Key]types.UID {
	GinkgoHelper()
	all := map[engine.Key]types.UID{}
	for _, o := range objects {
		all[engine.KeyOf(o)] = w.uid(ctx, o)
	}
	return all
}

// isGone says nil when there is no such object.
func (w *world) isGone(ctx context.Context, o *unstructured.Unstructured) error {
	found, err := w.get(ctx, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is still there, finalizers %v", engine.KeyOf(found), found.GetFinalizers())
}

// field is what an object has at a path, nil if nothing.
func field(o *unstructured.Unstructured, path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return nil
	}
	return value
}

// number is the revision number that an object carries.
func number(o *unstructured.Unstructured) string {
	return o.GetAnnotations()[engine.RevisionAnnotation]
}

// entries are the managedFields of an object as "manager operation", with the subresource if there is one.
func entries(o *unstructured.Unstructured) []string {
	var all []string
	for _, e := range o.GetManagedFields() {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Manager, e.Operation, e.Subresource)))
	}
	return all
}

// holds says whether a manager's field set names a field, given as in managedFields: `"f:key"`.
func holds(o *unstructured.Unstructured, manager, fieldName string) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.FieldsV1 != nil && strings.Contains(e.FieldsV1.GetRawString(), fieldName)
	})
}

// in is the place of an object in a report.
func in(report *engine.Report, o *unstructured.Unstructured) *engine.Object {
	GinkgoHelper()
	for found := range report.Objects {
		if found.Key == engine.KeyOf(o) {
			return found
		}
	}
	Fail(fmt.Sprintf("%s is not in the report\n%s", engine.KeyOf(o), report))
	return nil
}

// acted is the question whether an action was taken with an object.
func acted(o *unstructured.Unstructured, action engine.Action) func(*engine.Report) error {
	return func(report *engine.Report) error {
		if in(report, o).Action == action {
			return nil
		}
		return fmt.Errorf("%s is not %s\n%s", engine.KeyOf(o), action, report)
	}
}

// probing is the question whether an object is applied and its probe gives an answer.
func probing(o *unstructured.Unstructured, answer engine.Answer) func(*engine.Report) error {
	return func(report *engine.Report) error {
		if found := in(report, o); found.Applied() && found.Probe.Answer == answer {
			return nil
		}
		return fmt.Errorf("the probe of %s does not answer %v\n%s", engine.KeyOf(o), answer, report)
	}
}

// mark is this moment in the audit log.
func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	at, err := shared().Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return at
}

// requests are what the world's engines have sent since a mark.
func (w *world) requests(ctx context.Context, since cluster.Mark) cluster.RequestList {
	GinkgoHelper()
	all, err := shared().RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	return all.Where(func(r cluster.Request) bool { return strings.HasPrefix(r.UserAgent, "engine-"+w.prefix) })
}

// writes are the requests of the world's engines since a mark that could have changed something; dry runs are not.
func (w *world) writes(ctx context.Context, since cluster.Mark) cluster.RequestList {
	GinkgoHelper()
	return w.requests(ctx, since).Writes()
}

// about keeps the requests for one object.
func about(o *unstructured.Unstructured, all cluster.RequestList) cluster.RequestList {
	plural := strings.ToLower(o.GetKind()) + "s"
	return all.Where(func(r cluster.Request) bool {
		return r.Name == o.GetName() && r.Namespace == o.GetNamespace() && r.APIGroup == o.GroupVersionKind().Group && r.Resource == plural
	})
}

// verbs are the verbs of requests, in order.
func verbs(all cluster.RequestList) []string {
	found := []string{}
	for _, r := range all {
		found = append(found, r.Verb)
	}
	return found
}
