package bootimages_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// enrolled are annotations that enrol everything of Cluster API.
var enrolled = fmt.Sprintf("metadata: {annotations: {%s: All, %s: All}}\nspec: {managementState: Managed}", bySets, byDeployments)

// machineOf is an AWSMachine that was made from a template.
func machineOf(name string, template *object) *object {
	return parse(`{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachine,
	  metadata: {name: %s, namespace: openshift-cluster-api, annotations: {cluster.x-k8s.io/cloned-from-name: %s, cluster.x-k8s.io/cloned-from-groupkind: AWSMachineTemplate.infrastructure.cluster.x-k8s.io}},
	  spec: {instanceType: m6i.xlarge}}`, name, template.GetName())
}

var _ = Describe("Targets of Cluster API", func() {
	It("get a clone of their template with the image and nothing else changed, and name it; the old template stays", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		old := create(ctx, awsTemplate("first", ami(1)))
		set := create(ctx, capiSet("worker", old))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		clone := cloned(ctx, set, 2)
		same(set, live(ctx, set), templateName)
		untouched(ctx, old)

		Expect(clone.GetName()).To(MatchRegexp(`^worker-[0-9a-f]{8}$`))
		Expect(clone.GetLabels()).To(Equal(map[string]string{"cluster.x-k8s.io/cluster-name": infrastructureName, cloneOf: "worker"}))
		Expect(field(clone, "metadata.ownerReferences")).To(ConsistOf(clusterReference(ctx)))
		wanted := old.DeepCopy()
		Expect(field(wanted, "spec.template.spec.ami")).To(HaveKeyWithValue("id", ami(1)))
		put(wanted, "{id: "+ami(2)+"}", "spec", "template", "spec", "ami")
		Expect(clone.Object["spec"]).To(Equal(wanted.Object["spec"]))
		s.targets(ctx, "Current", 1)
		s.writtenOnce(ctx, set)
		Expect(s.writes(ctx)).To(HaveLen(2))
	})

	It("start from a stub that is nobody's copy, and is converted where it is by an operator of Cluster API alone", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		remove(ctx, userData())
		secret := parse(`{apiVersion: v1, kind: Secret, metadata: {name: worker-user-data, namespace: openshift-cluster-api}}`)
		Expect(merge(ctx, secret, "data: {value: %s}", base64.StdEncoding.EncodeToString([]byte(oldStub)))).To(Succeed())
		set := create(ctx, capiSet("worker", create(ctx, awsTemplate("first", ami(1)))))
		s.operate(ctx, clusterAPIOnly)
		eventually(ctx, "the stub to be of spec 3", func(ctx context.Context) error {
			text, err := base64.StdEncoding.DecodeString(fmt.Sprint(field(live(ctx, secret), "data.value")))
			if err != nil {
				return err
			}
			return unless(strings.Contains(string(text), `"version":"3.1.0"`), "it is %s", text)
		})
		s.targets(ctx, "Current", 1)
		Expect(s.writesOf(ctx, secret)).To(HaveLen(1))
		untouched(ctx, set)
	})

	It("share no clones but take one of their name and content that is there already", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		old := create(ctx, awsTemplate("first", ami(1)))
		one, other := create(ctx, capiSet("one", old)), create(ctx, capiSet("other", old))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 2)
		s.upgrade(ctx, 2)
		clone := cloned(ctx, one, 2)
		Expect(cloned(ctx, other, 2).GetName()).NotTo(Equal(clone.GetName()))
		s.targets(ctx, "Current", 2)
		Expect(merge(ctx, one, "spec: {template: {spec: {infrastructureRef: {name: first}}}}")).To(Succeed())
		Expect(cloned(ctx, one, 2).GetUID()).To(Equal(clone.GetUID()))
	})

	It("lose a clone of ours once the last machine of it is gone, and never a template of a user", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		old := create(ctx, awsTemplate("first", ami(1)))
		users := create(ctx, awsTemplate("users", ami(1), labelled(cloneOf, "worker")))
		set := create(ctx, capiSet("worker", old))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 2)
		clone := cloned(ctx, set, 2)
		machine := create(ctx, machineOf("worker-1", clone))
		s.upgrade(ctx, 3)
		Expect(cloned(ctx, set, 3).GetName()).NotTo(Equal(clone.GetName()))
		s.targets(ctx, "Current", 1)
		// A fourth clone comes and goes, and the second stays all the time.
		third := live(ctx, awsTemplate(field(live(ctx, set), templateName).(string), ""))
		s.upgrade(ctx, 4)
		cloned(ctx, set, 4)
		s.advance(3 * time.Minute)
		eventually(ctx, "the third clone to be gone", func(ctx context.Context) error { return gone(ctx, s, third) })
		untouched(ctx, clone)
		remove(ctx, machine)
		eventually(ctx, "the second clone to be gone", func(ctx context.Context) error { return gone(ctx, s, clone) })
		untouched(ctx, old)
		untouched(ctx, users)
		Expect(clones(ctx, "worker")).To(HaveLen(2), "the clone that is named, and the user's own template")
	})

	It("that would replace machines are skipped, and move when that is allowed", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		old := create(ctx, awsTemplate("first", ami(1)))
		rolling := create(ctx, deployment("rolling", "RollingUpdate", old))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		told(ctx, updateSkipped, "True", "rolling", "WouldRollOut", allowRollout)
		s.targets(ctx, "Skipped", 1)
		untouched(ctx, rolling)
		s.nothingWritten(ctx)
		annotate(ctx, rolling, allowRollout, "true")
		cloned(ctx, rolling, 2)
		told(ctx, updateSkipped, "False")
		s.writtenOnce(ctx, rolling)
	})

	It("that replace machines on deletion only are moved", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		careful := create(ctx, deployment("careful", "OnDelete", create(ctx, awsTemplate("first", ami(1)))))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		cloned(ctx, careful, 2)
		same(careful, live(ctx, careful), templateName)
		s.writtenOnce(ctx, careful)
	})

	It("that are owned, or made by a topology, are not touched", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		old := create(ctx, awsTemplate("first", ami(1)))
		parent := create(ctx, deployment("parent", "OnDelete", old))
		ofDeployment := create(ctx, capiSet("of-deployment", old, owned(parent)))
		ofTopology := create(ctx, capiSet("of-topology", old, labelled("topology.cluster.x-k8s.io/owned", "")))
		free := create(ctx, capiSet("free", old))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 2)
		s.targets(ctx, "Excluded", 2)
		s.upgrade(ctx, 2)
		cloned(ctx, free, 2)
		cloned(ctx, parent, 2)
		s.targets(ctx, "Current", 2)
		untouched(ctx, ofDeployment)
		untouched(ctx, ofTopology)
		told(ctx, updateSkipped, "True", "of-topology")
		now, err := config(ctx)
		Expect(err).NotTo(HaveOccurred())
		for _, c := range now.Status.Conditions {
			Expect(c.Message).NotTo(ContainSubstring("of-deployment"), "a set of a MachineDeployment counts nowhere")
		}
	})
})

// gone lets time go by until an object is away.
func gone(ctx context.Context, s *stage, o *object) error {
	if err := s.operator.Advance(time.Minute); err != nil {
		return err
	}
	err := env.Client.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopy())
	if apierrors.IsNotFound(err) {
		return nil
	}
	return unless(false, "%s is there: %v", o.GetName(), err)
}
