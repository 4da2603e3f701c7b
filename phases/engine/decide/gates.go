package decide

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// gates are what is asked of objects of a kind, by group and kind; all other kinds have nothing to wait for.
var gates = map[string]rule{
	"apiextensions.k8s.io/CustomResourceDefinition": all(conditionTrue("Established"), namesAccepted),

	"apps/Deployment":  all(reported(".status.observedGeneration"), upToDate(deployed)),
	"apps/DaemonSet":   all(reported(".status.observedGeneration"), upToDate(everywhere)),
	"apps/StatefulSet": all(reported(".status.observedGeneration"), upToDate(inOrder)),
	"batch/Job":        completed,

	"/Namespace":             all(reported(".status.phase"), fieldIs(".status.phase", "Active")),
	"/PersistentVolumeClaim": all(reported(".status.phase"), fieldIs(".status.phase", "Bound")),

	"apiregistration.k8s.io/APIService": conditionTrue("Available"),

	"admissionregistration.k8s.io/ValidatingAdmissionPolicy": wellTyped,
}

// gateOf is what is asked of the object that a manifest stands for: what its kind asks for, the CA bundles of its
// webhooks, and its own condition. The error says what is wrong with that one.
func gateOf(manifest *unstructured.Unstructured) (rule, error) {
	var rules []rule
	key := KeyOf(manifest)
	if ask := gates[key.Group+"/"+key.Kind]; ask != nil {
		rules = append(rules, ask)
	}
	if replicas, _ := number(fieldAt(manifest, ".spec.replicas")); key.Group == "apps" && (fieldAt(manifest, ".spec.replicas") == nil || replicas > 0) {
		rules = append(rules, scaled)
	}
	if isWebhooks(key) {
		rules = append(rules, trusted(injected(manifest.GetAnnotations())))
	}
	if expression := manifest.GetAnnotations()[CompleteAnnotation]; expression != "" {
		ask, err := completeWhen(expression)
		if err != nil {
			return nil, err
		}
		rules = append(rules, ask)
	}
	if len(rules) == 1 {
		return rules[0], nil
	}
	return all(rules...), nil
}

// namesAccepted wants the names as they stand to be accepted. No condition of a CRD says of which generation it speaks: until the
// API server has looked at a change of the names, those that it accepted are the former ones.
func namesAccepted(crd *unstructured.Unstructured) Probe {
	if p := Condition(crd, "NamesAccepted"); p.Answer != AnswerTrue {
		return p
	}
	for _, name := range [...]string{"plural", "singular", "kind", "listKind", "shortNames", "categories"} {
		asked, accepted := fieldAt(crd, ".spec.names."+name), fieldAt(crd, ".status.acceptedNames."+name)
		if !reflect.DeepEqual(asked, accepted) && !(empty(asked) && empty(accepted)) {
			return unknown("names.%s is not accepted yet", name)
		}
	}
	return passed
}

// wellTyped reads what the type checks of an admission policy found. They keep no API server from enforcing the policy,
// and where no controller makes them they never come.
func wellTyped(obj *unstructured.Unstructured) Probe {
	if upToDate(all())(obj).Answer != AnswerTrue {
		return passed // they are about the expressions before
	}
	warnings, _ := fieldAt(obj, ".status.typeChecking.expressionWarnings").([]any)
	var texts []string
	for _, entry := range warnings {
		w, _ := entry.(map[string]any)
		texts = append(texts, text(w["fieldRef"])+": "+text(w["warning"]))
	}
	if len(texts) > 0 {
		return Probe{AnswerTrue, "its expressions do not fit the types: " + strings.Join(texts, "; ") + "; repair them in the provider image; nothing waits for that"}
	}
	return passed
}

func deployed(obj *unstructured.Unstructured) Probe {
	if c := conditionOf(obj, "Progressing"); c != nil && c["reason"] == "ProgressDeadlineExceeded" {
		return failing("%s", "ProgressDeadlineExceeded: "+text(c["message"]))
	}
	want := count(obj, 1, ".spec.replicas")
	updated, total := count(obj, 0, ".status.updatedReplicas"), count(obj, 0, ".status.replicas")
	available := count(obj, 0, ".status.availableReplicas")
	switch {
	case updated < want && fieldAt(obj, ".spec.paused") == true:
		return failing("%d/%d replicas updated, it is paused%s; resume it", updated, want, heldBy(obj, "spec", "paused"))
	case updated < want:
		return failing("%d/%d replicas updated", updated, want)
	case total > updated:
		return failing("%d old replicas still run", total-updated)
	case available < want:
		return failing("%d/%d updated replicas available", available, want)
	}
	return Condition(obj, "Available")
}

// scaled wants a workload to have replicas whose manifest does not ask for none.
func scaled(obj *unstructured.Unstructured) Probe {
	if count(obj, 1, ".spec.replicas") == 0 {
		return failing("scaled to zero%s; scale it up, or let the manifest say 0", heldBy(obj, "spec", "replicas"))
	}
	return passed
}

// heldBy says by whom a field was set, nothing when managedFields do not tell.
func heldBy(obj *unstructured.Unstructured, path ...any) string {
	field := missing{path: fieldpath.MakePathOrDie(path...)}
	var managers []string
	for _, entry := range obj.GetManagedFields() {
		if fields := fieldsOf(entry); fields != nil && field.ownedIn(fields) && !slices.Contains(managers, entry.Manager) {
			managers = append(managers, entry.Manager)
		}
	}
	if len(managers) == 0 {
		return ""
	}
	return " by field manager " + strings.Join(managers, " and ")
}

func inOrder(obj *unstructured.Unstructured) Probe {
	want := count(obj, 1, ".spec.replicas")
	if ready := count(obj, 0, ".status.readyReplicas"); ready < want {
		return failing("%d/%d replicas ready", ready, want)
	}
	if fieldAt(obj, ".spec.updateStrategy.type") == "OnDelete" {
		return passed
	}
	partition := count(obj, 0, ".spec.updateStrategy.rollingUpdate.partition")
	if updated := count(obj, 0, ".status.updatedReplicas"); updated < want-partition {
		return failing("%d/%d replicas updated", updated, want-partition)
	}
	if partition == 0 {
		return fieldsEqual(".status.currentRevision", ".status.updateRevision")(obj)
	}
	return passed
}

func everywhere(obj *unstructured.Unstructured) Probe {
	want := count(obj, 0, ".status.desiredNumberScheduled")
	if updated := count(obj, 0, ".status.updatedNumberScheduled"); updated < want {
		return failing("%d/%d pods updated", updated, want)
	}
	if available := count(obj, 0, ".status.numberAvailable"); available < want {
		return failing("%d/%d updated pods available", available, want)
	}
	return passed
}

func completed(obj *unstructured.Unstructured) Probe {
	if c := conditionOf(obj, "Failed"); c != nil && c["status"] == "True" {
		return failing("%s", strings.TrimRight("the job failed: "+text(c["message"]), ": "))
	}
	if c := conditionOf(obj, "Complete"); c != nil && c["status"] == "True" {
		return passed
	}
	return unknown("the job has not completed yet")
}

func count(obj *unstructured.Unstructured, otherwise int64, path string) int64 {
	if n, isNumber := number(fieldAt(obj, path)); isNumber {
		return int64(n)
	}
	return otherwise
}
