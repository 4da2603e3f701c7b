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
		if diff := cmp.Diff(template(), e.Strip(equipped, of)); diff != "" {
			t.Errorf("%s is not as it was: %s", of.Name, diff)
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
