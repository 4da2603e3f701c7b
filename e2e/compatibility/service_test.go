package compatibility_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// injects is the annotation that the service CA looks for.
const injects = "service.beta.openshift.io/inject-cabundle"

var _ = Describe("The configurations of a checker behind its Service", func() {
	It("name the Service, and leave the bundle to the service CA", func(ctx SpecContext) {
		s := alone(ctx, 1)
		var err error
		// As in a cluster: neither address nor bundle come by flag. Here no API server reaches the Service, so that nothing is
		// refused.
		s.operator, err = env.StartOperator(harness.OperatorOptions{SteeredClock: true})
		Expect(err).NotTo(HaveOccurred())
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		var bundle []byte
		eventually(ctx, "all of them to be trusted", func(ctx context.Context) error {
			clients, err := clientsOf(ctx, r.Name)
			if err != nil {
				return err
			}
			bundle = clients[0].CABundle
			for _, c := range clients {
				if len(c.CABundle) == 0 || string(c.CABundle) != string(bundle) {
					return errors.New("not yet")
				}
			}
			return nil
		})
		told(ctx, r, "Admitted", "False", "NotAdmitted", "has not proved yet that the API server reaches it")
		clients, err := clientsOf(ctx, r.Name)
		Expect(err).NotTo(HaveOccurred())
		about := fmt.Sprintf("/%s/%s/%d", r.Name, r.UID, r.Generation)
		for i, path := range []string{"/objects" + about, "/prune" + about, "/crds/deny", "/requirements"} {
			Expect(clients[i].URL).To(BeNil())
			Expect(clients[i].Service).To(HaveValue(Equal(admissionregistrationv1.ServiceReference{
				Namespace: harness.OperatorNamespace, Name: "capstan-webhooks", Path: ptr.To(path), Port: ptr.To[int32](443),
			})))
		}

		By("being put right without losing it")
		since, err := env.Cluster.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		before := contents(ctx, r.Name)
		for _, name := range []string{r.Name, "capstan-crds", "capstan-requirements"} {
			Expect(edit(ctx, name, &validating{}, func(o *validating) { o.Webhooks[0].Rules[0].Resources = []string{"lids"} })).To(Succeed())
		}
		Expect(edit(ctx, r.Name, &mutating{}, func(o *mutating) { delete(o.Annotations, injects) })).To(Succeed())
		eventually(ctx, "what was edited to be put right", func(ctx context.Context) error {
			return unless(contents(ctx, r.Name) == before, contents(ctx, r.Name)+" instead of "+before)
		})
		all, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		Expect(all.By(cluster.ServiceCAUserAgent).Writes()).To(BeEmpty(), "a bundle was lost, and written again")
	})
})

// clientsOf are how API servers reach the checker for objects, pruning, definitions and requirements, in this order, of
// configurations that all ask for a bundle.
func clientsOf(ctx context.Context, name string) (all []admissionregistrationv1.WebhookClientConfig, err error) {
	GinkgoHelper()
	judges, prunes, crds, requirements := &validating{}, &mutating{}, &validating{}, &validating{}
	if !read(ctx, name, judges) || !read(ctx, name, prunes) || !read(ctx, "capstan-crds", crds) || !read(ctx, "capstan-requirements", requirements) {
		return nil, errors.New("one is not there")
	}
	if len(judges.Webhooks) != 1 || len(prunes.Webhooks) != 1 || len(crds.Webhooks) != 1 || len(requirements.Webhooks) != 1 {
		return nil, errors.New("one has another number of webhooks")
	}
	for _, annotations := range []map[string]string{judges.Annotations, prunes.Annotations, crds.Annotations, requirements.Annotations} {
		Expect(annotations).To(HaveKeyWithValue(injects, "true"))
	}
	return append(all, judges.Webhooks[0].ClientConfig, prunes.Webhooks[0].ClientConfig, crds.Webhooks[0].ClientConfig, requirements.Webhooks[0].ClientConfig), nil
}
