package takeover

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// What happens to an object.
const (
	Delete   = "delete"
	Override = "override" // the cluster-version operator is told to leave it alone
	Wait     = "wait"
	Clear    = "clear"
	Stay     = "stay"
)

// Step is what happens to one object, and why.
type Step struct {
	Do     string `json:"do"`
	Object string `json:"object"`
	Why    string `json:"why"`
	Done   bool   `json:"done"`

	of  object
	uid string
}

// Plan is what a takeover does, in this order.
type Plan struct {
	Steps []Step `json:"steps"`
	// NeedsOverride names what the cluster-version operator would put back.
	NeedsOverride []string `json:"needsOverride,omitempty"`
	// Absent says that nobody would go on where the former installer ends; nothing is done then.
	Absent error `json:"-"`
	Done   bool  `json:"done"`
	// Back says that it is the way back to the former installer.
	Back bool `json:"back,omitempty"`
}

// whyOverride says what an override costs.
const whyOverride = "the cluster-version operator would put it back; it blocks upgrades of the cluster until the override is taken out of ClusterVersion version"

// Running says that the former installer is there, or was and is not cleaned up.
func (p Plan) Running() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Do != Stay })
}

// Cluster is what a takeover reads and writes.
type Cluster struct {
	host                     string
	namespace, capiNamespace string
	dynamic                  dynamic.Interface
	// Progress is told in a line what is done and waited for.
	Progress func(string)
	// Pause lets time go by between two looks at what is waited for.
	Pause func(context.Context, time.Duration) error
	Now   func() time.Time
}

// NewCluster binds a takeover to a cluster and the operator's namespaces; nothing is sent.
func NewCluster(config *rest.Config, namespace, capiNamespace string) (*Cluster, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Cluster{host: config.Host, namespace: namespace, capiNamespace: capiNamespace, dynamic: client, Progress: func(string) {}, Pause: pause, Now: time.Now}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// absent is why a takeover would leave the cluster without an installer, nil if the operator is there to go on.
func (c *Cluster) absent(ctx context.Context) error {
	deployment, lease := object{deployments, "Deployment", c.namespace, operator}, object{leases, "Lease", c.namespace, operator + "-leader"}
	found, err := c.get(ctx, deployment)
	if err != nil {
		return err
	}
	running := &appsv1.Deployment{}
	if found != nil && runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, running) == nil && running.Status.AvailableReplicas > 0 {
		return nil
	}
	if found, err = c.get(ctx, lease); err != nil {
		return err
	}
	if _, until := heldBy(found); until.After(c.Now()) {
		return nil
	}
	return &inspect.Error{
		What: fmt.Sprintf("Capstan does not run on this cluster: %s is not available, and nobody holds %s: nothing was changed, since nobody would go on where the former installer ends", deployment, lease),
		Next: "bring Capstan first, see docs/runbooks/takeover.md; it waits until the former installer has ended",
	}
}

// Plan says what a takeover does. override lets it tell the cluster-version operator to leave Deployments alone.
func (c *Cluster) Plan(ctx context.Context, override bool) (Plan, error) {
	version, err := c.clusterVersion(ctx)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	var overrides, stops, waits, cleans, stays []Step
	for _, name := range phases.FormerInstallers {
		o := object{deployments, "Deployment", c.namespace, name}
		found, err := c.get(ctx, o)
		if err != nil {
			return p, err
		}
		if found != nil {
			if keptByCVO(found) && !overridden(version, o) {
				p.NeedsOverride = append(p.NeedsOverride, o.String())
				overrides = append(overrides, Step{Do: Override, Object: o.String(), of: o, Why: whyOverride})
			}
			stops = append(stops, Step{Do: Delete, Object: o.String(), of: o, uid: string(found.GetUID()), Why: "the former installer stops"})
		}
		lease := object{leases, "Lease", c.namespace, phases.FormerLease(name)}
		if found, err = c.get(ctx, lease); err != nil {
			return p, err
		}
		if holder, until := heldBy(found); until.After(c.Now()) {
			waits = append(waits, Step{Do: Wait, Object: lease.String(), of: lease, Why: fmt.Sprintf("%s holds it and may write until it gives it up", holder)})
		} else if len(stops) > 0 {
			waits = append(waits, Step{Do: Wait, Object: lease.String(), of: lease, Why: "nobody may hold it when the next steps are made"})
		}
	}
	for _, o := range c.leftBehind() {
		found, err := c.get(ctx, o)
		switch {
		case err != nil:
			return p, err
		case found == nil:
		case keptByCVO(found):
			stays = append(stays, Step{Do: Stay, Object: o.String(), Why: whyStays(o)})
		default:
			cleans = append(cleans, Step{Do: Delete, Object: o.String(), of: o, uid: string(found.GetUID()), Why: "it was the former installer's, and nobody uses it any more"})
		}
	}
	clears, err := c.conditions(ctx)
	if err != nil {
		return p, err
	}
	p.Steps = append([]Step{}, slices.Concat(overrides, stops, waits, cleans, clears, stays)...) // none is told as none
	if override {
		p.NeedsOverride = nil
	}
	if p.Running() {
		p.Absent = c.absent(ctx)
	}
	return p, nil
}

