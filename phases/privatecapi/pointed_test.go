package privatecapi

import (
	"slices"
	"testing"
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
