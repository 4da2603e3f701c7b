package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

var deploymentKey = decide.Key{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "n", Name: "d"}

func reportOf(waves ...[]*Object) *Report {
	r := &Report{Revision: "rev", Number: 1}
	for i, objects := range waves {
		r.Waves = append(r.Waves, &Wave{Number: i + 1, Name: "config", Component: "core", Objects: objects})
	}
	return r
}

func one(name string, action decide.Action, p decide.Probe) *Object {
	return &Object{Key: decide.Key{Version: "v1", Kind: "ConfigMap", Namespace: "n", Name: name}, Component: "core", Action: action, Why: "why", Probe: p}
}

var good = decide.Probe{Answer: decide.AnswerTrue}

func bad(message string) decide.Probe {
	return decide.Probe{Answer: decide.AnswerFalse, Message: message}
}

func unseen(message string) decide.Probe { return decide.Probe{Message: message} }

func left(p decide.Probe, differs string, installed bool) *Object {
	o := one("l", decide.LeftAlone, p)
	o.Left = &Left{Asked: "by anna", Differs: differs, Installed: installed}
	return o
}

func fault(name string, err error) *Object {
	o := one(name, decide.Failed, decide.Probe{})
	o.Err = &ObjectError{Key: o.Key, Component: "core", Verb: "creating", Err: err}
	return o
}

var (
	invalid   = apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil)
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("no"))
)

func TestReport_counts(t *testing.T) {
	done := one("a", decide.Idle, good)
	older := one("o", decide.Progressed, bad("down"))
	older.Older = true
	rows := []struct {
		name                       string
		report                     *Report
		complete, applied, unknown bool
		wave                       int
	}{
		{"nothing to do", reportOf(), true, true, false, 0},
		{"all done", reportOf([]*Object{done}, []*Object{one("b", decide.Created, good)}), true, true, false, 2},
		{"a probe that fails", reportOf([]*Object{done}, []*Object{one("b", decide.Idle, bad("down"))}), false, true, false, 2},
		{"a probe that does not know", reportOf([]*Object{one("b", decide.Updated, unseen("?"))}, []*Object{done}), false, true, false, 1},
		{"a collision", reportOf([]*Object{one("b", decide.Collision, good)}), false, false, false, 1},
		{"a deletion", reportOf([]*Object{one("b", decide.Terminating, good)}), false, false, false, 1},
		{"not seen", reportOf([]*Object{one("b", decide.Unknown, decide.Probe{})}), false, false, true, 1},
		{"taken over by a newer revision", reportOf([]*Object{older}), true, true, false, 1},
		{"left alone, as it should be", reportOf([]*Object{left(good, "", false)}), true, true, false, 1},
		{"left alone, as it should be, and down", reportOf([]*Object{left(bad("down"), "", false)}), false, true, false, 1},
		{"left alone, and not as it should be", reportOf([]*Object{left(good, "it differs", false)}), false, false, false, 1},
		{"left alone in what is installed, whatever it is like", reportOf([]*Object{left(bad("down"), "it differs", true)}), true, true, false, 1},
		{"desired, but somebody else is newer and down", reportOf([]*Object{one("b", decide.Progressed, bad("down"))}), false, true, false, 1},
	}
	for _, row := range rows {
		r := row.report
		if r.Complete() != row.complete || r.Applied() != row.applied || r.Unknown() != row.unknown || r.Wave() != row.wave {
			t.Errorf("%s: complete %t, applied %t, unknown %t, wave %d", row.name, r.Complete(), r.Applied(), r.Unknown(), r.Wave())
		}
		if (r.Blocked() == "") != row.complete {
			t.Errorf("%s: blocked by %q", row.name, r.Blocked())
		}
	}
}

