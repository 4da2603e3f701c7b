package engine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Answer is what a probe says; Unknown comes with the zero Probe.
type Answer int

// The answers of a probe: not seen enough, told and bad, told and good.
const (
	AnswerUnknown Answer = iota
	AnswerFalse
	AnswerTrue
)

// Probe is whether an object does what it is there for, and if not, why.
type Probe struct {
	Answer  Answer
	Message string
}

var passed = Probe{Answer: AnswerTrue}

func unknown(format string, args ...any) Probe {
	return Probe{AnswerUnknown, fmt.Sprintf(format, args...)}
}

func failing(format string, args ...any) Probe {
	return Probe{AnswerFalse, fmt.Sprintf(format, args...)}
}

// probe looks at one object of the cluster; kinds that have nothing to wait for pass.
func probe(obj *unstructured.Unstructured) Probe {
	key := KeyOf(obj)
	switch key.Group + "/" + key.Kind {
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return both(condition(obj, "Established"), condition(obj, "NamesAccepted"))
	case "apps/Deployment":
		return deployment(obj)
	case "apps/StatefulSet":
		return statefulSet(obj)
	case "apps/DaemonSet":
		return daemonSet(obj)
	case "batch/Job":
		return completed(obj)
	case "/Namespace":
		return active(obj)
	case "apiregistration.k8s.io/APIService":
		return condition(obj, "Available")
	}
	return passed
}

// both is true when both are; not having seen enough outweighs bad news.
func both(a, b Probe) Probe {
	if a.Answer == AnswerUnknown || b.Answer == AnswerTrue {
		return a
	}
	if b.Answer == AnswerUnknown || a.Answer == AnswerTrue {
		return b
	}
	return failing("%s; %s", a.Message, b.Message)
}

// condition wants status.conditions[type].status to be "True"; one that speaks of an older generation says nothing.
func condition(obj *unstructured.Unstructured, kind string) Probe {
	found := conditionOf(obj, kind)
	if found == nil {
		return unknown("condition %s is not reported yet", kind)
	}
	if seen, given := found["observedGeneration"].(int64); given && seen != obj.GetGeneration() {
		return unknown("condition %s is outdated", kind)
	}
	if found["status"] == "True" {
		return passed
	}
	return failing("%s", strings.TrimRight(fmt.Sprintf("%s is %v: %v: %v", kind, found["status"], text(found["reason"]), text(found["message"])), ": "))
}

func conditionOf(obj *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, entry := range list {
		if c, _ := entry.(map[string]any); c["type"] == kind {
			return c
		}
	}
	return nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func deployment(obj *unstructured.Unstructured) Probe {
	if p := observed(obj); p.Answer != AnswerTrue {
		return p
	}
	if c := conditionOf(obj, "Progressing"); c != nil && c["reason"] == "ProgressDeadlineExceeded" {
		return failing("%s", "ProgressDeadlineExceeded: "+text(c["message"]))
	}
	want := count(obj, 1, "spec", "replicas")
	updated, total := count(obj, 0, "status", "updatedReplicas"), count(obj, 0, "status", "replicas")
	available := count(obj, 0, "status", "availableReplicas")
	switch {
	case updated < want:
		return failing("%d/%d replicas updated", updated, want)
	case total > updated:
		return failing("%d old replicas still run", total-updated)
	case available < want:
		return failing("%d/%d updated replicas available", available, want)
	}
	return condition(obj, "Available")
}

func statefulSet(obj *unstructured.Unstructured) Probe {
	if p := observed(obj); p.Answer != AnswerTrue {
		return p
	}
	want := count(obj, 1, "spec", "replicas")
	if ready := count(obj, 0, "status", "readyReplicas"); ready < want {
		return failing("%d/%d replicas ready", ready, want)
	}
	if strategy, _, _ := unstructured.NestedString(obj.Object, "spec", "updateStrategy", "type"); strategy == "OnDelete" {
		return passed
	}
	partition := count(obj, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	if updated := count(obj, 0, "status", "updatedReplicas"); updated < want-partition {
		return failing("%d/%d replicas updated", updated, want-partition)
	}
	return passed
}

func daemonSet(obj *unstructured.Unstructured) Probe {
	if p := observed(obj); p.Answer != AnswerTrue {
		return p
	}
	want := count(obj, 0, "status", "desiredNumberScheduled")
	if updated := count(obj, 0, "status", "updatedNumberScheduled"); updated < want {
		return failing("%d/%d pods updated", updated, want)
	}
	if available := count(obj, 0, "status", "numberAvailable"); available < want {
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

func active(obj *unstructured.Unstructured) Probe {
	switch is, _, _ := unstructured.NestedString(obj.Object, "status", "phase"); is {
	case "Active":
		return passed
	case "":
		return unknown("phase is not reported yet")
	default:
		return failing("phase is %s", is)
	}
}

// observed asks whether the status speaks of the newest spec.
func observed(obj *unstructured.Unstructured) Probe {
	if seen := count(obj, 0, "status", "observedGeneration"); seen < obj.GetGeneration() {
		return unknown("its controller has not seen generation %d yet", obj.GetGeneration())
	}
	return passed
}

func count(obj *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	v, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	if n, isNumber := number(v); isNumber {
		return int64(n)
	}
	return otherwise
}
