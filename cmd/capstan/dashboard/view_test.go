package dashboard

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/controllers"
)

func TestDiagrams_draw_every_move_of_every_table_once(t *testing.T) {
	drawn := diagramsOf(controllers.Views())
	for i, of := range controllers.Views() {
		d := drawn.Machines[i]
		if d.Machine != of.Table.Name || d.Family != (of.Instances != nil) || d.Family != (d.Word != "") {
			t.Errorf("%s is drawn as %s, a family: %v", of.Table.Name, d.Machine, d.Family)
		}
		states, moves := map[string]bool{}, map[string]bool{}
		for _, s := range d.States {
			if states[string(s.Name)] || s.Doc == "" {
				t.Errorf("state %s of %s is there twice, or has no words", s.Name, d.Machine)
			}
			states[string(s.Name)] = true
		}
		for _, m := range d.Moves {
			edge := string(m.From) + " " + string(m.Event)
			if moves[edge] || !states[string(m.From)] || !states[string(m.To)] || m.Meaning == "" || m.When == "" || m.Questions == nil {
				t.Errorf("move %s of %s is there twice, or leads nowhere, or has no words", edge, d.Machine)
			}
			if late := m.Kind == "deadline" || m.Kind == "failure"; m.Kind == "" || late && m.After == "" {
				t.Errorf("move %s of %s is %q after %q", edge, d.Machine, m.Kind, m.After)
			}
			moves[edge] = true
		}
		ways := 0
		for _, s := range of.Table.States {
			ways += len(s.Ways)
		}
		if !states[string(d.Start)] || len(d.States) != len(of.Table.States) || len(d.Moves) != ways {
			t.Errorf("%s has %d states and %d moves, and %d and %d are drawn", d.Machine, len(of.Table.States), ways, len(d.States), len(d.Moves))
		}
	}
}

func TestView_tells_what_needs_a_look_and_which_command_to_copy(t *testing.T) {
	f := installed(t)
	record := stands("Degraded", "applying fails")
	record["failure"] = map[string]any{"message": "<img src=x onerror=alert(1)> \x1b[2J\u202e", "since": "2026-01-31T12:00:00Z"}
	record["deadline"] = map[string]any{"at": "2026-01-31T12:15:00Z", "on": "x", "to": "y"}
	record["transitions"] = []any{map[string]any{"from": "Applying", "event": "ApplyFailed", "to": "Degraded", "at": "2026-01-31T12:00:00Z", "seconds": 3, "cause": "<b>"}}
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": record, "clusterapiDetail": map[string]any{
		"waits": "<script>alert(1)</script>", "uninstallConsent": "4.22.5-ab-7",
		"collisions": []any{
			map[string]any{"object": "Deployment a/b", "group": "apps", "holder": "Helm; rm -rf /", "adoptable": true},
			map[string]any{"object": "ConfigMap a/c", "wayOut": "delete it"},
		},
		"refused": []any{map[string]any{"object": "CustomResourceDefinition x", "why": "data"}}, "contested": []any{map[string]any{"object": "Service a/b", "field": "spec"}},
		"differs": []any{"Namespace x"}, "differsCount": 9, "leftAlone": []any{map[string]any{"object": "Namespace it's", "differs": "spec"}, map[string]any{"object": "Namespace fine"}},
		"findings": []any{"an unknown field"}, "retained": []any{
			map[string]any{"object": "CustomResourceDefinition y", "why": "3 objects"},
			map[string]any{"object": "CustomResourceDefinition z", "void": "the consent by anna names another digest"},
		},
		"strays": []any{"Service a/z"}, "straysElsewhere": []any{map[string]any{"kind": "Role", "count": 2}}, "strayCount": 7,
		"images": []any{map[string]any{"reference": "r", "state": "Failed", "message": "no route"}, map[string]any{"reference": "q", "state": "Ready"}},
		"acts": []any{
			map[string]any{"name": "pause", "by": "anna", "at": "2026-01-31T12:00:00Z", "until": "2026-01-31T13:00:00Z", "reason": "<i>"},
			map[string]any{"name": "leave-alone", "by": "anna", "void": "it ended", "ended": true},
			map[string]any{"name": "pin", "by": "bert", "revision": 3, "waits": "images"},
			map[string]any{"name": "consent-to-delete"},
			map[string]any{"name": "unheard-of"},
		},
	}}))
	p := openOne(t, f)
	v := p.stream("/api/watch").until("a view", state("Degraded")).View

	m := v.Machines[0]
	if m.Attention != AttentionLook || m.Waits != "<script>alert(1)</script>" || m.Failure.Message != "<img src=x onerror=alert(1)> \ufffd[2J\ufffd" ||
		len(m.History) != 1 || m.History[0].Cause != "<b>" || m.Deadline == nil || len(m.Moves) == 0 || m.Meaning == "" {
		t.Errorf("the machine is %+v", m)
	}
	var troubles []string
	for _, l := range v.Look {
		troubles = append(troubles, l.Trouble)
	}
	if got := strings.Join(troubles, " "); got != "machine consent collision collision refused contested image differs differs leftalone finding retained retained stray stray stray" {
		t.Errorf("what needs a look is %s", got)
	}
	flags := " --kubeconfig " + p.clusters[0].shell.kubeconfig + " --context one"
	for at, want := range map[int]string{
		1: "capstan consent --uninstall --dry-run --reason why" + flags,
		2: "capstan adopt --dry-run --reason why Deployment.apps/a/b" + flags, 3: "",
	} {
		if got := v.Look[at].Command; got != want {
			t.Errorf("to be copied is %q, want %q", got, want)
		}
	}
	for at, want := range map[int]string{11: "3 objects", 12: "it is kept for the data in it; the consent by anna names another digest"} {
		if l := v.Look[at]; l.Why != want || l.Next == "" || l.Command != "capstan consent"+flags {
			t.Errorf("of what is kept is told %+v", l)
		}
	}
	for at, want := range []string{
		"capstan resume" + flags, `capstan resume 'Namespace/it'\''s' Namespace/fine` + flags, "capstan unpin" + flags,
		"kubectl annotate clusterapi cluster capi-operator.openshift.io/consent-to-delete-" + flags, "",
	} {
		if got := v.Acts[at].Undo; got != want {
			t.Errorf("%s is undone by %q, want %q", v.Acts[at].Act, got, want)
		}
	}
	if a := v.Acts; !a[0].Standing || a[1].Standing || !a[1].Ended || a[1].Why != "it ended" || a[2].Standing || a[2].Why != "images" || a[2].Revision != 3 {
		t.Errorf("acts are %+v", a)
	}
	if last := v.Commands[len(v.Commands)-1].Command; last != "capstan retry"+flags {
		t.Errorf("the last command is %q", last)
	}
	for _, c := range v.Commands {
		if !strings.HasSuffix(c.Command, flags) || c.What == "" {
			t.Errorf("the command %+v does not name the cluster", c)
		}
	}
}

func TestView_tells_of_so_much_that_needs_a_look_and_counts_the_rest(t *testing.T) {
	f := installed(t)
	var all []any
	for range maxLook + 5 {
		all = append(all, "Namespace x")
	}
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Installed", ""), "clusterapiDetail": map[string]any{"findings": all}}))
	v := openOne(t, f).stream("/api/watch").until("a view", state("Installed")).View
	if len(v.Look) != maxLook || v.MoreLook != 5 {
		t.Errorf("%d are told, and %d more", len(v.Look), v.MoreLook)
	}
}
