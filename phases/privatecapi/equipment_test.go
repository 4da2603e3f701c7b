package privatecapi

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func template() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "cluster-api"}},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "manager", "args": []any{"--leader-elect"}, "env": []any{map[string]any{"name": "A", "value": "b"}}}},
		},
	}
}

// hosting is a template whose containers have a kubeconfig of their own, which leads to the hosted cluster.
func hosting() map[string]any {
	own := func(name string) map[string]any {
		return map[string]any{"name": name, "env": []any{
			map[string]any{"name": "KUBECONFIG", "value": "/hosted/" + name},
			map[string]any{"name": "PRIVATE_CAPI_TYPES", "value": "false"},
			map[string]any{"name": "SHOWN", "value": "$(KUBECONFIG)"},
		}}
	}
	return map[string]any{"spec": map[string]any{
		"initContainers": []any{own("waits"), map[string]any{"name": "bare"}}, "containers": []any{own("manager"), own("tunnel"), map[string]any{"name": "last"}},
	}}
}

// former is a template with the proxy as it was once made: it asks for no token, and its kubeconfig is text of the Pod.
func former() map[string]any {
	template := template()
	template["metadata"].(map[string]any)["annotations"] = map[string]any{"capstan.openshift.io/proxy-kubeconfig": "{}"}
	spec := template["spec"].(map[string]any)
	spec["initContainers"] = []any{map[string]any{"name": "kube-apiserver-proxy", "args": []any{"capi-proxy", "--address=127.0.0.1:8080"}}}
	spec["volumes"] = []any{map[string]any{"name": "kube-apiserver-proxy", "downwardAPI": map[string]any{}}}
	container := spec["containers"].([]any)[0].(map[string]any)
	container["env"] = append(container["env"].([]any), map[string]any{"name": "KUBECONFIG", "value": KubeconfigPath})
	container["volumeMounts"] = []any{map[string]any{"name": "kube-apiserver-proxy", "mountPath": "/var/run/kube-apiserver-proxy", "readOnly": true}}
	return template
}

func TestEquipment_the_proxy_is_the_one_that_is_deployed(t *testing.T) {
	text, err := os.ReadFile("../../deploy/privatecapi/sidecar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var patch struct {
		Spec struct {
			Template struct {
				Spec struct {
					InitContainers []map[string]any `json:"initContainers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &patch); err != nil {
		t.Fatal(err)
	}
	ours := normal(Equipment{Image: "capstan:latest"}.container())
	if diff := cmp.Diff(normal(any(patch.Spec.Template.Spec.InitContainers[0])), ours); diff != "" {
		t.Error(diff)
	}
}

func TestEquipment_all_that_a_pod_gets_beside_the_proxy_is_in_the_patch(t *testing.T) {
	text, err := os.ReadFile("../../deploy/privatecapi/sidecar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var patch struct {
		Spec struct {
			Template map[string]any `json:"template"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &patch); err != nil {
		t.Fatal(err)
	}
	bare := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "manager"}}}}
	want := Equipment{}.Equip(bare, Component{})
	for _, template := range []map[string]any{want, patch.Spec.Template} {
		delete(template["spec"].(map[string]any), "initContainers") // compared by itself
	}
	if diff := cmp.Diff(want, patch.Spec.Template); diff != "" {
		t.Error(diff)
	}
}

func TestEquipment_Strip_takes_away_what_Equip_has_put_there_and_nothing_else(t *testing.T) {
	for _, of := range append(Components, Component{Name: "flagged", Flags: []string{"--kubeconfig"}}) {
		e := Equipment{Image: "capstan:1"}
		equipped := e.Equip(template(), of)
		if !IsEquipped(equipped) || IsEquipped(template()) {
			t.Errorf("%s is not equipped", of.Name)
		}
		if diff := cmp.Diff(equipped, e.Equip(equipped, of)); diff != "" {
			t.Errorf("%s is equipped twice: %s", of.Name, diff)
		}
		if diff := cmp.Diff(template(), e.Strip(equipped)); diff != "" {
			t.Errorf("%s is not as it was: %s", of.Name, diff)
		}
		if diff := cmp.Diff(hosting(), e.Strip(e.Equip(hosting(), of))); diff != "" {
			t.Errorf("%s has not what was its own: %s", of.Name, diff)
		}
	}
}

