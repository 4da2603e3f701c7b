package migration_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	hostedNamespace = "clusters"
	hostedName      = "example"
	namespace       = hostedNamespace + "-" + hostedName
)

func fromUntyped(from *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into)
}

func of(group, resource string) schema.GroupVersionResource {
	if group == hypershift {
		return schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: resource}
	}
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// create makes an object of whatever kind, and then its status.
func create(ctx context.Context, group, resource, kind, in, name string, owner *unstructured.Unstructured, spec, status map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(of(group, resource).GroupVersion().String())
	o.SetKind(kind)
	o.SetNamespace(in)
	o.SetName(name)
	o.SetFinalizers([]string{"test.example.com/" + resource})
	if owner != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{ownedBy(owner)})
	}
	made, err := objects.Resource(of(group, resource)).Namespace(in).Create(ctx, o, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	if status == nil {
		return made
	}
	made.Object["status"] = status
	made, err = objects.Resource(of(group, resource)).Namespace(in).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return made
}

func ownedBy(o *unstructured.Unstructured) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes}
}

// createHosted makes a hosted cluster with two machines, and what belongs to them.
func createHosted(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hostedNamespace}})).To(Succeed())
	Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"hypershift.openshift.io/hosted-control-plane": "true"}, // as HyperShift has it
	}})).To(Succeed())
	create(ctx, hypershift, "hostedclusters", "HostedCluster", hostedNamespace, hostedName, nil, map[string]any{"platform": "None"}, nil)
	reference := func(kind, name string) map[string]any {
		return map[string]any{"apiGroup": provider + standard, "kind": kind, "name": name}
	}
	top := create(ctx, standard, "clusters", "Cluster", namespace, hostedName, nil,
		map[string]any{"infrastructureRef": reference("TestCluster", hostedName)}, map[string]any{"phase": "Provisioned"})
	set := create(ctx, standard, "machinesets", "MachineSet", namespace, hostedName, top, map[string]any{
		"clusterName": hostedName, "replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"set": hostedName}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"set": hostedName}},
			"spec":     map[string]any{"clusterName": hostedName, "bootstrap": map[string]any{"dataSecretName": "data"}, "infrastructureRef": reference("TestMachineTemplate", hostedName)},
		},
	}, map[string]any{"replicas": int64(2), "observedGeneration": int64(1)})
	for _, name := range machines() {
		m := create(ctx, standard, "machines", "Machine", namespace, name, set, map[string]any{
			"clusterName": hostedName, "bootstrap": map[string]any{"dataSecretName": "data-" + name}, "infrastructureRef": reference("TestMachine", name),
		}, map[string]any{"phase": "Running"})
		create(ctx, provider+standard, "testmachines", "TestMachine", namespace, name, m, map[string]any{"providerID": "test:///" + name}, map[string]any{"ready": true})
		Expect(env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data-" + name, OwnerReferences: []metav1.OwnerReference{ownedBy(m)}}})).To(Succeed())
	}
	for _, name := range []string{"control-plane-operator", "cluster-api", "capi-provider"} {
		createComponent(ctx, name)
	}
}

// createOldOperator makes a Deployment in the old operator's place, which does nothing.
func createOldOperator(ctx context.Context) {
	GinkgoHelper()
	labels := map[string]string{"app": "operator"}
	Expect(env.Client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "hypershift", Name: "operator"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "registry.example.com/operator"}}},
		}},
	})).To(Succeed())
}

func machines() []string { return []string{hostedName + "-0", hostedName + "-1"} }

// createComponent makes a Deployment that kwok lets run, and an account that may do what Cluster API's do.
func createComponent(ctx context.Context, name string) {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	about := metav1.ObjectMeta{Namespace: namespace, Name: name}
	Expect(env.Client.Create(ctx, &corev1.ServiceAccount{ObjectMeta: about})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.Role{ObjectMeta: about, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{standard, private, provider + standard, provider + private}, Resources: []string{"*"}, Verbs: []string{"*"},
	}}})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: about, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	})).To(Succeed())
	Expect(env.Client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: about,
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{Name: "manager", Image: "registry.example.com/" + name}}},
		}},
	})).To(Succeed())
}

