package privatecapi_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var _ = Describe("An answer", func() {
	It("that refuses keeps its code and speaks of standard groups", func(ctx SpecContext) {
		in := namespace(ctx)
		client := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in)
		_, err := client.Get(ctx, "none", metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())
		Expect(err.Error()).To(Equal(`machines.` + standard + ` "none" not found`))
		made, err := client.Create(ctx, object("", "Machine", "m", machineSpec), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Create(ctx, object("", "Machine", "m", machineSpec), metav1.CreateOptions{})
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue())
		Expect(err.Error()).To(ContainSubstring("machines." + standard))
		made.SetResourceVersion("1")
		_, err = client.Update(ctx, made, metav1.UpdateOptions{})
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		Expect(err.Error()).To(ContainSubstring("machines." + standard))
		_, err = client.Create(ctx, object("", "Machine", "bad", `{"clusterName":3}`), metav1.CreateOptions{})
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err.Error()).To(And(ContainSubstring("Machine."+standard), Not(ContainSubstring(private))))

		nobody := clientsOf(startProxy(ctx, kubeconfigFor("nobody")).config())
		_, err = nobody.dynamic.Resource(resource(standard, version, "machines")).Namespace(in).List(ctx, metav1.ListOptions{})
		Expect(apierrors.IsForbidden(err)).To(BeTrue())
		Expect(err.Error()).To(And(ContainSubstring(`API group "`+standard+`"`), Not(ContainSubstring(private))))
	})

	It("to an access review is about the group that is stored, in the words of the client", func(ctx SpecContext) {
		_, err := stored.typed.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "look"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{private}, Resources: []string{"machines"}, Verbs: []string{"get"},
		}}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = stored.typed.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "look"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "looker"}}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "look"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		looker := clientsOf(startProxy(ctx, kubeconfigFor("looker")).config())
		eventually(ctx, "the right", func(ctx context.Context) error {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: standard, Resource: "machines", Verb: "get", Namespace: "default"},
			}}
			answer, err := looker.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			return unless(answer.Status.Allowed && answer.Spec.ResourceAttributes.Group == standard, fmt.Sprint(answer))
		})
		rules, err := looker.typed.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(rules).To(And(mention(standard), Not(mention(private))))
	})

	It("to who is allowed nothing of the platform's own names no group of it", func(ctx SpecContext) {
		code, body, _, err := front.get(ctx, "/apis/"+native+"/"+platformVersion+"/machines", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(404))
		Expect(body).To(ContainSubstring("use group " + standard))
	})
})

// kubeconfigFor is the access of a user who has no right but those that are given to the name.
func kubeconfigFor(user string) string {
	GinkgoHelper()
	path, err := plane.KubeconfigFor(user)
	Expect(err).NotTo(HaveOccurred())
	return path
}

var _ = Describe("An Event on a machine", func() {
	It("is found from both sides", func(ctx SpecContext) {
		in := namespace(ctx)
		about := func(group string) string {
			return "involvedObject.apiVersion=" + group + "/" + version + ",involvedObject.name=m"
		}
		_, err := seen.typed.CoreV1().Events(in).Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: "e"},
			InvolvedObject: corev1.ObjectReference{APIVersion: standard + "/" + version, Kind: "Machine", Name: "m", Namespace: in},
			Message:        "Machine of " + private,
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		from, err := seen.typed.CoreV1().Events(in).List(ctx, metav1.ListOptions{FieldSelector: about(standard)})
		Expect(err).NotTo(HaveOccurred())
		Expect(from.Items).To(HaveLen(1))
		Expect(from.Items[0].InvolvedObject.APIVersion).To(Equal(standard + "/" + version))
		Expect(from.Items[0].Message).To(Equal("Machine of " + private))
		there, err := stored.typed.CoreV1().Events(in).List(ctx, metav1.ListOptions{FieldSelector: about(private)})
		Expect(err).NotTo(HaveOccurred())
		Expect(there.Items).To(HaveLen(1))
		newer, err := seen.typed.EventsV1().Events(in).Get(ctx, "e", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(newer.Regarding.APIVersion).To(Equal(standard + "/" + version))
	})
})

var _ = Describe("A subresource", func() {
	It("is written, and scaled by an autoscaler", func(ctx SpecContext) {
		in := namespace(ctx)
		client := seen.dynamic.Resource(resource(standard, version, "machinesets")).Namespace(in)
		made, err := client.Create(ctx, object("", "MachineSet", "s", machineSetTpl), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		made.Object["status"] = map[string]any{"replicas": int64(1), "selector": "a=b"}
		_, err = client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		scale, err := client.Get(ctx, "s", metav1.GetOptions{}, "scale")
		Expect(err).NotTo(HaveOccurred())
		Expect(scale.GetAPIVersion()).To(Equal("autoscaling/v1"))
		_, err = client.Patch(ctx, "s", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{}, "scale")
		Expect(err).NotTo(HaveOccurred())
		_, err = seen.typed.AutoscalingV2().HorizontalPodAutoscalers(in).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "s"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				MinReplicas: ptr.To[int32](4), MaxReplicas: 5,
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: standard + "/" + version, Kind: "MachineSet", Name: "s"},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.typed.AutoscalingV2().HorizontalPodAutoscalers(in).Get(ctx, "s", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(there.Spec.ScaleTargetRef.APIVersion).To(Equal(private + "/" + version))
		eventually(ctx, "the autoscaler to scale", func(ctx context.Context) error {
			of, err := client.Get(ctx, "s", metav1.GetOptions{})
			if err != nil {
				return err
			}
			return unless(strings.Contains(fmt.Sprint(of.Object["spec"]), "replicas:4"), fmt.Sprint(of.Object["spec"]))
		})
	})
})
