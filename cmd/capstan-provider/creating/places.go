package creating

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload"
)

// given is what the Secrets are called while nothing is known of the cluster; no message tells it.
const given = "given"

// defaultReplicas is how many control-plane machines there are if nobody says.
const defaultReplicas = 3

// documents are the inputs as the management plane will read them.
func documents(g Given, replicas int) payload.Documents {
	d := payload.Documents{Secret: given, Data: map[string][]byte{}, Replicas: replicas}
	if g.Config != nil {
		d.Data[payload.ConfigKey] = g.Config
	}
	if g.State != nil {
		d.Data[payload.StateKey] = g.State
	}
	for _, file := range g.Manifests {
		folder, name := path.Split(file.Path)
		folder = strings.TrimSuffix(folder, "/")
		i := slices.IndexFunc(d.Manifests, func(s payload.ManifestSecret) bool { return s.Name == folder })
		if i < 0 {
			i = len(d.Manifests)
			d.Manifests = append(d.Manifests, payload.ManifestSecret{Name: folder, Directory: folder, Data: map[string][]byte{}})
		}
		d.Manifests[i].Data[name] = file.Data
	}
	return d
}

// replicasOf is how many control-plane machines are asked for. What cannot be read is told by whoever reads all of it.
func replicasOf(g Given) int {
	var asked struct {
		ControlPlane struct {
			Replicas *int `json:"replicas"`
		} `json:"controlPlane"`
	}
	var state struct {
		Asset struct {
			Config any `json:"config"`
		} `json:"*installconfig.InstallConfig"`
	}
	text := g.Config
	if text == nil && yaml.Unmarshal(g.State, &state) == nil {
		text, _ = yaml.Marshal(state.Asset.Config)
	}
	if yaml.Unmarshal(text, &asked) != nil || asked.ControlPlane.Replicas == nil {
		return defaultReplicas
	}
	return *asked.ControlPlane.Replicas
}

// places say where people find what Secrets will hold.
type places struct {
	config string
	said   *strings.Replacer
}

func placesOf(g Given) places {
	config, state := cmp.Or(g.ConfigName, payload.ConfigKey), cmp.Or(g.StateName, payload.StateKey)
	p := places{config: config, said: strings.NewReplacer(
		"Secret "+given+", key "+payload.ConfigKey, config, "Secret "+given+", key "+payload.StateKey, state,
		"Secret "+payload.ManifestsFolder+", key ", payload.ManifestsFolder+"/", "Secret "+payload.OpenShiftFolder+", key ", payload.OpenShiftFolder+"/",
		"Secret "+given, "What is given",
	)}
	if g.Config == nil {
		p.config = state
	}
	return p
}

// of are problems at the places that people know, sorted.
func (p places) of(problems payload.InputsError) payload.InputsError {
	var said payload.InputsError
	for _, problem := range problems {
		said = append(said, payload.Problem{At: p.said.Replace(problem.At), Why: p.said.Replace(problem.Why)})
	}
	slices.SortFunc(said, func(a, b payload.Problem) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Why, b.Why)) })
	return slices.Compact(said)
}