// hosted is the hosted cluster as it is.
func hosted(ctx context.Context) *unstructured.Unstructured {
	GinkgoHelper()
	o, err := objects.Resource(of(hypershift, "hostedclusters")).Namespace(hostedNamespace).Get(ctx, hostedName, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return o
}

func told(o *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return fmt.Sprint(conditions, o.GetAnnotations())
}

// stored are the specs and statuses of one side, by kind and name.
func stored(ctx context.Context, base string) map[string]map[string]any {
	GinkgoHelper()
	found := map[string]map[string]any{}
	for _, gvr := range []schema.GroupVersionResource{of(base, "clusters"), of(base, "machinesets"), of(base, "machines"), of(provider+base, "testmachines")} {
		list, err := objects.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		for i := range list.Items {
			o := &list.Items[i]
			found[o.GetKind()+"/"+o.GetName()] = map[string]any{"spec": o.Object["spec"], "status": o.Object["status"], "finalizers": o.GetFinalizers()}
		}
	}
	return found
}

func secretUIDs(ctx context.Context) map[string]types.UID {
	GinkgoHelper()
	found := map[string]types.UID{}
	for _, name := range machines() {
		secret := &corev1.Secret{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "data-" + name}, secret)).To(Succeed())
		found[name] = secret.UID
	}
	return found
}

var _ = Describe("a hosted cluster", Ordered, func() {
	var operator *harness.Operator
	var began cluster.Mark
	AfterAll(func() {
		if operator != nil {
			Expect(operator.Stop()).To(Succeed())
		}
	})

	It("moves to private types, and what belongs to it stays", func(ctx SpecContext) {
		Expect(env.Begin(ctx, harness.World{})).To(Succeed())
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hypershift"}})).To(Succeed())
		for _, o := range shippedFor() {
			Expect(env.Client.Create(ctx, o)).To(Succeed())
		}
		createHosted(ctx)
		expectSpeaksAsComponentsOnly(ctx)
		before, secrets := stored(ctx, standard), secretUIDs(ctx)
		Expect(before).To(HaveLen(6))
		createOldOperator(ctx)
		Expect(env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-private-capi"}})).To(Succeed())
		var err error
		began, err = env.Cluster.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		operator, err = env.StartOperator(harness.OperatorOptions{Arguments: []string{"--private-capi-image=registry.example.com/capstan:1", "--legacy-operator=hypershift/operator"}})
		Expect(err).NotTo(HaveOccurred())

		eventually(ctx, "the hosted cluster to have private types, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/private-capi-types", "true")
		})

		Expect(stored(ctx, standard)).To(BeEmpty())
		after := stored(ctx, private)
		Expect(after).To(HaveLen(len(before)))
		for name, was := range before {
			is := after[name]
			text := strings.NewReplacer(provider+private, provider+standard).Replace(fmt.Sprint(is["spec"]))
			Expect(text).To(Equal(fmt.Sprint(was["spec"])), name)
			Expect(is["finalizers"]).To(Equal(was["finalizers"]), name)
		}
		Expect(secretUIDs(ctx)).To(Equal(secrets))
		for _, name := range machines() {
			secret := &corev1.Secret{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "data-" + name}, secret)).To(Succeed())
			Expect(secret.OwnerReferences).To(HaveLen(1))
			Expect(secret.OwnerReferences[0].APIVersion).To(Equal(private + "/" + version))
		}
		deployment := &appsv1.Deployment{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "cluster-api"}, deployment)).To(Succeed())
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(1))
		Expect(deployment.Spec.Template.Spec.InitContainers).To(HaveLen(1))
		Expect(deployment.Annotations).NotTo(HaveKey(ContainSubstring("capstan.openshift.io/")))
		expectNoMachineDeletedWithFinalizers(ctx, began)
	}, SpecTimeout(6*time.Minute))

	It("moves back where that is asked for, and again once the mark is taken off", func(ctx SpecContext) {
		before := stored(ctx, private)
		annotate(ctx, `{"capstan.openshift.io/private-capi-revert":"please"}`)
		eventually(ctx, "the hosted cluster to have standard types, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/migration-failed", "reverted")
		})
		Expect(stored(ctx, private)).To(BeEmpty())
		Expect(stored(ctx, standard)).To(HaveLen(len(before)))
		deployment := &appsv1.Deployment{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "cluster-api"}, deployment)).To(Succeed())
		Expect(deployment.Spec.Template.Spec.InitContainers).To(BeEmpty())

		annotate(ctx, `{"hypershift.openshift.io/migration-failed":null}`)
		eventually(ctx, "the hosted cluster to have private types again, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/private-capi-types", "true")
		})
	}, SpecTimeout(6*time.Minute))

	It("does not need the old operator any more, which loses its replicas", func(ctx SpecContext) {
		programme := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-private-capi"}}
		Expect(env.Client.Patch(ctx, programme, client.RawPatch(types.MergePatchType, []byte(`{"data":{"retention":"0s"}}`)))).To(Succeed())
		old := &appsv1.Deployment{}
		eventually(ctx, "the old operator to have no replicas", func(ctx context.Context) error {
			if err := env.Client.Get(ctx, client.ObjectKey{Namespace: "hypershift", Name: "operator"}, old); err != nil {
				return err
			}
			if *old.Spec.Replicas != 0 {
				return fmt.Errorf("it has %d, and %v", *old.Spec.Replicas, old.Annotations)
			}
			return nil
		})
		Expect(old.Annotations).To(HaveKeyWithValue("capstan.openshift.io/replicas-before", "1"))
		log, err := env.Cluster.RequestsSince(ctx, began)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Where(func(r cluster.Request) bool {
			return r.Code == http.StatusForbidden && r.IsBy(harness.UserAgent) && !r.DryRun
		})).To(BeEmpty())
	}, SpecTimeout(3*time.Minute))

	It("is told of by an operator without the flag, which does not switch private types off", func(ctx SpecContext) {
		Expect(operator.Stop()).To(Succeed())
		var err error
		operator, err = env.StartOperator(harness.OperatorOptions{})
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "the hosted cluster to tell of the flag", func(ctx context.Context) error {
			if text := told(hosted(ctx)); !strings.Contains(text, "private types cannot be switched off while they are in use by 1 HostedCluster") {
				return errors.New(text)
			}
			return nil
		})
	}, SpecTimeout(3*time.Minute))
})

