package privatecapi

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// led is a Pod template with the proxy whose containers are these.
func led(containers ...any) map[string]any {
	template := Equipment{Image: "capstan:1"}.Equip(template(), Component{})
	template["spec"].(map[string]any)["containers"] = containers
	return template
}

func mounted(container map[string]any) map[string]any {
	container["volumeMounts"] = []any{map[string]any{"name": "kube-apiserver-proxy", "mountPath": "/var/run/kube-apiserver-proxy", "readOnly": true}}
	return container
}

func TestEquipment_takes_a_flag_as_well_as_a_variable_and_leaves_out_who_has_neither(t *testing.T) {
	flagged := func() map[string]any {
		return map[string]any{"name": "manager", "args": []any{"--leader-elect", "--kubeconfig=" + KubeconfigPath}}
	}
	twoWords := map[string]any{"name": "manager", "command": []any{"/manager", "--kubeconfig", KubeconfigPath, "--leader-elect"}}
	bare := func() map[string]any { return map[string]any{"name": "prober", "args": []any{"--kubeconfig=/hosted"}} }
	for name, row := range map[string]struct {
		containers []any
		want       bool
	}{
		"a flag":                              {[]any{mounted(flagged())}, true},
		"a flag of two words":                 {[]any{mounted(twoWords)}, true},
		"a flag, and another container":       {[]any{bare(), mounted(flagged())}, true},
		"a flag, and another that mounts":     {[]any{mounted(flagged()), mounted(bare())}, false},
		"a flag, and another that lacks it":   {[]any{mounted(flagged()), flagged()}, false},
		"a flag, and no folder":               {[]any{flagged()}, false},
		"nobody who looks for what it writes": {[]any{bare()}, false},
	} {
		if template := led(row.containers...); IsEquipped(template) != row.want {
			t.Errorf("%s: equipped is %t", name, !row.want)
		}
	}
}

func TestEquipment_Strip_leaves_no_flag_that_names_a_file_which_is_gone(t *testing.T) {
	template := led(
		mounted(map[string]any{"name": "manager", "args": []any{"--leader-elect", "--kubeconfig=" + KubeconfigPath}}),
		mounted(map[string]any{"name": "second", "command": []any{"/second", "--kubeconfig", KubeconfigPath, "-v=2"}}),
	)
	spec, _ := Equipment{}.Strip(template)["spec"].(map[string]any)
	containers := containersOf(spec, "containers")
	args, _ := containers[0]["args"].([]any)
	command, _ := containers[1]["command"].([]any)
	if !slices.Equal(args, []any{"--leader-elect"}) || !slices.Equal(command, []any{"/second", "-v=2"}) {
		t.Errorf("left are %v and %v", args, command)
	}
	if hasProxy(map[string]any{"spec": spec}) {
		t.Error("it still has the proxy")
	}
}

func environment(variables ...string) []any {
	var env []any
	for i := 0; i < len(variables); i += 2 {
		env = append(env, map[string]any{"name": variables[i], "value": variables[i+1]})
	}
	return env
}

func TestEquipment_keeps_each_variable_where_others_refer_to_it_and_gives_it_back_by_its_name(t *testing.T) {
	const kept = "KUBECONFIG_WITHOUT_PROXY"
	for name, row := range map[string]struct{ own, equipped []any }{
		"none": {environment("A", "b"), environment("A", "b", "KUBECONFIG", KubeconfigPath)},
		"one that another refers to": {
			environment("KUBECONFIG", "/own", "SHOWN", "$(KUBECONFIG)"),
			environment(kept, "/own", "KUBECONFIG", KubeconfigPath, "SHOWN", "$(KUBECONFIG)"),
		},
		"one, and one of the name that it gets": {
			environment("KUBECONFIG", "/own", kept, "other"),
			environment(kept, "/own", "KUBECONFIG", KubeconfigPath, kept+"_WITHOUT_PROXY", "other"),
		},
		"only one of the name that it would get": {
			environment(kept, "other"), environment(kept+"_WITHOUT_PROXY", "other", "KUBECONFIG", KubeconfigPath),
		},
	} {
		container := map[string]any{"env": row.own}
		point(container)
		if diff := cmp.Diff(row.equipped, container["env"]); diff != "" {
			t.Errorf("%s, equipped: %s", name, diff)
		}
		if diff := cmp.Diff(row.own, givenBack(row.equipped)); diff != "" {
			t.Errorf("%s, given back: %s", name, diff)
		}
	}
	if own := environment("KUBECONFIG", "/own", kept, "other"); !cmp.Equal(own, givenBack(own)) {
		t.Errorf("what was never taken is given back as %v", givenBack(own))
	}
}

func TestEquipment_leaves_nothing_of_a_former_proxy_where_that_is_all_that_is_left_of_it(t *testing.T) {
	e, left := Equipment{Image: "capstan:1"}, template()
	left["metadata"].(map[string]any)["annotations"] = map[string]any{formerKubeconfig: "{}"}
	for side, want := range map[Side]map[string]any{Private: e.Equip(template(), Component{}), Standard: template()} {
		if diff := cmp.Diff(want, e.fitted(left, Component{}, side)); diff != "" {
			t.Errorf("%s: %s", side, diff)
		}
	}
}

func TestEquipment_is_whole_for_what_equips_others_once_that_is_told_to(t *testing.T) {
	e, of := Equipment{Image: "capstan:1"}, Component{Scales: true}
	byPatch := e.Equip(template(), Component{}) // as sidecar.yaml alone makes it
	equipped := e.Equip(byPatch, of)
	if !of.isTold(equipped) || of.isTold(byPatch) || !IsEquipped(equipped) {
		t.Errorf("it is not told: %v", equipped)
	}
	if diff := cmp.Diff(e.Equip(template(), of), equipped); diff != "" {
		t.Error(diff)
	}
	w := workload{of: of, object: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": byPatch}}}}
	if !w.lacks(Private) {
		t.Error("a move leaves it as it is")
	}
}
