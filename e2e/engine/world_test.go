package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// administrator is the field manager of what a spec does to the cluster itself.
const administrator = client.FieldOwner("administrator")

// world is what one spec has for itself.
type world struct {
	prefix    string // of the names of its cluster-scoped objects, with a dash at its end
	namespace string // of its inventories and of its namespaced objects
	owner     string // identity of the installation that its engines are
	group     string // API group of its CRDs
	client    client.Client
	config    *rest.Config // an administrator's, of which engines get copies
	hands     *rest.Config // the same for what is no engine: does not wait as long as the API server asks to
	engines   atomic.Int64 // started so far
}

var worlds atomic.Int64

// begin makes the world of a spec, and removes it when the spec ends.
func begin(ctx context.Context) *world {
	GinkgoHelper()
	since := mark(ctx)
	w, err := newWorld(ctx, fmt.Sprintf("w%d-", worlds.Add(1)))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			AddReportEntry("what the engines sent", w.requests(ctx, since).String())
		}
		Expect(w.remove(ctx)).To(Succeed())
	}, NodeTimeout(patience))
	return w
}

// newWorld is begin for whoever is not a spec; remove ends it.
func newWorld(ctx context.Context, prefix string) (*world, error) {
	w, err := openWorld(prefix, shared().Config())
	if err != nil {
		return nil, err
	}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := w.client.Create(ctx, home, administrator); err != nil {
		return nil, fmt.Errorf("creating namespace %s: %w", w.namespace, err)
	}
	return w, nil
}

// openWorld gives access to a world that may exist already.
func openWorld(prefix string, config *rest.Config) (*world, error) {
	hands := rest.CopyConfig(config)
	hands.Wrap(insist)
	c, err := client.New(hands, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &world{
		prefix: prefix, namespace: prefix + "home", owner: "installation-" + strings.TrimSuffix(prefix, "-"),
		group: prefix + "test.capstan.io", client: c, config: config, hands: hands,
	}, nil
}

// insist sends a request again soon when the API server asks to be left alone for a second, as it does with every kind
// whose definition has just changed: it is ready long before that.
func insist(next http.RoundTripper) http.RoundTripper {
	return sender(func(r *http.Request) (*http.Response, error) {
		for until := time.Now().Add(patience); ; {
			response, err := next.RoundTrip(r)
			if err != nil || response.StatusCode != http.StatusTooManyRequests || r.Body != nil && r.GetBody == nil || time.Now().After(until) {
				return response, err
			}
			_ = response.Body.Close()
			select {
			case <-r.Context().Done():
				return nil, r.Context().Err()
			case <-time.After(20 * time.Millisecond):
			}
			r = r.Clone(r.Context())
			if r.Body != nil {
				if r.Body, err = r.GetBody(); err != nil {
					return nil, err
				}
			}
		}
	})
}

// name is a name that no other world uses.
func (w *world) name(short string) string { return w.prefix + short }

// isNamed says that a name is one that the world gives.
func (w *world) isNamed(name string) bool { return strings.HasPrefix(name, w.prefix) }

// clusterScoped are the kinds, besides CRDs, whose objects a world may have left behind. What could refuse the removal
// of others comes first.
var clusterScoped = []schema.GroupVersionResource{
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicies"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
	{Version: "v1", Resource: "persistentvolumes"},
}

// remove deletes everything of the world, and waits for nothing: no other world uses its names.
func (w *world) remove(ctx context.Context) error {
	objects, err := metadata.NewForConfig(w.hands)
	if err != nil {
		return err
	}
	for _, gvr := range clusterScoped {
		if err := w.sweep(ctx, objects, gvr, func(name string) bool { return strings.HasPrefix(name, w.prefix) }); err != nil {
			return err
		}
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if err := w.freeInstances(ctx, objects, definitions); err != nil {
		return err
	}
	if err := w.sweep(ctx, objects, definitions, w.isOurCRD); err != nil {
		return err
	}
	return w.sweep(ctx, objects, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
		func(name string) bool { return strings.HasPrefix(name, w.prefix) })
}

func (w *world) isOurCRD(name string) bool { return strings.HasSuffix(name, "."+w.group) }

// sweep deletes the objects of a kind whose names say that they are the world's.
func (w *world) sweep(ctx context.Context, objects metadata.Interface, gvr schema.GroupVersionResource, ours func(string) bool) error {
	list, err := objects.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing %s: %w", gvr.Resource, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for i := range list.Items {
		object := &list.Items[i]
		if !ours(object.Name) {
			continue
		}
		group.Go(func() error {
			var errs []error
			if stuck := len(object.Finalizers) > 0 && gvr.Resource != "customresourcedefinitions"; stuck {
				errs = append(errs, w.unfinalize(ctx, objects.Resource(gvr), object.Name))
			}
			errs = append(errs, gone(objects.Resource(gvr).Delete(ctx, object.Name, metav1.DeleteOptions{})))
			return errors.Join(errs...)
		})
	}
	return group.Wait()
}

// freeInstances takes the finalizers off the instances of the world's CRDs, which nobody else will do.
func (w *world) freeInstances(ctx context.Context, objects metadata.Interface, definitions schema.GroupVersionResource) error {
	list, err := objects.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing %s: %w", definitions.Resource, err)
	}
	for i := range list.Items {
		plural, isGroup := strings.CutSuffix(list.Items[i].Name, "."+w.group)
		if !isGroup {
			continue
		}
		instances := objects.Resource(schema.GroupVersionResource{Group: w.group, Version: "v1", Resource: plural})
		// Instances that nobody converts cannot even be deleted.
		conversion := []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
		_, err := objects.Resource(definitions).Patch(ctx, list.Items[i].Name, types.MergePatchType, conversion, metav1.PatchOptions{})
		if gone(err) != nil {
			return fmt.Errorf("converting the instances of %s no more: %w", list.Items[i].Name, err)
		}
		held, err := instances.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue // it is not served, or not in this version
		}
		for j := range held.Items {
			if one := &held.Items[j]; len(one.Finalizers) > 0 {
				if err := w.unfinalize(ctx, instances.Namespace(one.Namespace), one.Name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *world) unfinalize(ctx context.Context, objects metadata.ResourceInterface, name string) error {
	_, err := objects.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	return gone(err)
}

// gone forgives that an object has disappeared meanwhile.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// eventually waits until an attempt returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	Expect(wait(ctx, what, attempt)).To(Succeed())
}

// wait is eventually for whoever is not a spec.
func wait(ctx context.Context, what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; in the end %w", what, ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
