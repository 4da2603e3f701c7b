package hostedworld

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// disobedientEvery is how often a disobedient operator does its work.
const disobedientEvery = 100 * time.Millisecond

// Disobedient stands in for an old operator of HyperShift that knows of no lock: it works on a hosted cluster as long as that is of it by
// its other marks, whoever moves it meanwhile.
type Disobedient struct {
	client.Client
	of *Hosted

	mu sync.Mutex
	// pass counts what it has tried.
	pass              int
	accepted, refused int
	problem           error
}

// Disobey has one work until the context ends; see Wait. It may write all of Cluster API everywhere.
func (h *Hosted) Disobey(ctx context.Context) (*Disobedient, error) {
	account := corev1.ServiceAccount{ObjectMeta: oldOperator}
	role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "hypershift-operator"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{Standard, infrastructure + Standard, HyperShift}, Resources: []string{rbacv1.ResourceAll}, Verbs: []string{rbacv1.VerbAll}},
	}}
	for _, o := range []client.Object{&account, &role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: oldOperator.Namespace, Name: oldOperator.Name}},
	}} {
		if err := h.world.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	config, err := h.world.Cluster.ConfigFor("system:serviceaccount:"+oldOperator.Namespace+":"+oldOperator.Name, "system:serviceaccounts", "system:authenticated")
	if err != nil {
		return nil, err
	}
	api, err := harness.NewClient(config)
	if err != nil {
		return nil, err
	}
	d := &Disobedient{Client: api, of: h}
	h.world.running.Go(func() { d.work(ctx) })
	return d, nil
}

// Tried is how many of its writes were accepted and how many the fence has refused, and what else it met, nil for nothing.
func (d *Disobedient) Tried() (accepted, refused int, problem error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.accepted, d.refused, d.problem
}

func (d *Disobedient) work(ctx context.Context) {
	harness.Every(ctx, disobedientEvery, func() {
		hosted, err := d.of.Get(ctx)
		if err == nil && isLegacy(hosted) {
			err = d.reconcile(ctx)
		}
		if err != nil && ctx.Err() == nil {
			d.mu.Lock()
			d.problem = err
			d.mu.Unlock()
		}
	})
}

// isLegacy says that a HostedCluster is of the old operator, but for a lock.
func isLegacy(hosted *Object) bool {
	marks := hosted.GetAnnotations()
	return marks["hypershift.openshift.io/scope"] == "legacy" && marks["hypershift.openshift.io/private-capi-types"] != "true"
}

// reconcile writes into what is there how often it was here. Once it was refused it tries all that would do harm, too: as when somebody
// asks for two machines more, and for another one in place of the first.
func (d *Disobedient) reconcile(ctx context.Context) error {
	d.pass++
	set := object(kind(Standard, "MachineSet"), d.of.Namespace(), d.of.name, nil, nil)
	machine := object(kind(Standard, "Machine"), d.of.Namespace(), d.of.name+"-0", nil, nil)
	stray := object(kind(Standard, "Machine"), d.of.Namespace(), d.of.name+"-stray", nil, map[string]any{
		"clusterName": d.of.name, "bootstrap": map[string]any{"dataSecretName": d.of.name}, "infrastructureRef": reference(inMemoryMachine, d.of.name),
	})
	seen := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"operator.example.com/pass":"%d"}}}`, d.pass))
	err := errors.Join(d.counts(d.Patch(ctx, set, seen)), d.counts(d.Patch(ctx, machine, seen)))
	if _, refused, _ := d.Tried(); refused == 0 {
		return err
	}
	more := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":4}}`))
	return errors.Join(err, d.counts(d.Patch(ctx, set, more)), d.counts(d.Create(ctx, stray)), d.counts(d.Delete(ctx, machine)))
}

// counts takes in what came of a write, and returns what does not come of the fence, or of a move that is over.
func (d *Disobedient) counts(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.accepted++
	case strings.Contains(err.Error(), "capstan-private-capi-fence"):
		d.refused++
	case apierrors.IsNotFound(err):
	default:
		return err
	}
	return nil
}
