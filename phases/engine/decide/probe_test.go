package decide

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func always(p Probe) rule { return func(*unstructured.Unstructured) Probe { return p } }

func TestRules(t *testing.T) {
	bad, blind := failing("bad"), unknown("blind")
	rows := []struct {
		name   string
		ask    rule
		object string // what is in the object besides its kind
		answer Answer
		says   string
	}{
		{"Condition: no status", conditionTrue("Ready"), ``, AnswerUnknown, "not reported"},
		{"Condition: no list", conditionTrue("Ready"), `status: {conditions: {a: b}}`, AnswerUnknown, "not reported"},
		{"Condition: an element that is no map, before it", conditionTrue("Ready"), `status: {conditions: [text, {type: Ready, status: "True"}]}`, AnswerUnknown, "not reported"},
		{"Condition: another type only", conditionTrue("Ready"), `status: {conditions: [{type: Other, status: "True"}]}`, AnswerUnknown, "not reported"},
		{"Condition: the first of two decides", conditionTrue("Ready"), `status: {conditions: [{type: Ready, status: "False"}, {type: Ready, status: "True"}]}`, AnswerFalse, "Ready is False"},
		{"Condition: of an older generation", conditionTrue("Ready"), `status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`, AnswerUnknown, "outdated"},
		{"Condition: of this generation", conditionTrue("Ready"), `status: {conditions: [{type: Ready, status: "True", observedGeneration: 2}]}`, AnswerTrue, ""},
		{"Condition: case counts", conditionTrue("Ready"), `status: {conditions: [{type: Ready, status: "true"}]}`, AnswerFalse, "true"},
		{"ObservedGeneration: absent asks on", upToDate(always(bad)), `status: {}`, AnswerFalse, "bad"},
		{"ObservedGeneration: older", upToDate(always(passed)), `status: {observedGeneration: 1}`, AnswerUnknown, "generation 2"},
		{"ObservedGeneration: this one", upToDate(always(bad)), `status: {observedGeneration: 2}`, AnswerFalse, "bad"},
		{"Reported: missing", reported(".status.phase"), ``, AnswerUnknown, "status.phase"},
		{"Reported: there", reported(".status.phase"), `status: {phase: x}`, AnswerTrue, ""},
		{"FieldsEqual: equal", fieldsEqual(".status.a.", "status.b"), `status: {a: {x: [1]}, b: {x: [1]}}`, AnswerTrue, ""},
		{"FieldsEqual: not equal", fieldsEqual("status.a", "status.b"), `status: {a: 1, b: "1"}`, AnswerFalse, `status.a is 1, and status.b is "1"`},
		{"FieldsEqual: one is missing", fieldsEqual("status.a", "status.b"), `status: {a: 1}`, AnswerFalse, "status.b is missing"},
		{"FieldsEqual: both are missing", fieldsEqual("status.a", "status.b"), `status: {}`, AnswerFalse, "missing"},
		{"FieldValue: the value", fieldIs("status.a", int64(1)), `status: {a: 1}`, AnswerTrue, ""},
		{"FieldValue: the same number in another form", fieldIs("status.a", 1.0), `status: {a: 1}`, AnswerTrue, ""},
		{"FieldValue: another type", fieldIs("status.a", "1"), `status: {a: 1}`, AnswerFalse, `status.a is 1, not "1"`},
		{"FieldValue: a truth value is no text", fieldIs("status.a", "true"), `status: {a: true}`, AnswerFalse, "true"},
		{"FieldValue: missing", fieldIs("status.a", "x"), ``, AnswerFalse, "missing"},
		{"And: empty", all(), ``, AnswerTrue, ""},
		{"And: true and true", all(always(passed), always(Probe{Answer: AnswerTrue})), ``, AnswerTrue, ""},
		{"And: true and false", all(always(passed), always(bad)), ``, AnswerFalse, "bad"},
		{"And: false and true", all(always(bad), always(passed)), ``, AnswerFalse, "bad"},
		{"And: false and false tells both", all(always(bad), always(failing("worse"))), ``, AnswerFalse, "bad; worse"},
		{"And: true and unknown", all(always(passed), always(blind)), ``, AnswerUnknown, "blind"},
		{"And: unknown and true", all(always(blind), always(passed)), ``, AnswerUnknown, "blind"},
		{"And: false and unknown tells only what is missing", all(always(bad), always(blind)), ``, AnswerUnknown, "blind"},
		{"And: unknown and unknown", all(always(blind), always(unknown("dark"))), ``, AnswerUnknown, "blind; dark"},
		{"And: true, false, unknown", all(always(passed), always(bad), always(blind)), ``, AnswerUnknown, "blind"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			p := row.ask(objects.Parse(t, "{apiVersion: g/v1, kind: Thing, metadata: {name: x, generation: 2}, "+row.object+"}"))
			if p.Answer != row.answer || !strings.Contains(p.Message, row.says) {
				t.Errorf("got %d %q, want %d %q", p.Answer, p.Message, row.answer, row.says)
			}
			if strings.Contains(p.Message, "bad") && p.Answer == AnswerUnknown {
				t.Errorf("%q tells more than what is missing", p.Message)
			}
		})
	}
}

func TestCompleteWhen(t *testing.T) {
	rows := []struct {
		name, expression, object string
		answer                   Answer
		says                     string
	}{
		{"true", `self.status.ready == true`, `status: {ready: true}`, AnswerTrue, ""},
		{"false", `self.status.replicas >= 2`, `status: {replicas: 1}`, AnswerFalse, "is not true"},
		{"a missing key", `self.status.ready == true`, ``, AnswerUnknown, "no such key"},
		{"has() asks for keys", `has(self.status) && self.status.ready == true`, ``, AnswerFalse, "is not true"},
		{"strings", `self.status.url.startsWith('https') && url(self.status.url).getHostname() == 'a'`, `status: {url: "https://a:1"}`, AnswerTrue, ""},
		{"lists", `self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')`, `status: {conditions: [{type: Ready, status: "True"}]}`, AnswerTrue, ""},
		{"a rule that costs too much", `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))`, ``, AnswerUnknown, "cost limit"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ask, err := completeWhen(row.expression)
			if err != nil {
				t.Fatal(err)
			}
			p := ask(objects.Parse(t, "{apiVersion: g/v1, kind: Thing, metadata: {name: x}, "+row.object+"}"))
			if p.Answer != row.answer || !strings.Contains(p.Message, row.says) {
				t.Errorf("got %d %q, want %d %q", p.Answer, p.Message, row.answer, row.says)
			}
		})
	}
}

func TestCompleteWhen_refuses_what_can_never_be_told(t *testing.T) {
	for expression, says := range map[string]string{
		`self.status.ready`: "not bool",
		`'true'`:            "not bool",
		`self.status ==`:    "Syntax error",
		`this.status == 1`:  "undeclared reference",
		`1 == 'a'`:          "no matching overload",
	} {
		if _, err := completeWhen(expression); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}
