package clusterapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// floodOfCopies is how many copies of a managed object somebody makes.
const floodOfCopies = 300

var _ = Describe("Copies of a managed object, with all of its marks, that somebody makes in the providers' namespace", func() {
	It("are counted in a condition, told by few writes and Events, and coming and going make no stream of either", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		silent(ctx)
		original := fetched(ctx, alpha.find("ConfigMap", "alpha"))
		for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp"} {
			unstructured.RemoveNestedField(original.Object, "metadata", field)
		}
		copied := func(i int) *unstructured.Unstructured {
			o := original.DeepCopy()
			o.SetName(fmt.Sprintf("copy-%s-%d", strings.Repeat("x", 200), i))
			return o
		}
		tenant := writerOfConfigMaps(ctx)
		since := mark(ctx)
		group, creating := errgroup.WithContext(ctx)
		group.SetLimit(8)
		for i := range floodOfCopies {
			group.Go(func() error { return tenant.Create(creating, copied(i)) })
		}
		Expect(group.Wait()).To(Succeed())
		v := until(ctx, "the copies to be counted", says("Degraded", "False", "AsExpected"),
			says("InstallerControllerProgressing", "False", "AsExpected", fmt.Sprintf("objects that no revision knows: %d, capstan status names those that are not in namespaces of others", floodOfCopies)))
		for _, c := range v.ClusterOperator.Status.Conditions {
			Expect(c.Message).NotTo(ContainSubstring("copy-"), string(c.Type))
		}
		silent(ctx)
		Expect(len(toldIn(ctx, since))).To(BeNumerically("<=", 15), "while they are made")

		since = mark(ctx)
		for i := range 24 { // as long as a window of ten minutes
			if i%2 == 0 {
				Expect(tenant.Create(ctx, copied(floodOfCopies))).To(Succeed())
			} else {
				Expect(tenant.Delete(ctx, copied(floodOfCopies))).To(Succeed())
			}
			Expect(operator.Advance(20 * time.Second)).To(Succeed())
		}
		silent(ctx)
		told := toldIn(ctx, since)
		Expect(len(told)).To(BeNumerically("<=", 15), told.String())
		Expect(fetched(ctx, copied(7)).GetName()).To(Equal(copied(7).GetName()), "nothing deletes them")
	})
})

// writerOfConfigMaps is a user who may write ConfigMaps in the providers' namespace, and nothing else.
func writerOfConfigMaps(ctx context.Context) client.Client {
	GinkgoHelper()
	for _, o := range []string{
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: writer, namespace: openshift-cluster-api}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [create, delete]}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: writer, namespace: openshift-cluster-api},
		  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: writer}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: writer}]}`,
	} {
		Expect(env.Client.Create(ctx, object(o), administrator)).To(Succeed())
	}
	access, err := env.Cluster.ConfigFor("writer")
	Expect(err).NotTo(HaveOccurred())
	writer, err := harness.NewClient(access)
	Expect(err).NotTo(HaveOccurred())
	eventually(ctx, "the user to have his right", func(ctx context.Context) error {
		return writer.Create(ctx, object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: try, namespace: openshift-cluster-api}}`), client.DryRunAll)
	})
	return writer
}

// toldIn are the writes by which the operator has told something since.
func toldIn(ctx context.Context, since cluster.Mark) cluster.RequestList {
	GinkgoHelper()
	return requests(ctx, since).Writes().Where(func(r cluster.Request) bool {
		return r.Code != http.StatusConflict && (r.Resource == "clusteroperators" || r.Resource == "events")
	})
}
