package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// noon is when everything begins.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const (
	operatorNamespace = "capstan"
	installation      = "our-installation"
)

// Image is that of the proxy which the operator is given at first.
const Image = "registry.example/capstan@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// World is a management cluster with hosted clusters, and the operator that moves them.
type World struct {
	server *server
	clock  time.Time
	cloud  *cloud
	store  *store
	phases *phases.Phases
	events []events.Event
	// Ignoring has the old operator write whoever owns a HostedCluster, and NotNeeded says that it is not kept.
	Ignoring, NotNeeded bool
	// failing are the names of Machines whose instances have failed.
	failing map[string]bool
	// image is that of the proxy, release the operator's.
	image, release string
}

// New is a world with the programme enabled and no hosted cluster.
func New() *World {
	w := &World{clock: noon, cloud: &cloud{instances: map[string]bool{}}, failing: map[string]bool{}, image: Image, release: "4.22.0"}
	w.server = &server{
		now: func() time.Time { return w.clock }, objects: map[ref]*unstructured.Unstructured{}, kinds: kinds(),
		tried: map[string]bool{}, forbidden: map[string]bool{}, written: map[string]int{},
	}
	w.store = &store{w: w, records: map[machine.Key]json.RawMessage{}, notes: map[machine.Key]json.RawMessage{}}
	w.put(phases.ConfigMaps, map[string]any{"metadata": map[string]any{"namespace": operatorNamespace, "name": guards.ProgrammeName}})
	w.put(scoped(phases.Standard), map[string]any{"metadata": map[string]any{"name": "default"}, "spec": map[string]any{"allowed": true}})
	w.Restart()
	return w
}

// Restart is another process: it remembers nothing.
func (w *World) Restart() {
	w.phases = &phases.Phases{
		API: w.server, Namespace: operatorNamespace, Installation: installation, Journal: w.store,
		Equipment: phases.Equipment{Image: w.image}, Release: w.release,
		Now: w.Now, Needed: func() bool { return !w.NotNeeded },
		Event: func(e events.Event) { w.events = append(w.events, e) },
		Clusters: func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			all, err := w.server.List(ctx, phases.HostedClusters, "", "")
			for _, o := range all {
				phases.Keep(o)
			}
			return all, err
		},
		Fences: func(_ context.Context, namespace string) (guards.Fence, error) { return w.fenceOf(namespace), nil },
		Programme: func(ctx context.Context) (*unstructured.Unstructured, error) {
			o, err := w.server.Get(ctx, phases.ConfigMaps, operatorNamespace, guards.ProgrammeName)
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return o, err
		},
	}
}

// Phases is what the machine of the present process works with, and Store where its records are.
func (w *World) Phases() *phases.Phases { return w.phases }

// Store keeps records as the operator's does.
func (w *World) Store() machine.Store[guards.Facts, phases.Works] {
	return w.phases.Remembering(w.store)
}

// TellingStore is Store that also tells of records in conditions.
func (w *World) TellingStore() machine.Store[guards.Facts, phases.Works] {
	return w.phases.Telling(w.store)
}

// SetStatus has the operator of a hosted cluster write its status.
func (w *World) SetStatus(key machine.Key, status map[string]any) {
	o := w.object(key).DeepCopy()
	o.Object["status"] = status
	w.edit(phases.HostedClusters, o, true)
}

// Status is that of a hosted cluster.
func (w *World) Status(key machine.Key) map[string]any {
	status, _ := w.object(key).DeepCopy().Object["status"].(map[string]any)
	return status
}

// Fence is which side is shut in the namespace of a hosted cluster.
func (w *World) Fence(key machine.Key) guards.Fence { return w.fenceOf(w.namespaceOf(key)) }

func (w *World) fenceOf(namespace string) guards.Fence {
	o := w.server.objects[refOf(phases.Namespaces, "", namespace)]
	if o == nil {
		return guards.NoFence
	}
	return guards.Fence(o.GetLabels()[guards.FenceLabel])
}

