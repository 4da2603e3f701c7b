package decide

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Inside is an object in a Namespace that would go with it.
type Inside struct {
	Kind   schema.GroupKind
	Object metav1.Object
	// Namespaced says whether a kind is, and false of one that nobody serves.
	Namespaced func(schema.GroupVersionKind) bool
}

// transient are kinds whose objects nobody loses with their namespace: other objects bring them, or they only serve
// the moment.
var transient = map[schema.GroupKind]bool{
	{Kind: "Event"}:                                                   true,
	{Group: "events.k8s.io", Kind: "Event"}:                           true,
	{Group: "coordination.k8s.io", Kind: "Lease"}:                     true,
	{Kind: "Endpoints"}:                                               true,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:                true,
	{Group: "metrics.k8s.io", Kind: "PodMetrics"}:                     true,
	{Group: "packages.operators.coreos.com", Kind: "PackageManifest"}: true,
}

// createdByCluster are the objects that a cluster puts into every namespace by itself.
var createdByCluster = map[Key]bool{
	{Kind: "ServiceAccount", Name: "default"}:                                                true,
	{Kind: "ServiceAccount", Name: "builder"}:                                                true,
	{Kind: "ServiceAccount", Name: "deployer"}:                                               true,
	{Kind: "ConfigMap", Name: "kube-root-ca.crt"}:                                            true,
	{Kind: "ConfigMap", Name: "openshift-service-ca.crt"}:                                    true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Name: "system:deployers"}:      true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Name: "system:image-builders"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Name: "system:image-pullers"}:  true,
}

// IsTransient says that no object of a kind is anybody's loss.
func IsTransient(kind schema.GroupKind) bool { return transient[kind] }

// Counts says that the object would be somebody's loss. Our marks are no exception: what we put there and may go is gone
// before its namespace, and what is left was kept for a reason, or is a copy of somebody's. What another object
// of the namespace owns goes, or stays, with that one; an owner that belongs to no namespace stays, and what it owns
// would be missed.
func (i Inside) Counts() bool {
	if transient[i.Kind] || createdByCluster[Key{Group: i.Kind.Group, Kind: i.Kind.Kind, Name: i.Object.GetName()}] {
		return false
	}
	owners := i.Object.GetOwnerReferences()
	return len(owners) == 0 || slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool {
		return !i.Namespaced(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	})
}

// Census counts the objects in a Namespace that would be somebody's loss. One that is served as several kinds, which its
// UID tells, counts once: if kube-apiserver stores it, as its kinds there say, and not at all if it does not as one of
// those; else if it does as any, since no server has a say about what another one stores.
type Census struct {
	namespaced func(schema.GroupVersionKind) bool
	said       map[types.UID]saying
	unknown    []Held // those without a UID
}

// saying is what kinds say of an object.
type saying struct {
	own, counts bool
	held        Held
}

// NewCensus begins a count; namespaced says whether a kind is, and false of one that nobody serves.
func NewCensus(namespaced func(schema.GroupVersionKind) bool) *Census {
	return &Census{namespaced: namespaced, said: map[types.UID]saying{}}
}

// Add takes up an object of a kind; own says that kube-apiserver itself stores it.
func (c *Census) Add(kind schema.GroupKind, obj metav1.Object, own bool) {
	now := saying{own, Inside{Kind: kind, Object: obj, Namespaced: c.namespaced}.Counts(), HeldOf(kind, obj)}
	before, again := c.said[obj.GetUID()]
	switch {
	case obj.GetUID() == "":
		if now.counts {
			c.unknown = append(c.unknown, now.held)
		}
	case !again, own && !before.own, own == before.own && now.counts != own:
		c.said[obj.GetUID()] = now
	}
}

// Count is how many there are.
func (c *Census) Count() int64 {
	total := int64(len(c.unknown))
	for _, said := range c.said {
		if said.counts {
			total++
		}
	}
	return total
}

// Holding is each of them, in the order of kind, namespace and name.
func (c *Census) Holding() *Holding {
	all := slices.Clone(c.unknown)
	for _, said := range c.said {
		if said.counts {
			all = append(all, said.held)
		}
	}
	slices.SortFunc(all, Held.compare)
	holding := &Holding{}
	for _, o := range all {
		holding.Add(o)
	}
	return holding
}
