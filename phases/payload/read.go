package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	// ConfigKey is the key of the install-config in the Secret that spec.installStateSecretRef names.
	ConfigKey = "install-config.yaml"
	// StateKey is that of the installer's state.
	StateKey = ".openshift_install_state.json"
)

// Documents are the inputs as they lie in Secrets. Their order has no meaning.
type Documents struct {
	// Secret is the name of the Secret that spec.installStateSecretRef names, and Data what it holds.
	Secret string
	Data   map[string][]byte
	// Manifests are the Secrets that spec.manifestsSelector chooses.
	Manifests []ManifestSecret
	// Replicas is spec.replicas; zero where the inputs need not agree with it.
	Replicas int
}

// ManifestSecret is a Secret with manifests, a file for each key.
type ManifestSecret struct {
	Name string
	// Directory is its annotation DirectoryAnnotation.
	Directory string
	Data      map[string][]byte
}

// Inputs are what a payload is made of. They are read, complete and without contradiction.
type Inputs struct {
	Config Config
	// Raw is all of the install-config, also what Config does not name.
	Raw map[string]any
	// ClusterID and InfraID are those of the installer's state, and empty if there is none.
	ClusterID, InfraID string
	// State is the installer's state as it was given, for the installer; nil if there is none.
	State []byte
	// Manifests are merged, sorted by their places.
	Manifests []Placed
}

// Read returns the inputs, or an InputsError with all that is wrong with them.
func Read(d Documents) (*Inputs, error) {
	var problems InputsError
	in := &Inputs{}
	config, hasConfig := d.Data[ConfigKey]
	state, hasState := d.Data[StateKey]
	if !hasConfig && !hasState {
		problems.add("Secret "+d.Secret, "it has neither the key %s nor %s; give it one of them, or both", ConfigKey, StateKey)
	}
	at := secretKey(d.Secret, ConfigKey)
	if hasConfig {
		in.Raw = tree(at, config, &problems)
	}
	if hasState {
		ofState := in.readState(secretKey(d.Secret, StateKey), state, &problems)
		switch {
		case !hasConfig:
			at, in.Raw = secretKey(d.Secret, StateKey), ofState
		case in.Raw != nil && ofState != nil:
			compare(at, secretKey(d.Secret, StateKey), in.Raw, ofState, &problems)
			in.Raw = ofState
		}
	}
	if in.Raw != nil && in.typed(at, &problems) {
		in.Config.settle()
		validate(at, &in.Config, d.Replicas, &problems)
	}
	in.Manifests = readManifests(d.Manifests, &problems)
	if err := problems.err(); err != nil {
		return nil, err
	}
	return in, nil
}

var lineOf = regexp.MustCompile(`line (\d+)`)

// tree reads YAML or JSON as an object. It does not say what the libraries say, since that quotes what they read.
func tree(at string, data []byte, problems *InputsError) map[string]any {
	if isSeveral(data) {
		problems.add(at, "it has several documents, of which one would be read; leave one")
		return nil
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		where := ""
		if line := lineOf.FindStringSubmatch(err.Error()); line != nil {
			where = " at line " + line[1]
		}
		problems.add(at, "it is no YAML that can be read%s, or has a field twice; mend it", where)
		return nil
	}
	return fields(at, text, problems)
}

// isSeveral says that a text has more documents than the first one, which alone would be read. A line that begins so is never
// part of a value.
func isSeveral(data []byte) bool {
	var begun bool
	for line := range bytes.Lines(data) {
		rest, marks := bytes.CutPrefix(line, []byte("---"))
		marks = marks && (len(rest) == 0 || bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])))
		if marks && begun {
			return true
		}
		line = bytes.TrimSpace(line)
		begun = begun || !marks && len(line) > 0 && line[0] != '#' && line[0] != '%'
	}
	return false
}

// fields reads JSON as an object. Whole numbers stay whole.
func fields(at string, text []byte, problems *InputsError) map[string]any {
	var read map[string]any
	if err := utiljson.Unmarshal(text, &read); err != nil || read == nil {
		problems.add(at, "it is not an object with fields; check what was put there")
		return nil
	}
	return read
}

// typed reads the fields that matter here.
func (in *Inputs) typed(at string, problems *InputsError) bool {
	text, err := json.Marshal(in.Raw)
	if err == nil {
		err = json.Unmarshal(text, &in.Config)
	}
	if err == nil {
		return true
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		problems.add(at+", field "+wrong.Field, "it should be %s; write it as the installer documents it", inWords(wrong.Type.Kind()))
	} else {
		problems.add(at, "it is no install-config; write it as the installer documents it")
	}
	return false
}

// stateAssets are the assets of the installer's state that are read.
type stateAssets struct {
	InstallConfig struct {
		Config json.RawMessage `json:"config"`
	} `json:"*installconfig.InstallConfig"`
	ClusterID struct {
		UUID    string `json:"UUID"`
		InfraID string `json:"InfraID"`
	} `json:"*installconfig.ClusterID"`
}

// readState returns the install-config of the installer's state.
func (in *Inputs) readState(at string, data []byte, problems *InputsError) map[string]any {
	var assets stateAssets
	if err := json.Unmarshal(data, &assets); err != nil {
		problems.add(at, "it is not the installer's state: no JSON with its assets; put the file there as the installer has written it")
		return nil
	}
	if len(assets.InstallConfig.Config) == 0 {
		problems.add(at, "it has no asset *installconfig.InstallConfig with a config; have the installer write it with \"create install-config\"")
		return nil
	}
	in.ClusterID, in.InfraID, in.State = assets.ClusterID.UUID, assets.ClusterID.InfraID, data
	return fields(at+", asset *installconfig.InstallConfig", assets.InstallConfig.Config, problems)
}

// inWords is what a value of a type is called in YAML.
func inWords(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object with fields"
}