// Bear has somebody create an infrastructure machine at the standard side behind the fence.
func (w *World) Bear(key machine.Key, name string) {
	at := refOf(phases.Namespaces, "", w.namespaceOf(key))
	fenced := w.server.objects[at]
	open := fenced.DeepCopy()
	open.SetLabels(nil)
	w.server.store(at, open)
	w.put(kind("awsmachines", phases.Standard), map[string]any{
		"metadata": map[string]any{"namespace": at.name, "name": name, "finalizers": []any{"awsmachine.infrastructure.cluster.x-k8s.io"}},
		"spec":     map[string]any{"instanceType": "m5.large"},
	})
	w.server.store(at, fenced.DeepCopy())
}

// BearPool is Bear of a pool, of which there is none.
func (w *World) BearPool(key machine.Key, name string) {
	at := refOf(phases.Namespaces, "", w.namespaceOf(key))
	fenced := w.server.objects[at]
	open := fenced.DeepCopy()
	open.SetLabels(nil)
	w.server.store(at, open)
	w.put(kind("awsmachinepools", phases.Standard), map[string]any{"metadata": map[string]any{"namespace": at.name, "name": name}})
	w.server.store(at, fenced.DeepCopy())
}

// Vanish takes the objects of a resource away on the private side, as the deletion of its CRD does.
func (w *World) Vanish(resource string) {
	for _, at := range w.server.sorted() {
		if at.resource == resource && phases.SideOf(at.group) == phases.Private {
			delete(w.server.objects, at)
		}
	}
}

// Now is the time.
func (w *World) Now() time.Time { return w.clock }

// Pass is time that goes by: Pods come and go, components and operators work, garbage is collected.
func (w *World) Pass(d time.Duration) {
	w.clock = w.clock.Add(d)
	w.kubelet()
	w.server.collect()
	if w.server.down {
		return
	}
	for _, o := range w.hosted() {
		w.operators(o)
		w.components(phases.ControlPlaneNamespace(o.GetNamespace(), o.GetName()))
	}
}

// Keys are those of all hosted clusters.
func (w *World) Keys() []machine.Key {
	var keys []machine.Key
	for _, o := range w.hosted() {
		keys = append(keys, phases.KeyOf(o))
	}
	return keys
}

func (w *World) hosted() []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, at := range w.server.sorted() {
		if at.resource == phases.HostedClusters.Resource {
			found = append(found, w.server.objects[at])
		}
	}
	return found
}

// put creates an object as a component does.
func (w *World) put(k phases.Kind, body map[string]any) *unstructured.Unstructured {
	body["apiVersion"], body["kind"] = k.APIVersion(), k.Kind
	o := (&unstructured.Unstructured{Object: body}).DeepCopy()
	made, err := w.server.try(phases.Write{Verb: phases.Create, Kind: k, Namespace: o.GetNamespace(), Name: o.GetName(), Body: o.Object}, "system:serviceaccount:test:people", false)
	if err != nil {
		panic(err)
	}
	if status, is := body["status"]; is && k.Status {
		made.Object["status"] = status
		made = w.edit(k, made, true)
	}
	return made
}

func (w *World) edit(k phases.Kind, o *unstructured.Unstructured, status bool) *unstructured.Unstructured {
	made, err := w.server.try(phases.Write{Verb: phases.Replace, Kind: k, Namespace: o.GetNamespace(), Name: o.GetName(), Status: status, Body: o.Object}, "system:serviceaccount:test:people", false)
	if err != nil {
		panic(err)
	}
	return made
}

// Annotate sets an annotation of a hosted cluster, as people do, and takes it off if the value is empty.
func (w *World) Annotate(key machine.Key, name, value string) {
	o := w.object(key).DeepCopy()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[name] = value; value == "" {
		delete(annotations, name)
	}
	o.SetAnnotations(annotations)
	w.edit(phases.HostedClusters, o, false)
}

func (w *World) object(key machine.Key) *unstructured.Unstructured {
	namespace, name, _ := strings.Cut(string(key), "/")
	return w.server.objects[refOf(phases.HostedClusters, namespace, name)]
}

// Annotations are those of a hosted cluster; nil if there is none.
func (w *World) Annotations(key machine.Key) map[string]string {
	if o := w.object(key); o != nil {
		return o.GetAnnotations()
	}
	return nil
}

// Delete has somebody delete a hosted cluster. The finalizer of the operator that it is of goes once no move is under way.
func (w *World) Delete(key machine.Key) {
	namespace, name, _ := strings.Cut(string(key), "/")
	w.server.delete(refOf(phases.HostedClusters, namespace, name), "system:serviceaccount:test:people")
}

