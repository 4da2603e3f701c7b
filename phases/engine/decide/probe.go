package decide

import (
	"encoding/json"
	"fmt"
	"reflect"
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

// Probe is whether an object does what it is there for, and if not, why; if so, the message is advice.
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

// rule asks one question of an object of the cluster. It is pure: the same object gives the same answer.
type rule func(obj *unstructured.Unstructured) Probe

// all is true when every rule is, also when there are none. Not having seen enough outweighs bad news, and then only
// what is missing is told. What a check finds without failing is told when there is nothing worse.
func all(rules ...rule) rule {
	return func(obj *unstructured.Unstructured) Probe {
		texts := map[Answer][]string{}
		for _, ask := range rules {
			if p := ask(obj); p.Answer != AnswerTrue || p.Message != "" {
				texts[p.Answer] = append(texts[p.Answer], p.Message)
			}
		}
		for _, worst := range [...]Answer{AnswerUnknown, AnswerFalse, AnswerTrue} {
			if len(texts[worst]) > 0 {
				return Probe{worst, strings.Join(texts[worst], "; ")}
			}
		}
		return passed
	}
}

// upToDate asks the rule only of an object whose status speaks of its newest spec. A status that does not say of which
// generation it speaks is believed.
func upToDate(inner rule) rule {
	return func(obj *unstructured.Unstructured) Probe {
		seen, given := number(fieldAt(obj, ".status.observedGeneration"))
		if given && int64(seen) != obj.GetGeneration() {
			return unknown("its controller has not seen generation %d yet", obj.GetGeneration())
		}
		return inner(obj)
	}
}

// reported asks for a field that a controller sets when it has looked at the object at all.
func reported(path string) rule {
	return func(obj *unstructured.Unstructured) Probe {
		if fieldAt(obj, path) == nil {
			return unknown("%s is not reported yet", strings.Trim(path, "."))
		}
		return passed
	}
}

// conditionTrue asks for a condition.
func conditionTrue(kind string) rule {
	return func(obj *unstructured.Unstructured) Probe { return Condition(obj, kind) }
}

// Condition answers whether status.conditions[type].status is "True"; one of an older generation does not count.
func Condition(obj *unstructured.Unstructured, kind string) Probe {
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

// conditionOf is the first condition of a type; none in a list that holds anything else before it.
func conditionOf(obj *unstructured.Unstructured, kind string) map[string]any {
	list, _ := fieldAt(obj, ".status.conditions").([]any)
	for _, entry := range list {
		c, isMap := entry.(map[string]any)
		if !isMap {
			return nil
		}
		if c["type"] == kind {
			return c
		}
	}
	return nil
}

// fieldIs wants the field at a path to have a value, type included: 1 is not "1". A missing field has none.
func fieldIs(path string, want any) rule {
	return func(obj *unstructured.Unstructured) Probe {
		if is := fieldAt(obj, path); !sameJSON(is, want) {
			return failing("%s is %s, not %s", strings.Trim(path, "."), inJSON(is), inJSON(want))
		}
		return passed
	}
}

// fieldsEqual wants the fields at two paths to be there and to be equal.
func fieldsEqual(a, b string) rule {
	return func(obj *unstructured.Unstructured) Probe {
		x, y := fieldAt(obj, a), fieldAt(obj, b)
		if x == nil || y == nil || !sameJSON(x, y) {
			return failing("%s is %s, and %s is %s", strings.Trim(a, "."), inJSON(x), strings.Trim(b, "."), inJSON(y))
		}
		return passed
	}
}

// fieldAt is the value at a path of field names with dots between them, nil when there is none. Lists are not entered.
func fieldAt(obj *unstructured.Unstructured, path string) any {
	var at any = obj.Object
	for name := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	return at
}

// sameJSON compares values as JSON does: 1 and 1.0 are one number.
func sameJSON(a, b any) bool {
	if x, isNumber := number(a); isNumber {
		y, isNumber := number(b)
		return isNumber && x == y
	}
	return reflect.DeepEqual(a, b)
}

func inJSON(v any) string {
	if v == nil {
		return "missing"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
