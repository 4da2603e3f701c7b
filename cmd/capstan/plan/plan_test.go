package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func foreseen(kind, name string, outlook engine.Outlook, how engine.How) *engine.Foreseen {
	return &engine.Foreseen{
		Key: engine.Key{Version: "v1", Kind: kind, Namespace: "n", Name: name}, Component: "core", Outlook: outlook, How: how,
		Resource: schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"},
	}
}

func planOf(t *testing.T, listed bool, objects ...*engine.Foreseen) *Plan {
	t.Helper()
	entry := func(name string, number int64) *operatorv1alpha1.ClusterAPIInstallerRevision {
		return &operatorv1alpha1.ClusterAPIInstallerRevision{Name: operatorv1alpha1.RevisionName(name), Revision: number}
	}
	seen := &phases.Foresight{From: entry("4.22.5-a-1", 1), To: entry("4.22.6-b-2", 2), Listed: listed, Forecast: &engine.Forecast{
		Waves: []engine.ForeseenWave{{Number: 1, Component: "core", Class: "config", Objects: objects}},
	}}
	if listed {
		seen.To = seen.From
	}
	access := &Access{As: As{User: "somebody", Operator: true}, asked: map[question]answer{}}
	for _, o := range objects {
		for _, verb := range verbsFor[o.Outlook] {
			access.asked[question{verb, o.Key.Group, o.Resource.Resource, o.Key.Namespace, true}] = answer{allowed: true}
		}
	}
	return Of(t.Context(), seen, access, "Installed", now)
}

func TestPlan_answers_by_its_exit_code(t *testing.T) {
	denied := foreseen("Secret", "a", engine.WouldDeny, engine.Tried)
	denied.Err = &engine.ObjectError{Err: errors.New("no")}
	for name, c := range map[string]struct {
		plan *Plan
		code int
	}{
		"nothing to do":               {planOf(t, true, foreseen("ConfigMap", "a", engine.WouldLeave, engine.Computed)), 0},
		"something was changed since": {planOf(t, true, foreseen("ConfigMap", "a", engine.WouldChange, engine.Tried)), 2},
		"only numbers":                {planOf(t, false, foreseen("ConfigMap", "a", engine.WouldMark, engine.Tried)), 2},
		"a revision of nothing new":   {planOf(t, false), 2},
		"somebody else's":             {planOf(t, false, foreseen("ConfigMap", "a", engine.WouldCollide, engine.Computed)), 3},
		"refused":                     {planOf(t, false, denied), 3},
		"not to be seen":              {planOf(t, false, foreseen("Secret", "a", engine.WouldCreate, engine.Unseen)), 3},
	} {
		if got := c.plan.Code(); got != c.code {
			t.Errorf("%s: exit code %d, want %d", name, got, c.code)
		}
	}
}

func TestPlan_has_lists_where_a_script_looks_for_them(t *testing.T) {
	text, err := json.Marshal(planOf(t, false, foreseen("ConfigMap", "a", engine.WouldCreate, engine.Tried)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"format":1`, `"at":"2026-01-02T03:04:05Z"`, `"as":{"user":"somebody","operator":true}`, `"removals":[]`, `"stops":[]`, `"fields":[]`, `"counts":{"create":1}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestPlan_prints_nothing_that_controls_a_terminal(t *testing.T) {
	hostile := foreseen("ConfigMap", "a\x1b[2J", engine.WouldChange, engine.Tried)
	hostile.Why = "it says \x1b]0;x\x07"
	hostile.Changes = []engine.Change{{Path: ".data.\x1b[31m", From: "a\x1b[0m", To: "b\r", Managers: []string{"\x1b[5m"}}}
	hostile.Before = &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "data": map[string]any{"a": "\x1b[1m"}}}
	hostile.After = &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "data": map[string]any{"a": "\x1b[2m"}}}
	p := planOf(t, false, hostile)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return p.Write(b, true) }, "name": func(b *bytes.Buffer) error { return p.WriteNames(b) },
		"diff": func(b *bytes.Buffer) error { return p.WriteDiff(b) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil || out.Len() == 0 || strings.ContainsAny(out.String(), "\x1b\x07\r") {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}

func TestPlan_shows_no_value_of_a_Secret(t *testing.T) {
	secret := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{
			"name": "a", "annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": value},
		}, "data": map[string]any{"key": value}, "stringData": map[string]any{"plain": value}}}
	}
	o := foreseen("Secret", "a", engine.WouldChange, engine.Tried)
	o.Before, o.After = secret("canary-before"), secret("canary-after")
	o.Changes = []engine.Change{{Path: ".data.key", From: "canary-before", To: "canary-after"}}
	p := planOf(t, false, o)
	var out bytes.Buffer
	if err := errors.Join(p.Write(&out, true), p.WriteDiff(&out), json.NewEncoder(&out).Encode(p)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "canary") || !strings.Contains(out.String(), ".data.key") || !strings.Contains(out.String(), "+  key: (hidden, and another one)") {
		t.Error(out.String())
	}
}