// Down has the API server go away, or come back.
func (w *World) Down(is bool) { w.server.down = is }

// Fault is a way in which a write may end, see the server.
type Fault = fault

// Faults are those that differ: before a write is as after the one before.
func Faults() []Fault { return []Fault{killedAfter, lost} }

// Every says how many writes apart a fault is worth trying: a process ends at each write, and an answer is lost at some.
func (f fault) Every() int {
	if f == lost {
		return 4
	}
	return 1
}

// FaultAt has the nth write from now on end in a way; zero for no write.
func (w *World) FaultAt(n int, how Fault) {
	w.server.wrote = 0
	w.server.fault = func(at int, _ phases.Write) fault {
		if at == n {
			return how
		}
		return none
	}
}

// Refuse has the API server refuse the machine's writes of a verb to a resource, until it is asked to accept them again.
func (w *World) Refuse(verb phases.Verb, resource string) {
	w.server.refuse = func(o phases.Write) error {
		if o.Verb == verb && o.Kind.Resource == resource {
			return apierrors.NewInvalid(o.Kind.GroupKind(), o.Name, nil)
		}
		return nil
	}
}

// ForbidWrites has the machine have no right to write anything but its record, until its writes are accepted again.
func (w *World) ForbidWrites() {
	w.server.refuse = func(o phases.Write) error {
		return apierrors.NewForbidden(gr(o.Kind), o.Name, errors.New("a right was taken away"))
	}
}

// Accept takes every refusal back.
func (w *World) Accept() { w.server.refuse = nil }

// Wrote counts the writes of the machine since the last FaultAt.
func (w *World) Wrote() int { return w.server.wrote }

// IsKill says of the error of a pass that the process has ended there.
func IsKill(err error) bool {
	var panicked *machine.PanicError
	if !errors.As(err, &panicked) {
		return false
	}
	_, is := panicked.Value.(killed)
	return is
}

// Log are the writes of the machine, and what was collected.
func (w *World) Log() []string { return slices.Clone(w.server.log) }

// Told are the reasons of Events.
func (w *World) Told() []string {
	var reasons []string
	for _, e := range w.events {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// Denied is how many writes the fence has denied.
func (w *World) Denied() int { return w.server.denied }

// LoseRecord loses record and journal of a hosted cluster.
func (w *World) LoseRecord(key machine.Key) {
	delete(w.store.records, key)
	delete(w.store.notes, key)
	w.Restart()
}

// KeepJournal keeps the journal of a hosted cluster as it is, to put it back in place of a later one.
func (w *World) KeepJournal(key machine.Key) (putBack func()) {
	kept := w.store.notes[key]
	return func() { w.store.notes[key] = kept }
}

// ForgeRecord puts a state into the record of a hosted cluster that it is not in.
func (w *World) ForgeRecord(key machine.Key, state machine.State) {
	raw, err := json.Marshal(machine.Record{State: state, CameFrom: guards.Copying, LastEvent: "Forged", Since: w.clock})
	if err != nil {
		panic(err)
	}
	w.store.records[key] = raw
	w.store.notes[key] = json.RawMessage(`{"move":"another"}`)
	w.Restart()
}

// State is the one that is stored of a hosted cluster.
func (w *World) State(key machine.Key) machine.State {
	record, _, _ := w.store.Load(context.Background(), key)
	return record.State
}

// Locked are the hosted clusters that have a lock.
func (w *World) Locked() []machine.Key {
	var keys []machine.Key
	for _, o := range w.hosted() {
		if guards.MarksOf(o.GetAnnotations()).Locked() {
			keys = append(keys, phases.KeyOf(o))
		}
	}
	return keys
}

// String is all that there is, for a test that failed.
func (w *World) String() string {
	var text strings.Builder
	for _, at := range w.server.sorted() {
		o := w.server.objects[at]
		fmt.Fprintf(&text, "%s.%s %s/%s %v finalizers=%v deleting=%v\n", at.resource, at.group, at.namespace, at.name, o.GetAnnotations(), o.GetFinalizers(), o.GetDeletionTimestamp() != nil)
	}
	return text.String()
}
