package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// fieldManager is what the writes of a takeover go by.
const fieldManager = "capstan-takeover"

// lookEvery is the pause between two looks at what is waited for.
const lookEvery = 2 * time.Second

// Act does what a plan says, in its order. Each step can be done again: after an
// error or an interrupt the next takeover goes on where this one has ended.
func (c *Cluster) Act(ctx context.Context, p *Plan) error {
	if err := c.act(ctx, p); err != nil {
		return err
	}
	if p.Back {
		p.Done = true
		return nil
	}
	back, err := c.former(ctx)
	if err != nil {
		return err
	}
	if p.Done = len(back) == 0; !p.Done {
		return &inspect.Error{
			What: strings.Join(back, " and ") + " came back: somebody has made it while the former installer was taken away, such as the cluster-version operator in a sync that had begun before",
			Next: "do it again",
		}
	}
	return nil
}

func (c *Cluster) act(ctx context.Context, p *Plan) error {
	for i := range p.Steps {
		step := &p.Steps[i]
		if step.Do == Stay {
			continue
		}
		if err := c.do(ctx, step); err != nil {
			return err
		}
		step.Done = true
	}
	return nil
}

// former is what of the former installer can work: its Deployments, and Leases that somebody holds.
func (c *Cluster) former(ctx context.Context) ([]string, error) {
	var all []string
	for _, name := range phases.FormerInstallers {
		deployment, lease := object{deployments, "Deployment", c.namespace, name}, object{leases, "Lease", c.namespace, phases.FormerLease(name)}
		found, err := c.get(ctx, deployment)
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, deployment.String())
		}
		if found, err = c.get(ctx, lease); err != nil {
			return nil, err
		}
		if _, until := heldBy(found); until.After(c.Now()) {
			all = append(all, lease.String())
		}
	}
	return all, nil
}

func (c *Cluster) do(ctx context.Context, step *Step) error {
	c.Progress(step.Do + " " + step.Object)
	switch step.Do {
	case Override:
		return c.override(ctx, step.of)
	case Delete:
		return c.remove(ctx, step)
	case Wait:
		return c.untilFree(ctx, step.of)
	}
	if step.of.resource == configMaps {
		return c.unmark(ctx, step.of)
	}
	return c.clear(ctx, step.of.name)
}

// override tells the cluster-version operator to leave an object alone, and nothing else: other overrides stay.
func (c *Cluster) override(ctx context.Context, o object) error {
	version, err := c.clusterVersion(ctx)
	if err != nil || overridden(version, o) {
		return err
	}
	overrides := append(slices.Clone(version.Spec.Overrides), configv1.ComponentOverride{Group: o.resource.Group, Kind: o.kind, Namespace: o.namespace, Name: o.name, Unmanaged: true})
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version.ResourceVersion}, "spec": map[string]any{"overrides": overrides},
	})
	if err != nil {
		return fmt.Errorf("writing an override: %w", err)
	}
	_, err = c.dynamic.Resource(clusterVersions).Patch(ctx, version.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return inspect.Explain(err, c.host, "patch", theVersion.String())
}

// remove deletes the very object that was looked at. Of a Deployment it waits until it is gone with its pods: they may still
// make another one.
func (c *Cluster) remove(ctx context.Context, step *Step) error {
	uid, propagation := types.UID(step.uid), metav1.DeletePropagationBackground
	if step.of.resource == deployments {
		propagation = metav1.DeletePropagationForeground
	}
	err := c.dynamic.Resource(step.of.resource).Namespace(step.of.namespace).Delete(ctx, step.of.name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return inspect.Explain(err, c.host, "delete", step.Object)
	}
	if step.of.resource != deployments {
		return nil
	}
	next := ""
	err = c.until(ctx, step.Object+" to be gone", func() (bool, error) {
		found, err := c.get(ctx, step.of)
		if err != nil || found == nil || found.GetUID() != uid {
			return true, err
		}
		next = c.whatStays(ctx, step.of)
		return false, nil
	})
	var gaveUp *inspect.Error
	if next != "" && errors.As(err, &gaveUp) {
		gaveUp.Next = next
	}
	return err
}

// whatStays names the pods that a Deployment waits for until it is gone, and what to do about them: those of a node that is
// lost stay for ever. Empty if there are none, or they may not be listed.
func (c *Cluster) whatStays(ctx context.Context, o object) string {
	if o.resource != deployments {
		return ""
	}
	var text string
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.dynamic.Resource(pods).Namespace(o.namespace).List(ctx, options)
	})
	_ = pages.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		pod, is := item.(*unstructured.Unstructured)
		if !is || text != "" {
			return nil
		}
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "ReplicaSet" && deploymentOf(owner.Name) == o.name {
			node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
			text = fmt.Sprintf("pod %s on node %q has not ended; if the node is lost, make sure that it is off, then: oc -n %s delete pod %s --force; and do it again: what is done stays done",
				pod.GetName(), node, pod.GetNamespace(), pod.GetName())
		}
		return nil
	}) // what was found before a page failed is told all the same
	return text
}

// deploymentOf names the Deployment of a ReplicaSet: a hash without a hyphen is appended to its name.
func deploymentOf(replicaSet string) string {
	return replicaSet[:max(strings.LastIndex(replicaSet, "-"), 0)]
}

// untilFree waits until nobody holds a Lease.
func (c *Cluster) untilFree(ctx context.Context, o object) error {
	return c.until(ctx, o.String()+" to be free", func() (bool, error) {
		found, err := c.get(ctx, o)
		_, until := heldBy(found)
		return !until.After(c.Now()), err
	})
}

func (c *Cluster) until(ctx context.Context, what string, is func() (bool, error)) error {
	for told := false; ; told = true {
		done, err := is()
		if err != nil || done {
			return err
		}
		if !told {
			c.Progress("waiting for " + what)
		}
		if err := c.Pause(ctx, lookEvery); err != nil {
			return &inspect.Error{What: "gave up waiting for " + what, Next: "look why it is not, and do it again: what is done stays done", Err: err}
		}
	}
}

// clear gives up, in its name, what a field manager of the former installer has
// told on the ClusterOperator: what nobody else tells goes.
func (c *Cluster) clear(ctx context.Context, manager string) error {
	empty := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": configv1.GroupVersion.String(), "kind": "ClusterOperator", "metadata": map[string]any{"name": phases.ClusterOperatorName},
	}}
	_, err := c.dynamic.Resource(clusterOperators).ApplyStatus(ctx, phases.ClusterOperatorName, empty, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return inspect.Explain(err, c.host, "patch", "status of ClusterOperator "+phases.ClusterOperatorName)
}
