package bootimages_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
)

// gcpTemplate is a user's own, with fields that say what its machines start from.
func gcpTemplate(name, fields string) *object {
	GinkgoHelper()
	return parse(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPMachineTemplate
metadata:
  name: %s
  namespace: openshift-cluster-api
  labels: {cluster.x-k8s.io/cluster-name: %s, argocd.argoproj.io/instance: shop}
spec:
  template:
    spec: {instanceType: n2-standard-4, subnet: worker, rootDeviceSize: 128, rootDeviceType: pd-ssd, additionalNetworkTags: [worker], %s}
`, name, infrastructureName, fields)
}

// clonedOnGCP waits until a set names another template than its first one, which has an image, and returns it.
func clonedOnGCP(ctx context.Context, set, first *object, image string) *object {
	GinkgoHelper()
	var clone *object
	eventually(ctx, set.GetName()+" to name a clone with "+image, func(ctx context.Context) error {
		name, _ := field(live(ctx, set), templateName).(string)
		if err := unless(name != first.GetName(), "it names %s", name); err != nil {
			return err
		}
		clone = live(ctx, gcpTemplate(name, "zone: a"))
		return unless(field(clone, "spec.template.spec.image") == image, "%s has %v", name, clone.Object["spec"])
	})
	return clone
}

var _ = Describe("Targets of Cluster API on GCP", func() {
	It("get a clone of their template with the image and nothing else changed, whatever way the image is written", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType, config: enrolled})
		const compute = "https://www.googleapis.com/compute/v1/"
		short, long := create(ctx, gcpTemplate("short", "image: "+gcpImage(0))), create(ctx, gcpTemplate("long", "image: "+compute+gcpImage(0)))
		right := create(ctx, gcpTemplate("right", "image: "+compute+gcpImage(1)))
		sets := map[string]*object{}
		for _, template := range []*object{short, long, right} {
			sets[template.GetName()] = create(ctx, capiSet("of-"+template.GetName(), template))
		}
		s.operate(ctx, both)
		for _, template := range []*object{short, long} {
			set := sets[template.GetName()]
			clone := clonedOnGCP(ctx, set, template, gcpImage(1))
			same(set, live(ctx, set), templateName)
			untouched(ctx, template)
			Expect(clone.GetName()).To(MatchRegexp(`^` + set.GetName() + `-[0-9a-f]{8}$`))
			Expect(clone.GetLabels()).To(Equal(map[string]string{"cluster.x-k8s.io/cluster-name": infrastructureName, cloneOf: set.GetName()}))
			Expect(field(clone, "metadata.ownerReferences")).To(ConsistOf(clusterReference(ctx)))
			wanted := template.DeepCopy()
			put(wanted, gcpImage(1), "spec", "template", "spec", "image")
			Expect(clone.Object["spec"]).To(Equal(wanted.Object["spec"]))
			s.writtenOnce(ctx, set)
		}
		s.targets(ctx, "Current", 3)
		untouched(ctx, sets["right"])
		Expect(s.writes(ctx)).To(HaveLen(4))
	})

	It("lose the clone of a former release", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType, config: enrolled})
		first := create(ctx, gcpTemplate("first", "image: "+gcpImage(0)))
		set := create(ctx, capiSet("worker", first))
		s.operate(ctx, both)
		former := clonedOnGCP(ctx, set, first, gcpImage(1))
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 2)
		clonedOnGCP(ctx, set, former, gcpImage(2))
		eventually(ctx, "the former clone to be gone", func(ctx context.Context) error { return gone(ctx, s, former) })
		untouched(ctx, first)
	})

	It("are skipped with an image of one's own or one of a family, and move when the image is adopted", func(ctx SpecContext) {
		const own = "projects/mine/global/images/worker"
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType, config: enrolled})
		foreign, family := create(ctx, gcpTemplate("foreign", "image: "+own)), create(ctx, gcpTemplate("family", "imageFamily: rhcos"))
		set, ofFamily := create(ctx, capiSet("worker", foreign)), create(ctx, capiSet("of-family", family))
		s.operate(ctx, both)
		s.targets(ctx, "Skipped", 2)
		told(ctx, updateSkipped, "True", "worker", "Foreign", own, adopt, "of-family", "ImageFamily")
		s.nothingWritten(ctx)
		annotate(ctx, set, adopt, own)
		clonedOnGCP(ctx, set, foreign, gcpImage(1))
		untouched(ctx, ofFamily)
	})
})