func TestReport_Blocked_names_the_most_useful_cause_of_the_first_open_wave(t *testing.T) {
	down := one("x", decide.Idle, bad("0/1 updated replicas available"))
	down.Key = deploymentKey
	rows := []struct {
		name    string
		objects []*Object
		says    string
	}{
		{"a probe", []*Object{one("a", decide.Idle, good), down}, "wave 1/2 (config of core) waits for Deployment n/d: 0/1 updated replicas available"},
		{"the turn of others", []*Object{one("a", decide.Pending, decide.Probe{})}, "wave 1/2 (config of core) waits for ConfigMap n/a: why"},
		{"a failing probe before one that does not know", []*Object{one("a", decide.Idle, unseen("?")), down}, "Deployment n/d: 0/1 updated replicas available (and 1 more)"},
		{"an error before a probe", []*Object{down, fault("b", forbidden)}, "wave 1/2 (config of core) fails: creating ConfigMap n/b of core: "},
		{"a collision before an error", []*Object{fault("b", forbidden), one("c", decide.Collision, good)}, "ConfigMap n/c: why (and 1 more)"},
		{"a refusal before everything", []*Object{one("c", decide.Collision, good), fault("a", forbidden), fault("b", invalid), down}, "creating ConfigMap n/b of core"},
	}
	for _, row := range rows {
		got := reportOf(row.objects, []*Object{fault("z", invalid)}).Blocked()
		if !strings.Contains(got, row.says) {
			t.Errorf("%s: %q does not say %q", row.name, got, row.says)
		}
	}
}

func TestReport_Blocked_is_at_most_1_KiB(t *testing.T) {
	long := fault("a", errors.New(strings.Repeat("ü", 4000)))
	got := reportOf([]*Object{long, one("b", decide.Pending, decide.Probe{})}).Blocked()
	if len(got) > 1024 || !strings.HasSuffix(got, "… (and 1 more)") || strings.ContainsRune(got, '�') {
		t.Errorf("%d bytes: %q", len(got), got[len(got)-40:])
	}
	r := reportOf()
	r.Fault = errors.New(strings.Repeat("x", 4000))
	if got := r.Blocked(); len(got) > 1024 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestReport_Err_is_terminal_when_every_failure_is(t *testing.T) {
	rows := []struct {
		name    string
		objects []*Object
		any     bool
		final   bool
	}{
		{"no failure", []*Object{one("a", decide.Collision, good), one("b", decide.Idle, unseen("?"))}, false, false},
		{"failures that may heal", []*Object{fault("a", forbidden), fault("b", errors.New("timeout"))}, true, false},
		{"one that does not heal, one that may", []*Object{fault("b", invalid), fault("a", forbidden)}, true, false},
		{"failures that do not heal", []*Object{fault("a", invalid), fault("b", invalid)}, true, true},
	}
	for _, row := range rows {
		err := reportOf(row.objects).Err()
		var final interface{ Terminal() bool }
		if (err != nil) != row.any || err != nil && (!errors.As(fmt.Errorf("applying: %w", err), &final) || final.Terminal() != row.final) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestRefused(t *testing.T) {
	resource := schema.GroupResource{Resource: "things"}
	rows := []struct {
		err     error
		refused bool
	}{
		{invalid, true},
		{apierrors.NewBadRequest("strict decoding error"), true},
		{apierrors.NewRequestEntityTooLargeError("big"), true},
		{apierrors.NewMethodNotSupported(resource, "create"), true},
		{&decide.ScopeError{}, true},
		{&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "failed to create typed patch object (/; v1, Kind=X): .spec.y: field not declared in schema"}}, true},
		{fmt.Errorf("wrapped: %w", invalid), true},
		{forbidden, false},
		{apierrors.NewNotFound(resource, "ns"), false},
		{apierrors.NewConflict(resource, "x", nil), false},
		{apierrors.NewTooManyRequests("later", 3), false},
		{apierrors.NewInternalError(errors.New("failed calling webhook: connection refused")), false},
		{&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `admission webhook "w" denied the request: not now`}}, false},
		{&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not now`}}, false},
		{&NoKindError{Kind: "X"}, false},
		{errors.New("dial tcp: refused"), false},
	}
	for _, row := range rows {
		if got := IsTerminal(row.err); got != row.refused {
			t.Errorf("%v: refused %t", row.err, got)
		}
	}
}

func TestReport_String_shows_what_is_not_right(t *testing.T) {
	got := reportOf([]*Object{one("a", decide.Idle, good), one("b", decide.Collision, good)}, []*Object{one("c", decide.Recovered, good)}).String()
	for _, says := range []string{"revision rev: 2/3 objects, wave 1/2", "wave 1: config of core", "Collision   waits for ConfigMap n/b: why", "Recovered   ConfigMap n/c: why"} {
		if !strings.Contains(got, says) {
			t.Errorf("%q is not in\n%s", says, got)
		}
	}
}
