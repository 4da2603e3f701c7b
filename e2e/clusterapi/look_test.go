package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// administrator is who the suite says it is when it changes things.
const administrator = harness.Administrator

// fetch reads the object of the cluster that has the other's kind and name.
func fetch(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(o.GroupVersionKind())
	return found, env.Client.Get(ctx, client.ObjectKeyFromObject(o), found)
}

// fetched is fetch of an object that must exist.
func fetched(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	found, err := fetch(ctx, o)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// uids are the identities of objects that must exist.
func uids(ctx context.Context, objects ...*unstructured.Unstructured) map[string]types.UID {
	GinkgoHelper()
	found := map[string]types.UID{}
	for _, o := range objects {
		found[o.GetKind()+" "+o.GetName()] = fetched(ctx, o).GetUID()
	}
	return found
}

// expectGone fails for each object that exists. A kind that is not served any
// more has no objects.
func expectGone(ctx context.Context, objects ...*unstructured.Unstructured) {
	GinkgoHelper()
	for _, o := range objects {
		Expect(gone(ctx, o)).To(Succeed())
	}
}

func gone(ctx context.Context, o *unstructured.Unstructured) error {
	found, err := fetch(ctx, o)
	switch {
	case err == nil:
		return fmt.Errorf("%s %s exists, with finalizers %v", o.GetKind(), o.GetName(), found.GetFinalizers())
	case client.IgnoreNotFound(err) == nil, meta.IsNoMatchError(err):
		return nil
	}
	return err
}

// inventories are the numbers of the revisions that an inventory is stored of.
func inventories(ctx context.Context) []string {
	GinkgoHelper()
	list := &corev1.ConfigMapList{}
	Expect(env.Client.List(ctx, list, client.InNamespace(harness.OperatorNamespace))).To(Succeed())
	var names []string
	for _, found := range list.Items {
		if strings.HasPrefix(found.Name, "capstan-inventory-") {
			names = append(names, found.Name)
		}
	}
	return names
}

// patch changes an object of the cluster as an administrator would, and returns
// it as it was then.
func patch(ctx context.Context, o *unstructured.Unstructured, merge string) *unstructured.Unstructured {
	GinkgoHelper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(o.GroupVersionKind())
	found.SetNamespace(o.GetNamespace())
	found.SetName(o.GetName())
	Expect(env.Client.Patch(ctx, found, client.RawPatch(types.MergePatchType, []byte(merge)), administrator)).To(Succeed())
	return found
}

// within repeats an attempt until it returns nil, reports how long that took
// since the call, and fails when it was longer than the limit.
func within(ctx context.Context, limit time.Duration, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	began := time.Now()
	eventually(ctx, what, attempt)
	took := time.Since(began)
	AddReportEntry(what, took.Round(10*time.Millisecond).String(), ReportEntryVisibilityFailureOrVerbose)
	Expect(took).To(BeNumerically("<", limit), what)
}

// hold keeps pods with the label version from becoming Ready until the spec ends
// or release is called.
func hold(ctx context.Context, version string) (release func()) {
	GinkgoHelper()
	labels := map[string]string{"version": version}
	Expect(env.Cluster.HoldPods(ctx, labels)).To(Succeed())
	return func() {
		GinkgoHelper()
		Expect(env.Cluster.ReleasePods(ctx, labels)).To(Succeed())
	}
}

// running gives the provider's Deployment a pod template of another version, by
// whose label hold finds its pods.
func (p *provider) running(version string) *provider {
	GinkgoHelper()
	return p.of(version).set("Deployment", p.name, version, "spec", "template", "metadata", "labels", "version")
}

// status changes ClusterAPI.status as an administrator would.
func status(ctx context.Context, change func(*operatorv1alpha1.ClusterAPIStatus)) {
	GinkgoHelper()
	eventually(ctx, "an edit of ClusterAPI.status", func(ctx context.Context) error { return env.EditStatus(ctx, change) })
}

// mark remembers this moment of the audit log.
func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	m, err := env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// requests are the operator's since a mark, without those about its Lease.
func requests(ctx context.Context, since cluster.Mark) cluster.RequestList {
	GinkgoHelper()
	all, err := env.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	return all.By(harness.UserAgent).Except("coordination.k8s.io", "leases").Where(func(r cluster.Request) bool {
		return r.Resource != "events" || !strings.HasPrefix(r.Name, "capstan-leader.")
	})
}

// unrecorded drops what flight recorder and history write, which comes up to ten seconds after what it is about.
func unrecorded(requests cluster.RequestList) cluster.RequestList {
	return requests.Where(func(r cluster.Request) bool {
		return r.Resource != "configmaps" || r.Name != "capstan-recorder" && r.Name != "capstan-history"
	})
}

// inState is the question whether the machine is in a state.
func inState(state string) func(harness.View) error { return harness.InState(state) }

// listed is the question whether this many revisions are listed.
func listed(count int) func(harness.View) error {
	return func(v harness.View) error {
		if len(v.Revisions()) != count {
			return fmt.Errorf("%d revisions are listed, want %d", len(v.Revisions()), count)
		}
		return nil
	}
}

// path is the events of the machine's transitions, the oldest first.
func path(v harness.View) []string {
	var events []string
	for _, transition := range v.Record.Transitions {
		events = append(events, transition.Event)
	}
	return events
}

// names of the components of the desired revision, in order.
func components(v harness.View) []string {
	revisions := v.Revisions()
	names := []string{}
	for _, component := range revisions[len(revisions)-1].Components {
		names = append(names, component.Name)
	}
	return names
}

// field is the value at a path of an object, nil if there is none.
func field(o *unstructured.Unstructured, path ...string) any {
	GinkgoHelper()
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	return value
}

// setting is the one key of a ConfigMap that this suite's providers have.
func setting(ctx context.Context, o *unstructured.Unstructured) any {
	GinkgoHelper()
	return field(fetched(ctx, o), "data", "setting")
}

// detail is what the operator publishes for the commands.
func detail(v harness.View) map[string]any {
	GinkgoHelper()
	var extension struct {
		Detail map[string]any `json:"clusterapiDetail"`
	}
	Expect(json.Unmarshal(v.ClusterOperator.Status.Extension.Raw, &extension)).To(Succeed())
	return extension.Detail
}
