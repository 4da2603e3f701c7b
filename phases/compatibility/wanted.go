package compatibility

import (
	"context"
	"fmt"
	"slices"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

// The webhooks in the configurations of one requirement.
const (
	objectsHook = "objects.capstan.openshift.io"
	pruneHook   = "prune.capstan.openshift.io"
)

// requirementKind is how owner references name the kind.
const requirementKind = "CompatibilityRequirement"

func ownerOf(r *requirementsv1alpha1.CompatibilityRequirement) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: requirementsv1alpha1.GroupVersion.String(), Kind: requirementKind, Name: r.Name, UID: r.UID}
}

// configurationsOf are the two configurations that a requirement of this name may have, as they are. Neither is wanted yet.
func (p *Phases) configurationsOf(ctx context.Context, name string) ([]*configuration, error) {
	both := []*configuration{
		{kind: "ValidatingWebhookConfiguration", name: name, blank: &admissionregistrationv1.ValidatingWebhookConfiguration{}},
		{kind: "MutatingWebhookConfiguration", name: name, blank: &admissionregistrationv1.MutatingWebhookConfiguration{}},
	}
	for _, c := range both {
		if err := p.look(ctx, c); err != nil {
			return nil, err
		}
		// Also where no name is wanted: what all share is deleted, loosened and tightened on nobody's behalf.
		c.foreign = shared(c.name) || c.live != nil && !Ours(c.live)
	}
	return both, nil
}

// look reads the live configuration, if there is one.
func (p *Phases) look(ctx context.Context, c *configuration) error {
	live, _ := c.blank.DeepCopyObject().(client.Object)
	err := p.Client.Get(ctx, client.ObjectKey{Name: c.name}, live)
	switch {
	case apierrors.IsNotFound(err):
		c.live = nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", c, err)
	default:
		c.live = live
	}
	return nil
}

// Ours says that an object was written here, as its managedFields tell: whatever else of it somebody has edited since is put
// right. A label or an owner reference proves nothing: whoever makes an object can give it both. Whoever can name our manager
// could write any webhook configuration.
func Ours(o client.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == Manager })
}

// KeepOurs leaves of an object's managedFields what [Ours] asks for.
func KeepOurs(o client.Object) {
	ours := Ours(o)
	if o.SetManagedFields(nil); ours {
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: Manager}})
	}
}

// shared says that all requirements share the configuration of this name.
func shared(name string) bool { return name == RequirementsConfiguration || name == CRDsConfiguration }

// want fills in the hooks that a requirement wants of its configurations.
func (p *Phases) want(r *requirementsv1alpha1.CompatibilityRequirement, t target, both []*configuration) {
	block := r.Spec.ObjectSchemaValidation
	if block.Action == "" {
		return
	}
	subject := paths.Subject{Name: r.Name, UID: string(r.UID), Generation: r.Generation}
	scope := admissionregistrationv1.ClusterScope
	if t.namespaced {
		scope = admissionregistrationv1.NamespacedScope
	}
	h := hook{
		name: objectsHook, path: subject.Path(paths.Objects), denies: block.Action == requirementsv1alpha1.CRDAdmitActionDeny,
		rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{t.group}, APIVersions: t.versions, Resources: []string{t.plural, t.plural + "/status"}, Scope: ptr.To(scope)},
		}},
		namespaceSelector: block.NamespaceSelector, objSelector: block.ObjectSelector, conditions: withTheirs(block.MatchConditions),
	}
	if !h.denies {
		h.path = subject.Path(paths.ObjectsWarn)
	}
	both[0].hooks = []hook{h}
	if h.denies {
		h.name, h.path = pruneHook, subject.Path(paths.Prune)
		both[1].hooks = []hook{h}
	}
	for _, c := range both {
		if len(c.hooks) > 0 {
			c.owner = ownerOf(r)
			p.trust(c)
		}
	}
}

// stands says how far a wanted configuration is: how many of three things are so, and what is not.
func (p *Phases) stands(c *configuration, k checker) (done int, missing []string) {
	switch {
	case shared(c.name):
		return 0, []string{c.String() + " is what all requirements share, or would be"}
	case c.foreign:
		return 0, []string{c.String() + " is somebody else's"}
	case c.live == nil:
		return 0, []string{c.String() + " does not exist yet"}
	case !p.asWanted(c):
		return 0, []string{c.String() + " is not as wanted" + p.fights.told(c.String())}
	}
	done++
	live := armaments(c.live)
	trusted, refuses := true, true
	for _, h := range c.hooks {
		trusted = trusted && len(live[h.name].ca) > 0
		refuses = refuses && (live[h.name].policy == admissionregistrationv1.Fail) == h.denies
	}
	if trusted {
		done++
	} else {
		missing = append(missing, c.String()+" has no CA bundle yet: the service CA operator writes it, because of annotation "+injectCA)
	}
	if refuses {
		done++
	} else {
		missing = append(missing, unarmed(c, k)+p.fights.told(c.String()))
	}
	return done, missing
}

// unarmed is why a configuration refuses nothing yet.
func unarmed(c *configuration, k checker) string {
	switch {
	case !k.disarmed.IsZero():
		return c.String() + " is not armed: capstan disarm holds that off until " + k.disarmed.UTC().Format(time.RFC3339) +
			"; to have it armed before, take annotation " + DisarmedAnnotation + " off the checker's webhook configurations"
	case !k.ready:
		return c.String() + " is not armed: no replica of Deployment " + Service + " is ready"
	}
	return c.String() + " is not armed: the checker has not proved yet that the API server reaches it"
}