func TestPlan_names_objects_as_kubectl_takes_them(t *testing.T) {
	crd := foreseen("CustomResourceDefinition", "things.example.com", engine.WouldCreate, engine.Tried)
	crd.Key.Group, crd.Key.Namespace = "apiextensions.k8s.io", ""
	unserved := foreseen("Thing", "b", engine.WouldCreate, engine.Later)
	unserved.Key.Group, unserved.Resource = "example.com", schema.GroupVersionResource{}
	var out bytes.Buffer
	if err := planOf(t, false, crd, foreseen("ConfigMap", "a", engine.WouldChange, engine.Tried), unserved).WriteNames(&out); err != nil {
		t.Fatal(err)
	}
	want := "create customresourcedefinitions.apiextensions.k8s.io/things.example.com\nchange configmaps/a -n n\ncreate thing.example.com/b -n n\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestComputed_tells_fields_and_no_value_and_nobody_who_made_it(t *testing.T) {
	changed := foreseen("ConfigMap", "a", engine.WouldChange, engine.Computed)
	changed.Changes = []engine.Change{{Path: ".data.a", From: "one-value", To: "other-value", Managers: []string{"rival"}}}
	seen := &phases.Foresight{Forecast: &engine.Forecast{
		Waves:    []engine.ForeseenWave{{Number: 1, Component: "core", Class: "config", Objects: []*engine.Foreseen{changed}}},
		Removals: []*engine.Foreseen{changed},
	}}
	text, err := json.Marshal(Computed(t.Context(), seen, "Installed", now))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"one-value", "other-value"} {
		if strings.Contains(string(text), value) {
			t.Errorf("%s is told: %s", value, text)
		}
	}
	for _, part := range []string{`"as":null`, `"path":".data.a","managers":["rival"]`, "nothing was tried"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not told: %s", part, text)
		}
	}
}

func TestPlan_says_what_would_stop_it_why_and_what_to_do(t *testing.T) {
	stuck := func(by string) *engine.Foreseen {
		o := foreseen("CustomResourceDefinition", "things.example.com", engine.WouldCreate, engine.Tried)
		o.Stuck, o.StuckBy = "because of "+by, by
		return o
	}
	forbidden := foreseen("ConfigMap", "a", engine.WouldDeny, engine.Tried)
	forbidden.Err = &engine.ObjectError{Err: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no"))}
	for what, row := range map[string]struct {
		object *engine.Foreseen
		next   string
	}{
		"names":        {stuck(engine.StuckNames), "repair that first"},
		"requirements": {stuck(engine.StuckRequirements), "repair that first"},
		"unanswered":   {stuck(engine.StuckUnanswered), "--request-timeout"},
		"left alone":   {stuck(engine.StuckLeft), "capstan resume CustomResourceDefinition/n/things.example.com"},
		"rights":       {forbidden, "give the operator that permission"},
	} {
		p := planOf(t, false, row.object)
		if len(p.Stops) != 1 || p.Stops[0].What != what || p.Stops[0].Object.Name != row.object.Key.Name || !strings.Contains(p.Stops[0].Next, row.next) || p.Code() != 3 {
			t.Errorf("%s: the stops are %+v, and the code is %d", what, p.Stops, p.Code())
		}
	}
	for _, what := range []string{"room", "pause", "pin", "consent", "inputs", "unseen"} {
		p := Of(t.Context(), &phases.Foresight{Obstacles: []phases.Obstacle{{What: what, Why: "why", Next: "next"}}}, &Access{}, "", now)
		if len(p.Stops) != 1 || p.Stops[0] != (Stop{What: what, Why: "why", Next: "next"}) || p.Code() != 3 {
			t.Errorf("%s: the stops are %+v, and the code is %d", what, p.Stops, p.Code())
		}
	}
}

func TestPlan_says_which_rights_the_operator_lacks(t *testing.T) {
	o := foreseen("ConfigMap", "a", engine.WouldCreate, engine.Computed)
	seen := &phases.Foresight{Forecast: &engine.Forecast{Waves: []engine.ForeseenWave{{Number: 1, Objects: []*engine.Foreseen{o}}}}}
	access := &Access{account: Account{Namespace: "ops", Name: "capstan"}, asked: map[question]answer{
		{"create", "", "configmaps", "n", true}: {allowed: true}, {"patch", "", "configmaps", "n", true}: {},
	}}
	p := Of(t.Context(), seen, access, "", now)
	const why = "the operator (system:serviceaccount:ops:capstan) may not patch configmaps in namespace n"
	if len(p.Stops) != 1 || p.Stops[0].What != "rights" || p.Stops[0].Why != why || p.Code() != 3 {
		t.Errorf("the stops are %+v, and the code is %d", p.Stops, p.Code())
	}
}
