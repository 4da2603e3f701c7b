package simulated

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// machineAccount is the operator's own.
const machineAccount = "system:serviceaccount:capstan:capstan"

// server is an API server with what it stores.
type server struct {
	now     func() time.Time
	kinds   []phases.Kind
	objects map[ref]*unstructured.Unstructured
	version int
	uids    int
	// down has every request end without an answer.
	down bool
	// wrote counts the writes of the machine, and fault is asked before each of them.
	wrote int
	// written counts what the machine has written, by the words that actions name it with, and deleted its deletions.
	written map[string]int
	deleted int
	fault   func(n int, w phases.Write) fault
	refuse  func(phases.Write) error
	// unasked is the namespace about which the API server tells nobody who serves webhooks there.
	unasked string
	log     []string
	// listed counts the lists of a resource of either side, and unlisted are the errors that listing a resource ends with.
	listed   map[string]int
	unlisted map[string]error
	// denied counts writes that the fence has denied, and tried are the kinds of them.
	denied int
	tried  map[string]bool
	// unhooked says that a webhook of Cluster API does not answer.
	unhooked bool
	// unpoliced says that there are no policies of the fence.
	unpoliced bool
	// got counts reads of one HostedCluster.
	got int
	// unanswered is the error that listing objects of another party ends with, to none of which anything of Cluster API is an owner.
	unanswered error
	// many has there be more Secrets than can be moved.
	many bool
	// forbidden is what components may not do, such as "create machines.cluster.x-k8s.io".
	forbidden map[string]bool
}

// ref is where an object lies.
type ref struct{ group, resource, namespace, name string }

// fault is what happens to a write.
type fault string

// The faults. killedAfter ends the process after the write is stored and before its answer is read; lost loses the answer.
const (
	none        fault = ""
	killedAfter fault = "killed after"
	lost        fault = "lost"
)

// killed is the panic of a process that ends.
type killed struct{}

func refOf(k phases.Kind, namespace, name string) ref {
	return ref{k.Group, k.Resource, namespace, name}
}

func gr(k phases.Kind) schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// Write makes a write of the machine, with the faults that are asked for.
func (s *server) Write(_ context.Context, w phases.Write) (*unstructured.Unstructured, error) {
	if s.down {
		return nil, s.unavailable()
	}
	if w.As != "" {
		if err := ownersDenied(w); err != nil {
			return nil, err
		}
		if s.unhooked {
			return nil, apierrors.NewInternalError(errors.New("failed calling webhook"))
		}
		return s.try(w, w.As, true)
	}
	s.wrote++
	what := none
	if s.fault != nil {
		what = s.fault(s.wrote, w)
	}
	if s.refuse != nil {
		if err := s.refuse(w); err != nil {
			return nil, err
		}
	}
	o, err := s.try(w, machineAccount, false)
	if err == nil {
		s.took(w)
	}
	s.log = append(s.log, fmt.Sprintf("%s %s.%s %s/%s status=%v err=%v", w.Verb, w.Kind.Resource, w.Kind.Group, w.Namespace, w.Name, w.Status, err))
	switch what {
	case killedAfter:
		panic(killed{})
	case lost:
		return nil, apierrors.NewTimeoutError("the answer was lost", 1)
	}
	return o, err
}

// fenced says that the fence denies a write.
func (s *server) fenced(w phases.Write, account string) error {
	side := phases.SideOf(w.Kind.Group)
	namespace := s.objects[refOf(phases.Namespaces, "", w.Namespace)]
	if side == "" || namespace == nil {
		return nil
	}
	if account == machineAccount {
		return s.copied(w, namespace)
	}
	label := namespace.GetLabels()[guards.FenceLabel]
	if s.unpoliced || label != string(guards.BothSidesAreShut) && label != string(side) {
		return nil
	}
	s.denied++
	s.tried[w.Kind.Resource+"."+w.Kind.Group] = true
	return apierrors.NewForbidden(gr(w.Kind), w.Name, fmt.Errorf("ValidatingAdmissionPolicy '%s-%s' denied request", phases.Fence, side))
}

// copied denies a copy where no fence stands, or one of another move.
func (s *server) copied(w phases.Write, namespace *unstructured.Unstructured) error {
	by := (&unstructured.Unstructured{Object: w.Body}).GetAnnotations()[guards.MigratedByAnnotation]
	of := namespace.GetLabels()
	if w.Verb != phases.Create || of[guards.FenceLabel] != "" && by == of[guards.MoveLabel] {
		return nil
	}
	s.denied++
	return apierrors.NewForbidden(gr(w.Kind), w.Name, fmt.Errorf("it is a copy by move %q", by))
}

