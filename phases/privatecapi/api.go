package privatecapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is a kind of objects as an API server serves it.
type Kind struct {
	Group, Resource, Kind string
	// Versions are those that are served, the preferred one first. A request uses the first.
	Versions []string
	// Status says that the kind has the subresource status.
	Namespaced, Status bool
}

// Version is the one that requests use, empty for a kind without.
func (k Kind) Version() string {
	if len(k.Versions) == 0 {
		return ""
	}
	return k.Versions[0]
}

// APIVersion is group and version of requests, as objects have them.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version()
	}
	return k.Group + "/" + k.Version()
}

// GroupKind is group and kind.
func (k Kind) GroupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// name is the kind for people, such as machines.cluster.x-k8s.io.
func (k Kind) name() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}

// The kinds besides those of Cluster API that are read or written.
var (
	HostedClusters = Kind{Group: "hypershift.openshift.io", Resource: "hostedclusters", Kind: "HostedCluster", Versions: []string{"v1beta1"}, Namespaced: true, Status: true}
	Deployments    = Kind{Group: "apps", Resource: "deployments", Kind: "Deployment", Versions: []string{"v1"}, Namespaced: true, Status: true}
	Pods           = Kind{Resource: "pods", Kind: "Pod", Versions: []string{"v1"}, Namespaced: true, Status: true}
	Namespaces     = Kind{Resource: "namespaces", Kind: "Namespace", Versions: []string{"v1"}, Status: true}
	ConfigMaps     = Kind{Resource: "configmaps", Kind: "ConfigMap", Versions: []string{"v1"}, Namespaced: true}
	Leases         = Kind{Group: "coordination.k8s.io", Resource: "leases", Kind: "Lease", Versions: []string{"v1"}, Namespaced: true}
)

// Verb is what a write does.
type Verb string

// The verbs of writes. Replace is a PUT, Patch a JSON merge patch.
const (
	Create  Verb = "create"
	Replace Verb = "replace"
	Patch   Verb = "patch"
	Delete  Verb = "delete"
)

// Write is one request that changes something. Each but a creation, which the name bounds, holds for one object as it was seen.
type Write struct {
	Verb            Verb
	Kind            Kind
	Namespace, Name string
	// Status addresses the subresource.
	Status bool
	// UID and ResourceVersion are the preconditions. A deletion needs the UID, a patch and a replacement the version too.
	UID             types.UID
	ResourceVersion string
	// Body is the object of a creation and a replacement, or a JSON merge patch.
	Body map[string]any
	// As is the account that a dry run is sent as; a write with one is never stored.
	As string
}

// API is the API server as this machine needs it. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	// Kinds are those of all groups of Cluster API, standard and private.
	Kinds(ctx context.Context) ([]Kind, error)
	Get(ctx context.Context, kind Kind, namespace, name string) (*unstructured.Unstructured, error)
	// List is of one namespace, and of all for an empty one; selector is a label selector, empty for all.
	List(ctx context.Context, kind Kind, namespace, selector string) ([]*unstructured.Unstructured, error)
	// Dependents are the metadata of objects of all other groups in a namespace that have an owner, with apiVersion and kind. Of a kind
	// with more of them than can be moved the error is a [TooManyError]. One that is not needed is left out
	// where it cannot be listed.
	Dependents(ctx context.Context, namespace string, needed Needed) ([]Dependent, error)
	// Write sends one request. A deletion orphans, and has nothing else deleted.
	Write(ctx context.Context, w Write) (*unstructured.Unstructured, error)
	// Probe lists a standard kind as a component's account sees it through a proxy.
	Probe(ctx context.Context, account string, kind Kind, namespace string) ([]*unstructured.Unstructured, error)
	// Unserved says what of the webhooks and conversions of Cluster API's kinds nobody would answer once the components in a
	// namespace are away, the shim included.
	Unserved(ctx context.Context, namespace string) ([]string, error)
	// May says whether an account may do something to a kind in a namespace; an empty account is the machine's own.
	May(ctx context.Context, account, verb string, kind Kind, namespace string) (bool, error)
	// MayBecome says whether the machine may speak as a service account.
	MayBecome(ctx context.Context, account string) (bool, error)
}

// Dependent is the metadata of an object in another group than Cluster API's.
type Dependent struct {
	Kind   Kind
	Object *unstructured.Unstructured
}

// Needed are the kinds of dependents that have to be seen: all, or those with some names, such as jobs.batch.
type Needed struct {
	All   bool
	Kinds []string
}

// Kind says that a kind has to be seen.
func (n Needed) Kind(k Kind) bool { return n.All || slices.Contains(n.Kinds, k.name()) }

// Group says that a kind of a group has to be seen.
func (n Needed) Group(group string) bool {
	return n.All || slices.ContainsFunc(n.Kinds, func(name string) bool {
		_, of, _ := strings.Cut(name, ".")
		return of == group
	})
}

// TooManyError says that there are more objects of a kind than can be moved.
type TooManyError struct {
	Kind Kind
	Most int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("there are more than %d %s, which is more than a move takes in", e.Most, e.Kind.name())
}
