package rewrite_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

var documentSeeds = []string{
	`{"groups":[{"name":"cluster.x-k8s.io"},{"name":"apps"},{"name":"cluster.hypershift.openshift.io","versions":[{"groupVersion":"cluster.hypershift.openshift.io/v1"}]}]}`,
	`{"items":[{"metadata":{"name":"ipam.cluster.x-k8s.io"}},{"metadata":{"name":"ipam.cluster.hypershift.openshift.io"},"versions":[{"resources":[{"responseKind":{"group":"ipam.cluster.hypershift.openshift.io"}}]}]}]}`,
	`{"paths":{"apis/cluster.x-k8s.io":{},"apis/cluster.hypershift.openshift.io/v1":{"serverRelativeURL":"/openapi/v3/apis/cluster.hypershift.openshift.io/v1?hash=A"}}}`,
	`{"definitions":{"io.x-k8s.cluster.v1.M":{},"io.openshift.hypershift.cluster.v1.M":{"$ref":"#/definitions/io.openshift.hypershift.cluster.v1.N","x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io"},{"group":"cluster.hypershift.openshift.io"}]}}}`,
	`{"definitions":{"a":{},"io.x-k8s.cluster.v1.M":{"a":1,"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io"},{"group":"apps"},{"group":"cluster.x-k8s.io"}],"b":1},"c":{}}}`,
	`{"groups":[ ]}`, `{"groups":[{}, 1 ,{"name":"cluster.x-k8s.io"} , {"name":"cluster.x-k8s.io"}]}`, `{"groups":[,]}`, `{"paths":{,}}`, `[`,
}

func document(t *testing.T, which uint8, source io.Reader) ([]byte, error) {
	t.Helper()
	request, err := parse(t, http.MethodGet, []string{"/apis", "/openapi/v2"}[which%2])
	if err != nil {
		t.Fatal(err)
	}
	return io.ReadAll(request.Answer(http.StatusOK, "application/json", source))
}

func FuzzDocuments(f *testing.F) {
	for _, text := range documentSeeds {
		f.Add(uint8(0), []byte(text))
		f.Add(uint8(1), []byte(text))
	}
	f.Fuzz(checkDocument)
}

func checkDocument(t *testing.T, which uint8, text []byte) {
	t.Helper()
	out, err := document(t, which, bytes.NewReader(text))
	pieces, pieceErr := document(t, which, iotest.OneByteReader(bytes.NewReader(text)))
	if (err == nil) != (pieceErr == nil) || err == nil && !bytes.Equal(out, pieces) {
		t.Fatalf("%q: whole %q (%v), in pieces %q (%v)", text, out, err, pieces, pieceErr)
	}
	if valid := json.Valid(text) && depth(text) <= 10_000; (err == nil) != valid || valid && !json.Valid(out) {
		t.Fatalf("%q becomes %q, %v", text, out, err)
	}
}

var (
	discoveryPlaces = regexp.MustCompile(`^(\.groups#)?(\.name|\.(versions#|preferredVersion)\.groupVersion)$|^\.groupVersion$|^\.resources#\.group$` +
		`|^\.items#\.metadata\.name$|^\.items#\.versions#\.resources#(\.subresources#)?\.responseKind\.group$`)
	platformGroup = regexp.MustCompile(`^((infrastructure|controlplane|bootstrap|addons|ipam|runtime)\.)?(platform-native\.)?cluster\.x-k8s\.io$`)
)

// discovered is the oracle of discovery.
func discovered(path string, value any) any {
	switch value := value.(type) {
	case string:
		if discoveryPlaces.MatchString(path) {
			return oracleGroups(rewrite.ToClient, value)
		}
	case []any:
		kept := []any{}
		for _, item := range value {
			members, _ := item.(map[string]any)
			name := members["name"]
			if path == ".items" {
				metadata, _ := members["metadata"].(map[string]any)
				name = metadata["name"]
			}
			if text, is := name.(string); is && (path == ".groups" || path == ".items") && platformGroup.MatchString(text) {
				continue
			}
			kept = append(kept, discovered(path+"#", item))
		}
		return kept
	case map[string]any:
		members := make(map[string]any, len(value))
		for key, item := range value {
			members[key] = discovered(path+"."+key, item)
		}
		return members
	}
	return value
}

func TestDiscoveryIsWhatTheOracleSays(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{
		"cluster.x-k8s.io", "ipam.cluster.x-k8s.io", "apps", "cluster.hypershift.openshift.io", "ipam.cluster.hypershift.openshift.io", "platform-native.cluster.x-k8s.io",
		"operator.cluster.x-k8s.io", "cluster.hypershift.openshift.io/v1", "apps/v1",
	})
	keys := rapid.SampledFrom([]string{"name", "group", "groupVersion", "versions", "resources", "subresources", "responseKind", "preferredVersion", "metadata", "groups", "items"})
	var values func(depth int) *rapid.Generator[any]
	values = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return rapid.Map(names, toAny)
		}
		members := rapid.Map(rapid.MapOfN(keys, values(depth-1), 0, 4), func(members map[string]any) any { return members })
		return rapid.OneOf(rapid.Map(names, toAny), members, rapid.Map(rapid.SliceOfN(members, 0, 4), func(items []any) any { return items }))
	}
	rapid.Check(t, func(rt *rapid.T) {
		value := map[string]any{"groups": values(4).Draw(rt, "groups"), "items": values(4).Draw(rt, "items"), "rest": values(2).Draw(rt, "rest")}
		if rapid.Bool().Draw(rt, "one") {
			value = map[string]any{"name": "cluster.hypershift.openshift.io", "versions": values(3).Draw(rt, "versions"), "resources": values(3).Draw(rt, "resources")}
		}
		text, err := json.MarshalIndent(value, "", strings.Repeat(" ", rapid.IntRange(0, 2).Draw(rt, "indent")))
		if err != nil {
			rt.Fatal(err)
		}
		out, err := document(t, 0, bytes.NewReader(text))
		if err != nil {
			rt.Fatal(err)
		}
		before, _ := decodeAll(text)
		after, err := decodeAll(out)
		if err != nil || !reflect.DeepEqual(discovered("", before[0]), after[0]) {
			rt.Fatalf("%s becomes %s", text, out)
		}
	})
}
