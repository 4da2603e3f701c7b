package privatecapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// workload is the Deployment of a component.
type workload struct {
	of     Component
	object *unstructured.Unstructured
	// pods are those that are left of it.
	pods []string
	// noted is the hash of the pod template that it had, by the journal, and had its replicas; empty and nil where that does not say.
	noted string
	had   *int64
}

// workloadsIn reads the components that there are, and their Pods.
func (p *Phases) workloadsIn(ctx context.Context, namespace string) ([]workload, error) {
	var found []workload
	for _, component := range Components {
		o, err := p.API.Get(ctx, Deployments, namespace, component.Name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading Deployment %s/%s: %w", namespace, component.Name, err)
		}
		w := workload{of: component, object: o}
		if w.pods, err = p.podsOf(ctx, o); err != nil {
			return nil, err
		}
		found = append(found, w)
	}
	return found, nil
}

// podsOf are the Pods of a Deployment that run, or may.
func (p *Phases) podsOf(ctx context.Context, deployment *unstructured.Unstructured) ([]string, error) {
	labels, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		return nil, machine.Terminal(fmt.Errorf("the Deployment %s selects its Pods by no label", deployment.GetName()))
	}
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		terms = append(terms, key+"="+labels[key])
	}
	pods, err := p.API.List(ctx, Pods, deployment.GetNamespace(), strings.Join(terms, ","))
	if err != nil {
		return nil, fmt.Errorf("listing the Pods of %s: %w", deployment.GetName(), err)
	}
	var names []string
	for _, pod := range pods {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		if phase != "Succeeded" && phase != "Failed" {
			names = append(names, pod.GetName())
		}
	}
	return names, nil
}

func (w workload) replicas() int64 {
	n, said, _ := unstructured.NestedInt64(w.object.Object, "spec", "replicas")
	if !said {
		return 1
	}
	return n
}

// prior is how many replicas it had before it was scaled down, as is kept on it, and whether that is.
func (w workload) prior() (n int64, kept bool) {
	text, is := w.object.GetAnnotations()[PriorReplicas]
	n, err := strconv.ParseInt(text, 10, 32)
	return n, is && err == nil && n >= 0
}

// wanted is how many replicas it has when it runs as it did before. Whoever may write the status may write what is kept on it, or take
// it off, too, so that the journal counts where it says something.
func (w workload) wanted() int64 {
	n, kept := w.prior()
	switch {
	case w.had != nil:
		return *w.had
	case kept:
		return n
	}
	return w.replicas()
}

// isForgotten says that it stands still though it had replicas, and that nothing on it says so any more.
func (w workload) isForgotten() bool {
	_, kept := w.prior()
	return !kept && w.replicas() == 0 && w.wanted() > 0
}

func (w workload) template() map[string]any {
	template, _, _ := unstructured.NestedMap(w.object.Object, "spec", "template")
	return template
}

// marks are the annotations of ours that stand on it.
func (w workload) marks() []string {
	return standing(w.object, []string{PriorReplicas, PriorTemplate})
}

// isInHostNetwork says that its Pods are in the network of their host, where no proxy is put.
func (w workload) isInHostNetwork() bool {
	host, _, _ := unstructured.NestedBool(w.template(), "spec", "hostNetwork")
	return host
}

// isAvailable says that it runs as it did before it was scaled down.
func (w workload) isAvailable() bool {
	wanted := w.wanted()
	status := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(w.object.Object, "status", field)
		return n
	}
	return w.replicas() >= wanted && status("observedGeneration") >= w.object.GetGeneration() &&
		status("updatedReplicas") >= wanted && status("availableReplicas") >= wanted
}

// scaleDown takes its replicas away, and keeps on it how many there were; nil if there are none.
func (w workload) scaleDown() *Write {
	_, kept := w.prior()
	metadata := map[string]any{}
	if !kept {
		metadata["annotations"] = map[string]any{PriorReplicas: strconv.FormatInt(w.wanted(), 10)}
	}
	if w.replicas() == 0 {
		if kept {
			return nil
		}
		return patchOf(Deployments, w.object, map[string]any{"metadata": metadata})
	}
	return patchOf(Deployments, w.object, map[string]any{"metadata": metadata, "spec": map[string]any{"replicas": int64(0)}})
}

// scaleUp gives it the replicas that it had; what is kept on it stays there.
func (w workload) scaleUp() *Write {
	n := w.wanted()
	if w.replicas() == n {
		return nil
	}
	return patchOf(Deployments, w.object, map[string]any{"spec": map[string]any{"replicas": n}})
}

// equip has its Pods see one side: with the proxy for the private one, without for the standard one. The template that it had is
// kept on it. Nil if it is so.
func (w workload) equip(e Equipment, side Side) *Write {
	template := w.template()
	if !w.lacks(side) {
		return nil
	}
	return w.replace(e.fitted(template, w.of, side), func(annotations map[string]string) {
		if w.priorTemplate() == nil {
			annotations[PriorTemplate] = compactJSON(template)
		}
	}, nil)
}

