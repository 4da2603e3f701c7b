package migration_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

const (
	hostedNamespace = "clusters"
	hostedName      = "example"
	namespace       = hostedNamespace + "-" + hostedName
)

func of(group, resource string) schema.GroupVersionResource {
	if group == hypershift {
		return schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: resource}
	}
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// create makes an object of whatever kind, and then its status.
func create(ctx context.Context, group, resource, kind, in, name string, owner *unstructured.Unstructured, spec, status map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	return createIn(ctx, of(group, resource), kind, in, name, owner, spec, status)
}

func createIn(ctx context.Context, gvr schema.GroupVersionResource, kind, in, name string, owner *unstructured.Unstructured, spec, status map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(gvr.GroupVersion().String())
	o.SetKind(kind)
	o.SetNamespace(in)
	o.SetName(name)
	o.SetFinalizers([]string{"test.example.com/" + gvr.Resource})
	o.SetLabels(map[string]string{standard + "/cluster-name": hostedName})
	o.SetAnnotations(map[string]string{"note": standard + "/v1beta1"})
	if owner != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{ownedBy(owner)})
	}
	made, err := objects.Resource(gvr).Namespace(in).Create(ctx, o, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred(), "%s %s", kind, name)
	if status == nil {
		return made
	}
	made.Object["status"] = status
	made, err = objects.Resource(gvr).Namespace(in).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred(), "%s %s", kind, name)
	return made
}

func ownedBy(o *unstructured.Unstructured) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes}
}

// createHosted makes a hosted cluster with machines, of which one has failed and one is of each platform, and what belongs to them.
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
	for name, state := range map[string]struct{ machine, infrastructure map[string]any }{
		hostedName + "-0": {map[string]any{"phase": "Running"}, map[string]any{"ready": true}},
		failed:            {hasFailed, map[string]any{"ready": false, "failureReason": "CreateError"}},
	} {
		m := createMachine(ctx, name, provider+standard, "TestMachine", set, state.machine)
		create(ctx, provider+standard, "testmachines", "TestMachine", namespace, name, m, map[string]any{"providerID": "test:///" + name}, state.infrastructure)
	}
	createPlatforms(ctx, top, set)
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

// failed is a machine that has failed, and will not do better.
const failed = hostedName + "-1"

var hasFailed = map[string]any{
	"phase": "Failed",
	"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "InstanceTerminated", "message": "it is gone", "lastTransitionTime": "2026-01-01T00:00:00Z",
	}},
	"deprecated": map[string]any{"v1beta1": map[string]any{"failureReason": "CreateError", "failureMessage": "it is gone"}},
}

// machines are all that there are.
func machines() []string {
	all := []string{hostedName + "-0", failed}
	for _, name := range names() {
		all = append(all, hostedName+"-"+name)
	}
	return all
}

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