// isFree says that the hosted cluster has an annotation, and no lock.
func isFree(ctx context.Context, key, value string) error {
	o := hosted(ctx)
	marks := o.GetAnnotations()
	if _, locked := marks["hypershift.openshift.io/migration-in-progress"]; locked || marks[key] != value {
		return errors.New(told(o))
	}
	return nil
}

// annotate patches the annotations of the hosted cluster, as an administrator.
func annotate(ctx context.Context, annotations string) {
	GinkgoHelper()
	_, err := objects.Resource(of(hypershift, "hostedclusters")).Namespace(hostedNamespace).Patch(ctx, hostedName, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":`+annotations+`}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// expectNoMachineDeletedWithFinalizers asks the audit log: whoever deleted an object of Cluster API was the operator, after it had
// taken its finalizers off, and the garbage collector deleted none.
func expectNoMachineDeletedWithFinalizers(ctx context.Context, began cluster.Mark) {
	GinkgoHelper()
	log, err := env.Cluster.RequestsSince(ctx, began)
	Expect(err).NotTo(HaveOccurred())
	deletions := log.Where(func(r cluster.Request) bool {
		return (r.Verb == "delete" || r.Verb == "deletecollection") && r.Code < 300 && strings.HasSuffix(r.APIGroup, standard) && r.Namespace == namespace
	})
	Expect(deletions).NotTo(BeEmpty())
	Expect(deletions.By(harness.UserAgent)).To(HaveLen(len(deletions)))
	for _, deletion := range deletions {
		patched := log.Where(func(r cluster.Request) bool {
			return r.Verb == "patch" && r.Code == 200 && r.APIGroup == deletion.APIGroup && r.Resource == deletion.Resource && r.Name == deletion.Name &&
				r.IsBy(harness.UserAgent) && r.Time.Before(deletion.Time)
		})
		Expect(patched).NotTo(BeEmpty(), deletion.String())
	}
	gone := log.Where(func(r cluster.Request) bool {
		return r.Verb == "delete" && r.Code < 300 && strings.HasSuffix(r.APIGroup, private) && r.Namespace == namespace
	})
	Expect(gone).To(BeEmpty())
}
