package applying

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// FieldManager is the name under which fields are applied.
const FieldManager = "capstan-provider-apply"

// Outcome is what became of an object.
type Outcome string

// The outcomes. Of a dry run they are what would become of it.
const (
	Created   Outcome = "created"
	Changed   Outcome = "changed"
	Unchanged Outcome = "unchanged"
	// Conflict: somebody else has set a field to another value, and nothing of the object was written.
	Conflict Outcome = "conflict"
	// Refused: the API server does not take it.
	Refused Outcome = "refused"
	// NotAsked is of a dry run: the object's Namespace is not there yet, so that the API server takes nothing in it.
	NotAsked Outcome = "not asked"
)

// Result is what became of one object; its JSON is a promise.
type Result struct {
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	// Conflicts are the fields that others have set.
	Conflicts []Kept `json:"conflicts,omitempty"`
	// Problem says why it was refused.
	Problem string `json:"problem,omitempty"`
}

// Applier writes to one management plane.
type Applier struct {
	host   string
	client dynamic.Interface
	kinds  meta.RESTMapper
	// DryRun has the API server say what it would do.
	DryRun bool
}

// New binds an Applier to a management plane; nothing is sent.
func New(config *rest.Config, dryRun bool) (*Applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	kinds, err := apiutil.NewDynamicRESTMapper(config, web)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return &Applier{host: config.Host, client: client, kinds: kinds, DryRun: dryRun}, nil
}

// ranks is what has to be there before what.
var ranks = map[string]int{"Namespace": -2, "Secret": -1}

// Ordered are objects as they are applied: Namespaces, Secrets, and the rest as it was given.
func Ordered(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(rank(a), rank(b))
	})
}

func rank(o *unstructured.Unstructured) int {
	if o.GetAPIVersion() != "v1" {
		return 0
	}
	return ranks[o.GetKind()]
}

// Apply applies one object. What becomes of it is no error; that the management plane cannot be asked is one.
func (a *Applier) Apply(ctx context.Context, object *unstructured.Unstructured) (Result, error) {
	result := Result{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	word := object.GetKind() + " " + object.GetName()
	mapping, err := a.kinds.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if meta.IsNoMatchError(err) {
		result.Outcome = Refused
		result.Problem = fmt.Sprintf("the management plane does not know kind %s of %s: install the provider that brings it", object.GetKind(), object.GetAPIVersion())
		return result, nil
	} else if err != nil {
		return result, inspect.Explain(err, a.host, "find", "the kind of "+word)
	}
	var client dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	switch scoped := mapping.Scope.Name() == meta.RESTScopeNameNamespace; {
	case scoped && result.Namespace == "":
		result.Outcome, result.Problem = Refused, "it names no namespace"
		return result, nil
	case scoped:
		client = a.client.Resource(mapping.Resource).Namespace(result.Namespace)
	}
	before, err := client.Get(ctx, result.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		before = nil
	} else if err != nil {
		return a.refused(result, err, "get", word)
	}
	after, err := a.patch(ctx, client, object)
	switch {
	case err != nil:
		return a.refused(result, err, "apply", word)
	case before == nil:
		result.Outcome = Created
	case same(before, after):
		result.Outcome = Unchanged
	default:
		result.Outcome = Changed
	}
	return result, nil
}

func (a *Applier) patch(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("writing %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	options := metav1.PatchOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if a.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return client.Patch(ctx, object.GetName(), types.ApplyPatchType, text, options)
}

// refused is what an API server says about the object; whatever else goes wrong is an error.
func (a *Applier) refused(result Result, err error, verb, word string) (Result, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsUnauthorized(err) {
		return result, inspect.Explain(err, a.host, verb, word)
	}
	details := status.Status().Details
	switch kept := keptBy(status.Status()); {
	case len(kept) > 0:
		result.Outcome, result.Conflicts = Conflict, kept
	case a.DryRun && apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces":
		result.Outcome, result.Problem = NotAsked, "Namespace "+result.Namespace+" is not there yet, so that the API server takes nothing in it"
	default:
		result.Outcome, result.Problem = Refused, status.Status().Message
	}
	return result, nil
}

// same says that nothing of the object is another one but who owns its fields: of what a first apply has created, the API server writes
// that anew at the second one.
func same(before, after *unstructured.Unstructured) bool {
	strip := func(o *unstructured.Unstructured) *unstructured.Unstructured {
		plain := o.DeepCopy()
		plain.SetManagedFields(nil)
		plain.SetResourceVersion("")
		return plain
	}
	return equality.Semantic.DeepEqual(strip(before), strip(after))
}
