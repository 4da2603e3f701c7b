package payload

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestClusterID_is_that_of_the_ClusterVersion_that_a_bootstrap_applies(t *testing.T) {
	config := func(path, text string) []byte {
		return []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"` + path + `","contents":{"source":"data:;base64,` +
			base64.StdEncoding.EncodeToString([]byte(text)) + `"}}]}}`)
	}
	const manifest = "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nspec: {channel: stable, clusterID: 11111111-2222-4333-8444-555555555555}\n"
	for name, of := range map[string]struct {
		config []byte
		want   string
	}{
		"there":           {config(clusterVersionPath, manifest), "11111111-2222-4333-8444-555555555555"},
		"elsewhere":       {config("/etc/version.yaml", manifest), ""},
		"no ID":           {config(clusterVersionPath, "spec: {}"), ""},
		"no object":       {config(clusterVersionPath, "- a"), ""},
		"no YAML":         {config(clusterVersionPath, "spec: {clusterID: ["), ""},
		"too long":        {config(clusterVersionPath, "spec: {clusterID: "+strings.Repeat("a", 65)+"}"), ""},
		"no config":       {[]byte("{"), ""},
		"nothing at all":  {nil, ""},
		"some other type": {config(clusterVersionPath, "spec: {clusterID: {}}"), ""},
	} {
		if got := ClusterID(of.config); got != of.want {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}