// priorTemplate is the pod template that it had, nil where none is kept on it, or another than the journal knows. The annotation alone
// proves nothing: whoever may write the status may write that too. Without it the template loses what Equip has given it, and nothing else.
func (w workload) priorTemplate() map[string]any {
	var prior map[string]any
	if json.Unmarshal([]byte(w.object.GetAnnotations()[PriorTemplate]), &prior) != nil || len(prior) == 0 {
		return nil
	}
	if prior = wholeNumbers(prior); hashOf(compactJSON(prior)) != w.noted {
		return nil
	}
	return prior
}

// lacks says that its Pods would not see a side.
func (w workload) lacks(side Side) bool {
	if side == Standard {
		return hasProxy(w.template())
	}
	return !(IsEquipped(w.template()) && w.of.isTold(w.template())) && !w.isInHostNetwork()
}

// restore gives it back the template and the replicas that it had, and takes off what was kept. Its Pods see a side then, whatever
// was kept, or was not; a template that it never had does not come back. Nil if it is so.
func (w workload) restore(e Equipment, side Side) *Write {
	if !w.isToSettle(side) {
		return nil
	}
	template := w.template()
	if prior := w.priorTemplate(); prior != nil && compactJSON(e.Strip(prior)) == compactJSON(e.Strip(template)) {
		template = prior // nobody has changed it meanwhile but for the proxy
	}
	return w.replace(e.fitted(template, w.of, side), unmark, w.priorReplicas())
}

// settle gives it the replicas that it had, and takes off what was kept; its template stays but for what a side takes. Nil if it is so.
func (w workload) settle(e Equipment, side Side) *Write {
	if !w.isToSettle(side) {
		return nil
	}
	return w.replace(e.fitted(w.template(), w.of, side), unmark, w.priorReplicas())
}

func (w workload) isToSettle(side Side) bool {
	return len(w.marks()) > 0 || w.lacks(side) || w.isForgotten()
}

func (w workload) priorReplicas() *int64 {
	if _, kept := w.prior(); kept || w.isForgotten() {
		n := w.wanted()
		return &n
	}
	return nil
}

func unmark(annotations map[string]string) {
	delete(annotations, PriorReplicas)
	delete(annotations, PriorTemplate)
}

func (w workload) replace(template map[string]any, annotate func(map[string]string), replicas *int64) *Write {
	o := w.object.DeepCopy()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotate(annotations)
	o.SetAnnotations(annotations)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations")
	}
	spec, _ := o.Object["spec"].(map[string]any)
	spec["template"] = template
	if replicas != nil {
		spec["replicas"] = *replicas
	}
	return &Write{
		Verb: Replace, Kind: Deployments, Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Body: o.Object,
	}
}

// wholeNumbers makes of a JSON value one as objects have it: integers are int64.
func wholeNumbers(value map[string]any) map[string]any {
	out, _ := normal(value).(map[string]any)
	return out
}

func normal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = normal(v[key])
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

// workloadFacts is what guards see of the components. target is the side that a move leads to.
func workloadFacts(all []workload, target Side) (guards.Workloads, guards.Pods) {
	f := guards.Workloads{
		Known: true, Equipped: guards.Tally{Known: true}, Available: guards.Tally{Known: true}, Standard: true, Private: true,
	}
	pods := guards.Pods{Known: true}
	for _, w := range all {
		name := w.object.GetName()
		if w.replicas() > 0 {
			f.ScaledUp = append(f.ScaledUp, name)
		}
		pods.Left = append(pods.Left, w.pods...)
		equipped, bare := IsEquipped(w.template()), !hasProxy(w.template())
		count(&f.Equipped, target == Private && equipped && w.of.isTold(w.template()) || target == Standard && bare, name)
		if !w.of.Waits {
			count(&f.Available, w.isAvailable(), name)
		}
		settled := len(w.marks()) == 0 && !w.isForgotten()
		f.Standard = f.Standard && bare && settled
		f.Private = f.Private && equipped && settled
	}
	return f, pods
}

// count adds one thing to a tally.
func count(t *guards.Tally, done bool, missing string) {
	const told = 5
	t.Wanted++
	switch {
	case done:
		t.Done++
	case len(t.Missing) < told:
		t.Missing = append(t.Missing, missing)
	}
}

// account is that of a component, by which the fence and the rights are tried.
func (p *Pass) account() string {
	for _, w := range p.workloads {
		if !w.of.Scales && !w.of.Waits {
			name, _, _ := unstructured.NestedString(w.object.Object, "spec", "template", "spec", "serviceAccountName")
			if name == "" {
				name = "default"
			}
			return "system:serviceaccount:" + w.object.GetNamespace() + ":" + name
		}
	}
	return "system:serviceaccount:" + p.facts.Cluster.ControlPlane + ":default"
}
