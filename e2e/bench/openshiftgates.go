package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// gateAskedEvery is how often the floor asks for what no watch tells: a guest, and whether an object is gone.
const gateAskedEvery = time.Second

// floorGuest is a cluster that the floor makes.
type floorGuest struct {
	client  client.WithWatch
	asked   *capiworld.Asked
	objects *guestObjects
	// slots are as many as there may be requests under way, for all clusters together.
	slots chan struct{}
}

// install asks for the cluster, and makes it: payload once the infrastructure is there, machines, kubeconfig, and no bootstrap any more
// once the guest does without it. It returns when the guest has settled, and that is told.
func (f *floorGuest) install(ctx context.Context) error {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.asked.Key.Namespace}}
	if err := f.create(ctx, append([]client.Object{space}, f.asked.Objects()...)...); err != nil {
		return err
	}
	if err := f.until(ctx, clusterKind, 1, isProvisioned); err != nil {
		return err
	}
	if err := f.adopt(ctx); err != nil {
		return err
	}
	if err := f.make(ctx); err != nil {
		return err
	}
	if err := f.until(ctx, machineKind, guestReplicas+1, isProvisioned); err != nil {
		return err
	}
	if err := f.tellMachines(ctx); err != nil {
		return err
	}
	guest, err := f.reach(ctx)
	if err != nil {
		return err
	}
	if err := guest.until(ctx, "/readyz", "ok"); err != nil {
		return err
	}
	if err := f.tell(ctx, f.asked.ControlPlane, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}}); err != nil {
		return err
	}
	if err := guest.until(ctx, "/api/v1/namespaces/kube-system/configmaps/bootstrap", `"complete"`); err != nil {
		return err
	}
	if err := f.removeBootstrap(ctx); err != nil {
		return err
	}
	if err := guest.until(ctx, "/apis/config.openshift.io/v1/clusterversions/version", `"Completed"`); err != nil {
		return err
	}
	return f.tell(ctx, f.asked.ControlPlane, f.objects.plane.Object["status"])
}

// adopt gives the control plane its finalizer and marks, and the template its owner.
func (f *floorGuest) adopt(ctx context.Context) error {
	plane, template := f.objects.plane, f.objects.template
	if err := f.note(ctx, f.asked.ControlPlane, map[string]any{"finalizers": plane.GetFinalizers(), "annotations": plane.GetAnnotations()}); err != nil {
		return err
	}
	return f.note(ctx, f.asked.Template, map[string]any{"ownerReferences": f.in(template).GetOwnerReferences()})
}

// make makes payload and machines, and what each of these is started with once its config has the Machine as owner, as the contract of
// bootstrap providers wants it.
func (f *floorGuest) make(ctx context.Context) error {
	configs := map[string]types.UID{}
	for _, all := range [][]*unstructured.Unstructured{f.objects.payload, f.objects.machines} {
		for _, one := range all {
			made := f.in(one)
			if err := f.create(ctx, made); err != nil {
				return err
			}
			if made.GetKind() == configKind.Kind {
				configs[made.GetName()] = made.GetUID()
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, data := range f.objects.data {
		group.Go(func() error { return f.publish(ctx, data, configs[data.GetName()]) })
	}
	return group.Wait()
}

// publish makes what a machine is started with, which has the name of its config, once the Machine is there as its owner.
func (f *floorGuest) publish(ctx context.Context, data *unstructured.Unstructured, config types.UID) error {
	name := data.GetName()
	isOwned := func(config *unstructured.Unstructured) bool {
		return config.GetName() == name && metav1.GetControllerOfNoCopy(config) != nil
	}
	if err := f.until(ctx, configKind, 1, isOwned); err != nil {
		return err
	}
	made := f.in(data)
	owners := made.GetOwnerReferences()
	for i := range owners {
		owners[i].UID = config
	}
	made.SetOwnerReferences(owners)
	if err := f.create(ctx, made); err != nil {
		return err
	}
	return f.tell(ctx, f.named(configKind, name), f.objects.configs[name])
}

// tellMachines tells each Machine that it is up to date.
func (f *floorGuest) tellMachines(ctx context.Context) error {
	for name, condition := range f.objects.upToDate {
		machine, added := f.named(machineKind, name), []any{map[string]any{"op": "add", "path": "/status/conditions/-", "value": condition}}
		if err := f.patch(ctx, machine, types.JSONPatchType, added, func(p client.Patch) error { return f.client.Status().Patch(ctx, machine, p) }); err != nil {
			return err
		}
	}
	return nil
}

// removeBootstrap deletes the bootstrap machine with its payload, and waits until it is gone.
func (f *floorGuest) removeBootstrap(ctx context.Context) error {
	bootstrap := f.named(machineKind, f.asked.Key.Name+"-bootstrap")
	for _, o := range []client.Object{
		bootstrap, f.named(secretKind, f.asked.Key.Name+"-ignition-bootstrap"), f.named(secretKind, f.asked.Key.Name+"-ignition-keys"),
	} {
		if err := f.send(ctx, func() error { return f.client.Delete(ctx, o) }); err != nil {
			return fmt.Errorf("deleting %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
		}
	}
	for {
		err := f.send(ctx, func() error { return f.client.Get(ctx, client.ObjectKeyFromObject(bootstrap), bootstrap) })
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("looking for the bootstrap machine: %w", err)
		}
		if err := wait(ctx, gateAskedEvery); err != nil {
			return err
		}
	}
}

// isProvisioned says that an object has its infrastructure.
func isProvisioned(o *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(o.Object, "status", "initialization", "infrastructureProvisioned")
	return is
}

// until waits until so many objects of a kind are as they are to be.
func (f *floorGuest) until(ctx context.Context, of schema.GroupVersionKind, number int, are func(*unstructured.Unstructured) bool) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	there := map[string]bool{}
	for len(there) < number {
		events, err := f.client.Watch(ctx, list, client.InNamespace(f.asked.Key.Namespace))
		if err != nil {
			return fmt.Errorf("watching %s: %w", of.Kind, err)
		}
		for event := range events.ResultChan() {
			o, is := event.Object.(*unstructured.Unstructured)
			if !is {
				break // an error: the watch begins anew
			}
			if are(o) {
				there[o.GetName()] = true
			}
			if len(there) == number {
				break
			}
		}
		events.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// reach stores the kubeconfig, and speaks to the guest by it.
func (f *floorGuest) reach(ctx context.Context) (*bare, error) {
	made := f.in(f.objects.kubeconfig)
	text, _, _ := unstructured.NestedString(made.Object, "data", "value")
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	own := strings.TrimPrefix(guestAddress(f.asked), "https://")
	plain = []byte(strings.ReplaceAll(string(plain), f.objects.endpoint, own))
	if err := unstructured.SetNestedField(made.Object, base64.StdEncoding.EncodeToString(plain), "data", "value"); err != nil {
		return nil, fmt.Errorf("changing a kubeconfig: %w", err)
	}
	if err := f.create(ctx, made); err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(plain)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	return newBare(config)
}

// until waits until an API server's answer to a path has some words. One that does not answer is asked again.
func (c *bare) until(ctx context.Context, path, words string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path, http.NoBody)
		if err != nil {
			return err
		}
		if response, err := c.http.Do(request); err == nil {
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(text), words) {
				return nil
			}
		}
		if err := wait(ctx, gateAskedEvery); err != nil {
			return err
		}
	}
}