var _ = Describe("a hosted cluster", Ordered, func() {
	var (
		operator *harness.Operator
		metrics  *harness.Metrics
		began    cluster.Mark
		// What there was before the first move, of Cluster API, and of what belongs to that.
		before, untouched map[string]string
		secrets           map[string]types.UID
	)
	AfterAll(func(ctx SpecContext) {
		if operator != nil {
			if CurrentSpecReport().Failed() {
				log, err := os.ReadFile(operator.Log)
				fmt.Fprintf(GinkgoWriter, "\n%s\nThe end of %s (%v):\n%s", told(hosted(ctx)), operator.Log, err, log[max(0, len(log)-16<<10):])
			}
			Expect(operator.Stop()).To(Succeed())
		}
	})

	It("waits while the programme or it itself is paused, and says so", func(ctx SpecContext) {
		Expect(env.Begin(ctx, harness.World{})).To(Succeed())
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hypershift"}})).To(Succeed())
		needed, err := privatecapi.Moving()
		Expect(err).NotTo(HaveOccurred())
		for _, o := range needed {
			Expect(env.Client.Create(ctx, o)).To(Succeed())
		}
		installPlatforms(ctx)
		createHosted(ctx)
		expectSpeaksAsComponentsOnly(ctx)
		before, secrets, untouched = stored(ctx, standard), secretUIDs(ctx), agentUIDs(ctx)
		Expect(len(before)).To(BeNumerically(">", 2*len(platforms)))
		createOldOperator(ctx)
		Expect(env.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-private-capi"}, Data: map[string]string{"paused": "true"},
		})).To(Succeed())
		began, err = env.Cluster.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		metrics, err = env.NewMetrics()
		Expect(err).NotTo(HaveOccurred())
		operator, err = env.StartOperator(harness.OperatorOptions{Arguments: append(metrics.Arguments(),
			hostedworld.ProxyImage(), "--legacy-operator=hypershift/operator")})
		Expect(err).NotTo(HaveOccurred())

		says(ctx, "Eligible", "paused")
		tells(ctx, metrics, pendingMetric+" 1", migratedMetric+" 0", stateMetric(`Eligible`)+" 1")
		refuses(ctx, ContainSubstring("it is not on private types"), "revert", hostedKey)
		refuses(ctx, ContainSubstring("no move of it has failed"), "retry", hostedKey)
		Expect(ask(ctx, "pause", "--yes")).To(ContainSubstring("Nothing to do: the programme is paused already."))
		does(ctx, "pause", hostedKey)
		Expect(ask(ctx, "resume", "--yes")).To(And(ContainSubstring("Done."), ContainSubstring("no HostedCluster waits for its turn")))
		says(ctx, "Eligible", "capstan.openshift.io/private-capi-paused")
		log, err := env.Cluster.RequestsSince(ctx, began)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool { return r.Namespace == namespace })).To(BeEmpty())
	}, SpecTimeout(6*time.Minute))

	It("moves to private types once it may, and what belongs to it stays", func(ctx SpecContext) {
		does(ctx, "resume", hostedKey)
		eventually(ctx, "the lock", func(ctx context.Context) error {
			if _, locked := hosted(ctx).GetAnnotations()["hypershift.openshift.io/migration-in-progress"]; !locked {
				return errors.New(told(hosted(ctx)))
			}
			return nil
		})
		tells(ctx, metrics, startMetric)
		refuses(ctx, ContainSubstring("it is locked: a move is under way"), "revert", hostedKey)
		refuses(ctx, ContainSubstring("it is locked: a move is under way"), "retry", hostedKey)
		eventually(ctx, "the hosted cluster to have private types, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/private-capi-types", "true")
		})

		Expect(stored(ctx, standard)).To(BeEmpty())
		expectMoved(before, stored(ctx, private))
		Expect(secretUIDs(ctx)).To(Equal(secrets))
		expectOwned(ctx, private)
		Expect(agentUIDs(ctx)).To(Equal(untouched))
		deployment := &appsv1.Deployment{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "cluster-api"}, deployment)).To(Succeed())
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(1))
		Expect(deployment.Spec.Template.Spec.InitContainers).To(HaveLen(1))
		Expect(deployment.Annotations).NotTo(HaveKey(ContainSubstring("capstan.openshift.io/")))
		expectNoMachineMadeOrDeleted(ctx, began, len(before))
		tells(ctx, metrics, pendingMetric+" 0", migratedMetric+" 1", stateMetric(`Private`)+" 1", durationMetric+" 1", attention+" 0")
		refuses(ctx, ContainSubstring("no move of it has failed"), "retry", hostedKey)
	}, SpecTimeout(6*time.Minute))

	It("moves back where that is asked for, and again once another try is", func(ctx SpecContext) {
		does(ctx, "revert", hostedKey)
		eventually(ctx, "the hosted cluster to have standard types, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/migration-failed", "reverted")
		})
		Expect(stored(ctx, private)).To(BeEmpty())
		expectMoved(before, stored(ctx, standard))
		Expect(secretUIDs(ctx)).To(Equal(secrets))
		expectOwned(ctx, standard)
		deployment := &appsv1.Deployment{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "cluster-api"}, deployment)).To(Succeed())
		Expect(deployment.Spec.Template.Spec.InitContainers).To(BeEmpty())
		tells(ctx, metrics, migratedMetric+" 0", failedMetric(`reverted`)+" 1", stateMetric(`Failed`)+" 1", attention+" 1")
		refuses(ctx, ContainSubstring("a move of it has failed: reverted"), "revert", hostedKey)

		does(ctx, "retry", hostedKey)
		eventually(ctx, "the hosted cluster to have private types again, and no lock", func(ctx context.Context) error {
			return isFree(ctx, "hypershift.openshift.io/private-capi-types", "true")
		})
		expectMoved(before, stored(ctx, private))
		tells(ctx, metrics, migratedMetric+" 1", failedMetric(`reverted`)+" 0", attention+" 0")
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
		refuses(ctx, ContainSubstring("the old operator is not kept any more"), "revert", hostedKey)
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
	o, err := objects.Resource(of(hypershift, "hostedclusters")).Namespace(hostedNamespace).Get(ctx, hostedName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	marks := o.GetAnnotations()
	if _, locked := marks["hypershift.openshift.io/migration-in-progress"]; locked || marks[key] != value {
		return errors.New(told(o))
	}
	return nil
}
