package rewrite_test

import (
	"flag"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/capstan-capi/capstan/phases/rewrite/flood"
)

// inputs is how many inputs of each content type are made.
var inputs = flag.Int("inputs", 2000, "how `many` inputs of each content type TestEveryInput makes")

// words are what decides, and what stands around it.
var words = eachAsBytes([]string{
	"cluster.x-k8s.io", "cluster.x-k8s.io/v1beta1", "cluster.hypershift.openshift.io", "cluster.hypershift.openshift.io/v1beta1", "platform-native.cluster.x-k8s.io/v1",
	"infrastructure.", "machines.", "infrastructure.cluster.hypershift.openshift.io", "apiextensions.k8s.io", "customresourcedefinitions", `"apiVersion"`, `"apiGroup"`,
	`"apiGroups"`, `"metadata"`, `"name"`, `"labels"`, `"annotations"`, `"fieldsV1"`, `"ownerReferences"`, `"managedFields"`, `"items"`, `"object"`, `"rows"`, `"spec"`,
	`"status"`, `"group"`, `"kind":"Status"`, `"message"`, `"path"`, `"value"`, `"from"`, `"op"`, `"move"`, `\u002e`, `\/`, `\"`, `~1`, `{`, `}`, `[`, `]`, `:`, `,`, `"`,
	"\n", "\t", " ", "0", "-1", "1e400", "/", "?", "%2f", "/..", "//", "&", "fieldSelector=", "ü", "\x00", "\xff",
})

func eachAsBytes(all []string) [][]byte {
	made := make([][]byte, 0, len(all))
	for _, text := range all {
		made = append(made, []byte(text))
	}
	return made
}

func TestEveryInput(t *testing.T) {
	klog.SetLogger(logr.Discard()) // the oracle of paths logs each that it does not understand: of ten million, gigabytes of lines
	t.Parallel()
	for _, kind := range []struct {
		name  string
		seeds []string
		check func(t *testing.T, which uint8, input []byte)
	}{
		{"in JSON comes back as it was", seeds, func(t *testing.T, which uint8, input []byte) {
			class, shape := classAt(which)
			checkLaw(t, class, shape, input)
		}},
		{"as a JSON patch comes back as it was", patchSeeds, func(t *testing.T, which uint8, input []byte) {
			class, _ := classAt(which)
			checkPatch(t, class, input)
		}},
		{"in YAML is what the oracle says", append(yamlSeeds, seeds...), func(t *testing.T, which uint8, input []byte) {
			checkYAML(t, []string{"application/yaml", "application/apply-patch+yaml"}[which%2], input)
		}},
		{"as a document of discovery or OpenAPI stays one", documentSeeds, checkDocument},
		{"as a message is what the oracle says", messageSeeds, func(t *testing.T, _ uint8, input []byte) { checkMessage(t, string(input)) }},
		{"as a path means what was understood", pathSeeds, func(t *testing.T, _ uint8, input []byte) { checkPath(t, http.MethodGet, string(input)) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			flood.Run(t, flood.Source{Seeds: eachAsBytes(kind.seeds), Words: words}, *inputs, kind.check)
		})
	}
}
