package migration_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// stored is what the objects of one side say, in standard text, by kind and name.
func stored(ctx context.Context, base string) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, gvr := range append(platformKinds(base), of(base, "clusters"), of(base, "machinesets"), of(base, "machines"), of(provider+base, "testmachines")) {
		list, err := objects.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		for i := range list.Items {
			o := &list.Items[i]
			found[o.GetKind()+"/"+o.GetName()] = strings.ReplaceAll(saying(o), private, standard)
		}
	}
	return found
}

// saying is what an object says, without what an API server sets, and what Capstan notes. Which generation a controller has seen is
// only of the object that it has seen: what counts is whether it is the newest one.
func saying(o *unstructured.Unstructured) string {
	GinkgoHelper()
	if seen, has, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); has {
		Expect(unstructured.SetNestedField(o.Object, seen >= o.GetGeneration(), "status", "observedGeneration")).To(Succeed())
	}
	annotations := o.GetAnnotations()
	for name := range annotations {
		if strings.HasPrefix(name, "capstan.openshift.io/") {
			delete(annotations, name)
		}
	}
	var owners []string
	for _, owner := range o.GetOwnerReferences() {
		owners = append(owners, fmt.Sprint(owner.APIVersion, owner.Kind, owner.Name, *owner.Controller, *owner.BlockOwnerDeletion))
	}
	return fmt.Sprint(o.GetAPIVersion(), o.GetLabels(), annotations, o.GetFinalizers(), owners, o.Object["spec"], o.Object["status"])
}

// expectMoved compares what there was with what there is.
func expectMoved(before, after map[string]string) {
	GinkgoHelper()
	Expect(after).To(HaveLen(len(before)))
	for name, was := range before {
		Expect(after[name]).To(Equal(was), name)
	}
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

// agentUIDs are the objects of the platform that is on neither side, and what they say but for whom they belong to.
func agentUIDs(ctx context.Context) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, o := range agentObjects(ctx) {
		found[o.GetKind()] = fmt.Sprint(o.GetUID(), o.Object["spec"], o.Object["status"], o.GetFinalizers())
	}
	Expect(found).To(HaveLen(len(agentShapes)))
	return found
}

func agentObjects(ctx context.Context) (all []unstructured.Unstructured) {
	GinkgoHelper()
	for _, s := range agentShapes {
		list, err := objects.Resource(schema.GroupVersionResource{Group: agents, Version: version, Resource: s.resource()}).Namespace(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		all = append(all, list.Items...)
	}
	return all
}

// expectOwned checks that all that belongs to objects of Cluster API belongs to those of one side alone, which are there.
func expectOwned(ctx context.Context, base string) {
	GinkgoHelper()
	owned := map[string][]metav1.OwnerReference{}
	for _, name := range machines() {
		secret := &corev1.Secret{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "data-" + name}, secret)).To(Succeed())
		owned[secret.Name] = secret.OwnerReferences
	}
	for _, o := range agentObjects(ctx) {
		owned[o.GetKind()] = o.GetOwnerReferences()
	}
	for name, owners := range owned {
		Expect(owners).To(HaveLen(1), name)
		Expect(owners[0].APIVersion).To(Equal(base+"/"+version), name)
		Expect(*owners[0].Controller).To(BeTrue(), name)
		owner, err := objects.Resource(of(base, strings.ToLower(owners[0].Kind)+"s")).Namespace(namespace).Get(ctx, owners[0].Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred(), name)
		Expect(owner.GetUID()).To(Equal(owners[0].UID), name)
	}
}

// expectNoMachineMadeOrDeleted asks the audit log: whoever deleted an object of Cluster API was the operator, after it had taken its
// finalizers off, the garbage collector deleted none, and nothing was made but one copy of each by the operator.
func expectNoMachineMadeOrDeleted(ctx context.Context, began cluster.Mark, copies int) {
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
	made := log.Where(func(r cluster.Request) bool {
		return r.IsCreation() && (strings.HasSuffix(r.APIGroup, private) || strings.HasSuffix(r.APIGroup, standard)) && r.Namespace == namespace
	})
	Expect(made.By(harness.UserAgent)).To(HaveLen(len(made)))
	Expect(made).To(HaveLen(copies), "%s", made)
}