func TestEquipment_points_each_container_to_the_proxy_but_one_that_begins_with_a_kubeconfig_of_its_own(t *testing.T) {
	equipped := Equipment{Image: "capstan:1"}.Equip(hosting(), Component{Scales: true})
	spec, was := equipped["spec"].(map[string]any), hosting()["spec"].(map[string]any)
	inits := containersOf(spec, "initContainers")
	if diff := cmp.Diff(containersOf(was, "initContainers")[0], inits[1]); diff != "" {
		t.Errorf("who waits for the hosted cluster would wait for ever: %s", diff)
	}
	for _, c := range append(inits[2:], containersOf(spec, "containers")...) {
		if !isPointed(c) {
			t.Errorf("%v is not pointed to the proxy: %v", c["name"], c)
		}
	}
	if !IsEquipped(equipped) {
		t.Error("it is not equipped")
	}
}

func TestEquipment_makes_a_former_proxy_anew_and_takes_it_away_whole(t *testing.T) {
	e := Equipment{Image: "capstan:1"}
	if diff := cmp.Diff(e.Equip(template(), Component{}), e.Equip(former(), Component{})); diff != "" {
		t.Errorf("equipped it is otherwise than one that had none: %s", diff)
	}
	if diff := cmp.Diff(template(), e.fitted(former(), Component{}, Standard)); diff != "" {
		t.Errorf("stripped it is not as it was: %s", diff)
	}
}

func TestEquipment_is_not_there_where_anything_is_missing_that_a_component_needs_to_see_private_types(t *testing.T) {
	spec := func(template map[string]any) map[string]any { return template["spec"].(map[string]any) }
	first := func(template map[string]any, list string) map[string]any {
		return spec(template)[list].([]any)[0].(map[string]any)
	}
	for name, spoil := range map[string]func(map[string]any){
		"the proxy":                   func(t map[string]any) { delete(spec(t), "initContainers") },
		"the token":                   func(t map[string]any) { first(t, "initContainers")["args"] = []any{"capi-proxy"} },
		"the folder of the proxy":     func(t map[string]any) { delete(first(t, "initContainers"), "volumeMounts") },
		"the folder of a container":   func(t map[string]any) { delete(first(t, "containers"), "volumeMounts") },
		"the variable of a container": func(t map[string]any) { delete(first(t, "containers"), "env") },
		"the volume":                  func(t map[string]any) { delete(spec(t), "volumes") },
		"a volume that is the Pod's own": func(t map[string]any) {
			spec(t)["volumes"] = []any{map[string]any{"name": "kube-apiserver-proxy", "hostPath": map[string]any{"path": "/"}}}
		},
		"a variable that counts": func(t map[string]any) {
			c := first(t, "containers")
			c["env"] = append(c["env"].([]any), map[string]any{"name": "KUBECONFIG", "value": "/other"})
		},
	} {
		e := Equipment{Image: "capstan:1"}
		template := e.Equip(template(), Component{})
		if spoil(template); IsEquipped(template) {
			t.Errorf("it is equipped without %s", name)
		}
		again := e.Equip(template, Component{})
		if !IsEquipped(again) || len(containersOf(spec(again), "initContainers")) != 1 || len(spec(again)["volumes"].([]any)) != 1 {
			t.Errorf("without %s it is not made whole again: %v", name, again)
		}
	}
}

func TestEquipment_fits_a_template_to_a_side_and_leaves_one_alone_that_fits(t *testing.T) {
	e := Equipment{Image: "capstan:1"}
	own := template() // with a kubeconfig of its own, which is no proxy's
	own["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"] = []any{map[string]any{"name": "KUBECONFIG", "value": "/hosted"}}
	host := template()
	host["spec"].(map[string]any)["hostNetwork"] = true
	equipped := e.Equip(template(), Component{})
	for name, row := range map[string]struct {
		is   map[string]any
		side Side
		want map[string]any
	}{
		"standard, and without":            {template(), Standard, template()},
		"standard, and with":               {equipped, Standard, template()},
		"standard, with something else":    {own, Standard, own},
		"private, and without":             {template(), Private, equipped},
		"private, and with":                {equipped, Private, equipped},
		"private, in the network of hosts": {host, Private, host},
	} {
		if diff := cmp.Diff(row.want, e.fitted(row.is, Component{}, row.side)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