// whyStays says what it means that the release has something which cannot be taken away.
func whyStays(o object) string {
	const goes = "the cluster-version operator keeps it; it goes with a release that does not have it; "
	switch {
	case o.kind == "ServiceAccount":
		return goes + "nothing runs as it, but it has its rights until then: guard who may make pods or tokens of it"
	case o.resource.Group == rbacv1.GroupName:
		return goes + "the rights in it stay until then"
	}
	return goes + "nobody uses it any more"
}

// conditions are what the former installer has told of itself on the ClusterOperator.
func (c *Cluster) conditions(ctx context.Context) ([]Step, error) {
	o := object{clusterOperators, "ClusterOperator", "", phases.ClusterOperatorName}
	found, err := c.get(ctx, o)
	if err != nil || found == nil {
		return nil, err
	}
	var steps []Step
	for _, manager := range phases.FormerManagers() {
		if slices.ContainsFunc(found.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "status"
		}) {
			steps = append(steps, Step{Do: Clear, Object: o.String(), of: object{name: manager}, Why: "conditions that " + manager + " wrote would stand for ever"})
		}
	}
	return steps, nil
}

// get reads an object; nil for one that does not exist, or is of a kind that the cluster does not have.
func (c *Cluster) get(ctx context.Context, o object) (*unstructured.Unstructured, error) {
	found, err := c.dynamic.Resource(o.resource).Namespace(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, inspect.Explain(err, c.host, "get", o.String())
}

// clusterVersion is ClusterVersion version, nil where there is none.
func (c *Cluster) clusterVersion(ctx context.Context) (*configv1.ClusterVersion, error) {
	found, err := c.get(ctx, theVersion)
	if err != nil || found == nil {
		return nil, err
	}
	version := &configv1.ClusterVersion{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, version); err != nil {
		return nil, fmt.Errorf("reading %s: %w", theVersion, err)
	}
	return version, nil
}

var theVersion = object{clusterVersions, "ClusterVersion", "", "version"}

// keptByCVO says that an object is of the release: whatever is done to it, the cluster-version operator puts it back.
func keptByCVO(o *unstructured.Unstructured) bool {
	if slices.ContainsFunc(o.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.Kind == "ClusterVersion" }) {
		return true
	}
	for annotation := range o.GetAnnotations() {
		if strings.HasPrefix(annotation, "include.release.openshift.io/") {
			return true
		}
	}
	return false
}

func overridden(version *configv1.ClusterVersion, o object) bool {
	return version == nil || slices.ContainsFunc(version.Spec.Overrides, func(override configv1.ComponentOverride) bool {
		return override.Unmanaged && override.Group == o.resource.Group && override.Kind == o.kind && override.Namespace == o.namespace && override.Name == o.name
	})
}

// heldBy says who holds a Lease, and until when at most.
func heldBy(found *unstructured.Unstructured) (holder string, until time.Time) {
	lease := &coordinationv1.Lease{}
	if found == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, lease) != nil {
		return "", time.Time{}
	}
	if until = phases.HeldUntil(lease); !until.IsZero() {
		holder = *lease.Spec.HolderIdentity
	}
	return holder, until
}

// Same says that two plans do the same to the same objects, with the same in the way.
func (p Plan) Same(other Plan) bool {
	return (p.Absent == nil) == (other.Absent == nil) && slices.Equal(p.NeedsOverride, other.NeedsOverride) &&
		slices.EqualFunc(p.Steps, other.Steps, func(a, b Step) bool { return a.Do == b.Do && a.Object == b.Object && a.uid == b.uid })
}
