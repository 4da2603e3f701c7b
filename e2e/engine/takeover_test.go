package engine_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

// formerInstaller is the field manager of the installer that OpenShift ships.
const formerInstaller = "capi-operator.openshift.io/InstallerController"

// clientSide is the field manager of kubectl apply without --server-side.
const clientSide = "kubectl-client-side-apply"

func legacy(managers ...string) func(*engine.Config) {
	return func(c *engine.Config) { c.LegacyManagers = managers }
}

var _ = Describe("An object of another installer", func() {
	It("case 11: adopted from kubectl apply, loses what the next revision does not have", func(ctx SpecContext) {
		w := begin(ctx)
		before := w.kubectl(ctx, w.configMap("a", "key", "theirs", "x", "theirs"))
		e := w.start(legacy(clientSide))
		first := annotated(w.configMap("a", "key", "value", "x", "ours"), adopt, "always")
		e.converge(ctx, of(1, first))
		e.converge(ctx, of(2, without(first, "data", "x")))
		found := w.fetch(ctx, first)
		Expect(found.GetUID()).To(Equal(before.GetUID()))
		Expect(field(found, "data")).To(Equal(map[string]any{"key": "value"}))
		Expect(found.GetAnnotations()).NotTo(HaveKey("kubectl.kubernetes.io/last-applied-configuration"))
		Expect(entries(found)).To(ConsistOf("capstan Apply"))
	})

	It("is taken over in place, whatever its kind, with one patch of its managed fields and one apply", func(ctx SpecContext) {
		w := begin(ctx)
		wanted := []*unstructured.Unstructured{
			w.crd("gadget"), w.clusterRole("a"), w.clusterRoleBinding("a", "a", "a"), w.serviceAccount("a"), w.service("a"),
			w.configMap("a", "key", "value"), w.deployment("a"), w.webhook("a"),
		}
		for _, o := range wanted {
			w.formerly(ctx, 3, o)
		}
		before := w.uids(ctx, wanted...)
		pods := w.settled(ctx, "a")
		service := w.fetch(ctx, w.service("a"))
		since := mark(ctx)
		e := w.start(legacy(formerInstaller))
		e.converge(ctx, of(4, wanted...))
		Expect(w.uids(ctx, wanted...)).To(Equal(before))
		for _, o := range wanted {
			found := w.fetch(ctx, o)
			Expect(number(found)).To(Equal("4"))
			Expect(found.GetAnnotations()).To(HaveKeyWithValue(engine.OwnerAnnotation, w.owner))
			Expect(found.GetLabels()).NotTo(HaveKey("app.kubernetes.io/managed-by"))
			Expect(entries(found)).NotTo(ContainElement(HavePrefix(formerInstaller)))
			Expect(verbs(about(o, w.writes(ctx, since)))).To(Equal([]string{"patch", "patch"}), engine.KeyOf(o).String())
		}
		Expect(field(w.fetch(ctx, w.service("a")), "spec")).To(Equal(field(service, "spec")))
		Expect(w.podsOf(ctx, "a")).To(Equal(pods), "no pod starts anew when the template is the same")
		since = mark(ctx)
		e.converge(ctx, of(4, wanted...))
		Expect(w.writes(ctx, since)).To(BeEmpty())
	})

	It("loses the fields that its installer set and the first revision of ours does not have", func(ctx SpecContext) {
		w := begin(ctx)
		w.formerly(ctx, 3, w.configMap("a", "key", "value", "old", "theirs"))
		w.merge(ctx, "other", w.configMap("a"), `{"data":{"foreign":"kept"}}`)
		w.start(legacy(formerInstaller)).converge(ctx, of(4, w.configMap("a", "key", "value")))
		Expect(field(w.fetch(ctx, w.configMap("a")), "data")).To(Equal(map[string]any{"key": "value", "foreign": "kept"}))
	})

	It("is taken over with a higher number too, which is no claim of a newer revision of ours", func(ctx SpecContext) {
		w := begin(ctx)
		w.formerly(ctx, 9, w.configMap("a", "key", "theirs"))
		w.formerly(ctx, 4, w.configMap("b", "key", "theirs"))
		w.start(legacy(formerInstaller)).converge(ctx, of(4, w.configMap("a", "key", "value"), w.configMap("b", "key", "value")))
		for _, name := range []string{"a", "b"} {
			found := w.fetch(ctx, w.configMap(name))
			Expect(number(found)).To(Equal("4"))
			Expect(field(found, "data", "key")).To(Equal("value"))
		}
	})

	It("is recovered when its installer, still running, writes to it again", func(ctx SpecContext) {
		w := begin(ctx)
		w.formerly(ctx, 3, w.configMap("a", "key", "value"))
		e := w.start(legacy(formerInstaller))
		rev := of(4, w.configMap("a", "key", "value"))
		e.converge(ctx, rev)
		e.stop()
		w.ssa(ctx, formerInstaller, w.stamped(5, w.configMap("a", "key", "theirs", "old", "theirs")))
		report := w.start(legacy(formerInstaller)).until(ctx, rev, acted(w.configMap("a"), engine.Recovered))
		Expect(in(report, w.configMap("a")).Why).To(ContainSubstring(formerInstaller))
		found := w.fetch(ctx, w.configMap("a"))
		Expect(number(found)).To(Equal("4"))
		Expect(field(found, "data")).To(Equal(map[string]any{"key": "value"}))
		Expect(entries(found)).To(ConsistOf("capstan Apply"))
	})
})

// stamped is a copy of an object with the marks of the former installer.
func (w *world) stamped(number int64, o *unstructured.Unstructured) *unstructured.Unstructured {
	o = annotated(o, engine.RevisionAnnotation, fmt.Sprint(number))
	o = with(o, "core", "metadata", "labels", engine.ManagedByLabel)
	return with(o, "boxcutter", "metadata", "labels", "app.kubernetes.io/managed-by")
}

// formerly creates an object as the former installer does: with a POST, whose managedFields entry it then turns into
// one of an apply.
func (w *world) formerly(ctx context.Context, number int64, o *unstructured.Unstructured) {
	GinkgoHelper()
	w.create(ctx, w.stamped(number, o), client.FieldOwner(formerInstaller))
	eventually(ctx, "the entry to be an apply's", func(ctx context.Context) error {
		created := w.fetch(ctx, o) // others may have written to it since
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(created, sets.New(formerInstaller), formerInstaller)
		if err != nil {
			return err
		}
		return w.client.Patch(ctx, created, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(formerInstaller))
	})
}

// settled waits until a Deployment has its pod, and returns its pods.
func (w *world) settled(ctx context.Context, deployment string) map[string]types.UID {
	GinkgoHelper()
	eventually(ctx, "the pod", func(ctx context.Context) error {
		return has(w.fetch(ctx, w.deployment(deployment)), int64(1), "status", "availableReplicas")
	})
	return w.podsOf(ctx, deployment)
}

// podsOf are the pods of a Deployment.
func (w *world) podsOf(ctx context.Context, deployment string) map[string]types.UID {
	GinkgoHelper()
	var list corev1.PodList
	Expect(w.client.List(ctx, &list, client.InNamespace(w.namespace), client.MatchingLabels(w.pods(deployment, "")))).To(Succeed())
	found := map[string]types.UID{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].UID
	}
	return found
}
