package privatecapi_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

const crds = "customresourcedefinitions"

// next is the next event that is no bookmark.
func next(watched watch.Interface) watch.Event {
	for event := range watched.ResultChan() {
		if event.Type != watch.Bookmark {
			return event
		}
	}
	return watch.Event{}
}

var _ = Describe("A watch", func() {
	It("shows where what was there ends by a bookmark", func(ctx SpecContext) {
		in := namespace(ctx)
		machines := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in)
		made, err := machines.Create(ctx, object("", "Machine", "m", machineSpec), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		again, err := machines.Watch(ctx, metav1.ListOptions{
			ResourceVersion: made.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			AllowWatchBookmarks: true, SendInitialEvents: ptr.To(true),
		})
		Expect(err).NotTo(HaveOccurred())
		defer again.Stop()
		Expect((<-again.ResultChan()).Type).To(Equal(watch.Added))
		event := <-again.ResultChan()
		Expect(event.Type).To(Equal(watch.Bookmark))
		of, err := asObject(event.Object)
		Expect(err).NotTo(HaveOccurred())
		Expect(of.GetAPIVersion()).To(Equal(standard + "/" + version))
		Expect(of.GetAnnotations()).To(HaveKey(metav1.InitialEventsAnnotationKey))
	})

	It("says in standard names that its beginning is gone", func(ctx SpecContext) {
		watched, err := seen.dynamic.Resource(resource(standard, version, "machines")).Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
		Expect(err).NotTo(HaveOccurred())
		defer watched.Stop()
		event := <-watched.ResultChan()
		Expect(event.Type).To(Equal(watch.Error))
		Expect(apierrors.IsResourceExpired(apierrors.FromObject(event.Object))).To(BeTrue(), "%v", event.Object)
		Expect(event.Object).NotTo(mention(private))
	})

	It("ends when the server ends it, and upstream when the client does", func(ctx SpecContext) {
		own := startProxy(ctx, plane.Kubeconfig())
		machines := clientsOf(own.config()).dynamic.Resource(resource(standard, version, "machines"))
		watched, err := machines.Watch(ctx, metav1.ListOptions{TimeoutSeconds: ptr.To[int64](1)})
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "the watch to end", func(context.Context) error {
			for {
				select {
				case _, open := <-watched.ResultChan():
					if !open {
						return nil
					}
				default:
					return fmt.Errorf("it goes on")
				}
			}
		})
		held, err := machines.Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "the watch to be counted", func(ctx context.Context) error { return unless(own.metric(ctx, "open_watches", "") == 1, "it is not") })
		held.Stop()
		eventually(ctx, "the watch to end upstream", func(ctx context.Context) error { return unless(own.metric(ctx, "open_watches", "") == 0, "it goes on") })
	})

	It("of metadata in protobuf is in standard names, of machines and of definitions", func(ctx SpecContext) {
		in := namespace(ctx)
		of := object("", "Machine", "m", machineSpec)
		of.SetOwnerReferences([]metav1.OwnerReference{owner(ctx, in, version)})
		_, err := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in).Create(ctx, of, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		client, err := metadata.NewForConfig(front.config())
		Expect(err).NotTo(HaveOccurred())
		factory := metadatainformer.NewSharedInformerFactory(client, 0)
		machines := factory.ForResource(resource(standard, version, "machines"))
		definitions := factory.ForResource(resource("apiextensions.k8s.io", "v1", crds))
		machines.Informer()
		definitions.Informer()
		factory.Start(ctx.Done())
		Expect(cache.WaitForCacheSync(ctx.Done(), machines.Informer().HasSynced, definitions.Informer().HasSynced)).To(BeTrue())
		machine, err := machines.Lister().ByNamespace(in).Get("m")
		Expect(err).NotTo(HaveOccurred())
		Expect(machine.(*metav1.PartialObjectMetadata).OwnerReferences[0].APIVersion).To(Equal(standard + "/" + version))
		definition, err := definitions.Lister().Get("machines." + standard)
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.dynamic.Resource(resource("apiextensions.k8s.io", "v1", crds)).Get(ctx, "machines."+private, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(definition.(*metav1.PartialObjectMetadata).UID).To(Equal(there.GetUID()))
		_, err = definitions.Lister().Get("machines." + native)
		Expect(err).NotTo(HaveOccurred())
	})

	It("of built-in kinds in protobuf has their owners in standard names", func(ctx SpecContext) {
		in := namespace(ctx)
		config := front.config()
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = config.ContentType
		client := clientsOf(config).typed.CoreV1().ConfigMaps(in)
		watched, err := client.Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		defer watched.Stop()
		by := owner(ctx, in, version)
		_, err = client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{by}}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.typed.CoreV1().ConfigMaps(in).Get(ctx, "owned", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(there.OwnerReferences[0].APIVersion).To(Equal(private + "/" + version))
		for event := range watched.ResultChan() {
			if of := event.Object.(*corev1.ConfigMap); of.Name == "owned" {
				Expect(of.OwnerReferences[0]).To(Equal(by))
				break
			}
		}
		list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "!kubernetes.io/none"})
		Expect(err).NotTo(HaveOccurred())
		Expect(list).NotTo(mention(private))
	})
})
