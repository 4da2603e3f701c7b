package privatecapi_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// bindings are the smallest objects of Cluster API, of which many are made fastest.
const bindings = "clusterresourcesetbindings"

// createMany creates bindings as they are stored, some at a time.
func createMany(ctx context.Context, in string, count int) {
	GinkgoHelper()
	const beside = 16
	client := stored.dynamic.Resource(resource("addons."+private, version, bindings)).Namespace(in)
	numbers, failed := make(chan int), make(chan error, count)
	var workers sync.WaitGroup
	for range beside {
		workers.Go(func() {
			for i := range numbers {
				of := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "addons." + private + "/" + version, "kind": "ClusterResourceSetBinding",
					"metadata": map[string]any{"name": fmt.Sprintf("b-%05d", i)}, "spec": map[string]any{"clusterName": "c"},
				}}
				if _, err := client.Create(ctx, of, metav1.CreateOptions{}); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	Expect(failed).To(BeEmpty())
}

// page is a list as the server says it, of objects as they were at one moment.
func page(ctx context.Context, of kubernetes.Interface, group, in string, options metav1.ListOptions) []byte {
	GinkgoHelper()
	request := of.Discovery().RESTClient().Get().AbsPath("/apis", "addons."+group, version, "namespaces", in, bindings)
	for name, value := range map[string]string{
		"continue": options.Continue, "limit": strconv.FormatInt(options.Limit, 10),
		"resourceVersion": options.ResourceVersion, "resourceVersionMatch": string(options.ResourceVersionMatch),
	} {
		if value != "" && value != "0" {
			request.Param(name, value)
		}
	}
	text, err := request.SetHeader("Accept", "application/json").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return text
}

var _ = Describe("A list", func() {
	It("of ten thousand is the same in pages and as a whole, and is what is stored", func(ctx SpecContext) {
		const many, pages = 10_000, 20
		in := namespace(ctx)
		createMany(ctx, in, many)
		newest, err := stored.dynamic.Resource(resource("addons."+private, version, bindings)).Namespace(in).List(ctx, metav1.ListOptions{Limit: 1})
		Expect(err).NotTo(HaveOccurred())
		exactly := metav1.ListOptions{ResourceVersion: newest.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact}

		there := page(ctx, stored.typed, private, in, exactly)
		whole := page(ctx, seen.typed, standard, in, exactly)
		expectSame(whole, bytes.ReplaceAll(there, []byte(private), []byte(standard)))
		all := itemsOf(whole)
		Expect(all.Items).To(HaveLen(many))

		var found []unstructured.Unstructured
		exactly.Limit = many / pages
		for range pages {
			one := itemsOf(page(ctx, seen.typed, standard, in, exactly))
			Expect(one.Items).To(HaveLen(many / pages))
			found = append(found, one.Items...)
			// What goes on says itself of which moment it is.
			exactly = metav1.ListOptions{Limit: many / pages, Continue: one.GetContinue()}
		}
		Expect(exactly.Continue).To(BeEmpty())
		for i := range found {
			Expect(found[i].Object).To(Equal(all.Items[i].Object))
		}
	}, NodeTimeout(20*time.Minute))
})

func itemsOf(text []byte) *unstructured.UnstructuredList {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	Expect(list.UnmarshalJSON(text)).To(Succeed())
	return list
}