// try makes a write as an account.
func (s *server) try(w phases.Write, account string, dry bool) (*unstructured.Unstructured, error) {
	if err := s.fenced(w, account); err != nil {
		return nil, err
	}
	at := refOf(w.Kind, w.Namespace, w.Name)
	now := s.objects[at]
	if w.Verb == phases.Create {
		if now != nil {
			return nil, apierrors.NewAlreadyExists(gr(w.Kind), w.Name)
		}
		if dry {
			return nil, nil
		}
		return s.create(at, w, account), nil
	}
	switch {
	case now == nil:
		return nil, apierrors.NewNotFound(gr(w.Kind), w.Name)
	case w.UID != "" && w.UID != now.GetUID(), w.ResourceVersion != "" && w.ResourceVersion != now.GetResourceVersion():
		return nil, apierrors.NewConflict(gr(w.Kind), w.Name, fmt.Errorf("the object has changed"))
	case account == machineAccount && (w.UID == "" || w.ResourceVersion == "" && w.Verb != phases.Delete):
		return nil, apierrors.NewBadRequest("a write of the machine has no precondition")
	case dry:
		return now.DeepCopy(), nil
	}
	if w.Verb == phases.Delete {
		s.delete(at, account)
		return nil, nil
	}
	return s.change(at, w, account), nil
}

func (s *server) create(at ref, w phases.Write, account string) *unstructured.Unstructured {
	o := (&unstructured.Unstructured{Object: w.Body}).DeepCopy()
	s.uids++
	o.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
	o.SetGeneration(1)
	o.SetCreationTimestamp(metav1.NewTime(s.now()))
	o.SetNamespace(at.namespace)
	o.SetName(at.name)
	o.SetManagedFields([]metav1.ManagedFieldsEntry{managed(o, account)})
	if w.Kind.Status {
		delete(o.Object, "status")
	}
	s.store(at, o)
	return o.DeepCopy()
}

func managed(o *unstructured.Unstructured, account string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager(account), Operation: "Update", APIVersion: o.GetAPIVersion(), FieldsType: "FieldsV1"}
}

func manager(account string) string {
	if account == machineAccount {
		return phases.Manager
	}
	return account[strings.LastIndex(account, ":")+1:]
}

func (s *server) store(at ref, o *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[at] = o
}

// change makes a replacement or a patch.
func (s *server) change(at ref, w phases.Write, account string) *unstructured.Unstructured {
	now := s.objects[at]
	next := now.DeepCopy()
	body := (&unstructured.Unstructured{Object: w.Body}).DeepCopy().Object
	if w.Verb == phases.Patch {
		next.Object = merged(next.Object, body)
	} else {
		next.Object = body
	}
	if w.Kind.Status {
		if w.Status {
			status := next.Object["status"]
			next = now.DeepCopy()
			if delete(next.Object, "status"); status != nil {
				next.Object["status"] = status
			}
		} else if delete(next.Object, "status"); now.Object["status"] != nil {
			next.Object["status"] = now.DeepCopy().Object["status"]
		}
	}
	next.SetUID(now.GetUID())
	next.SetCreationTimestamp(now.GetCreationTimestamp())
	next.SetDeletionTimestamp(now.GetDeletionTimestamp())
	next.SetGeneration(now.GetGeneration())
	next.SetResourceVersion(now.GetResourceVersion())
	if !reflect.DeepEqual(spec(next), spec(now)) {
		next.SetGeneration(now.GetGeneration() + 1)
	}
	if len(next.GetManagedFields()) == 0 {
		next.SetManagedFields(now.GetManagedFields())
	}
	if reflect.DeepEqual(next.Object, now.Object) {
		return now.DeepCopy()
	}
	if reflect.DeepEqual(next.GetManagedFields(), now.GetManagedFields()) && !slices.ContainsFunc(now.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager(account) }) {
		next.SetManagedFields(append(next.GetManagedFields(), managed(next, account)))
	}
	if slices.ContainsFunc(next.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return !s.serves(at, e.APIVersion) }) {
		next.SetManagedFields(nil)
	}
	s.store(at, next)
	s.finalize(at)
	return next.DeepCopy()
}

// serves says that objects of Cluster API are served in a version; all others are in any.
func (s *server) serves(at ref, apiVersion string) bool {
	i := slices.IndexFunc(s.kinds, func(k phases.Kind) bool { return k.Group == at.group && k.Resource == at.resource })
	return i < 0 || slices.ContainsFunc(s.kinds[i].Versions, func(v string) bool { return at.group+"/"+v == apiVersion })
}

// spec is all that counts for the generation.
func spec(o *unstructured.Unstructured) map[string]any {
	all := maps.Clone(o.Object)
	delete(all, "metadata")
	delete(all, "status")
	return all
}

func merged(into, patch map[string]any) map[string]any {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap:
			have, _ := into[key].(map[string]any)
			if have == nil {
				have = map[string]any{}
			}
			into[key] = merged(have, inner)
		default:
			into[key] = value
		}
	}
	return into
}

// delete has an object terminate; the machine orphans what it owned.
func (s *server) delete(at ref, account string) {
	o := s.objects[at].DeepCopy()
	if account == machineAccount {
		o.SetFinalizers(append(o.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	if o.GetDeletionTimestamp() == nil {
		t := metav1.NewTime(s.now())
		o.SetDeletionTimestamp(&t)
		s.store(at, o)
	}
	s.finalize(at)
}

// finalize takes an object away that terminates and has no finalizer.
func (s *server) finalize(at ref) {
	if o := s.objects[at]; o != nil && o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		delete(s.objects, at)
	}
}
