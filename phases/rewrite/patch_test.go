package rewrite_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func boundless(int) error { return nil }

// send is what the server reads of a body that a client sends.
func send(t *testing.T, target, media, text string) (sentAs, sent string, err error) {
	t.Helper()
	request, err := parse(t, http.MethodPatch, target)
	if err != nil {
		t.Fatal(err)
	}
	sentAs, body, err := request.Body(media, strings.NewReader(text), boundless)
	if err != nil {
		return "", "", err
	}
	out, err := io.ReadAll(body)
	return sentAs, string(out), err
}

func TestAPatchIsRewrittenWhereItPointsTo(t *testing.T) {
	t.Parallel()
	const machine, pod = machinesOf + "/m", podsOf + "/p"
	for name, row := range map[string]struct{ target, media, text, want string }{
		"an_owner_by_index": {
			pod, "application/json-patch+json",
			`[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
			`[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"cluster.hypershift.openshift.io/v1"}]`,
		},
		"an_owner_by_an_index_with_its_sign": {
			pod, "application/json-patch+json",
			`[{"op":"replace","path":"/metadata/ownerReferences/+0/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
			`[{"op":"replace","path":"/metadata/ownerReferences/+0/apiVersion","value":"cluster.hypershift.openshift.io/v1"}]`,
		},
		"what_is_no_index_of_an_owner": {
			pod, "application/json-patch+json",
			`[{"op":"test","path":"/metadata/ownerReferences/-+/apiVersion","value":"cluster.x-k8s.io/v1"},{"op":"test","path":"/metadata/ownerReferences/0-/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
			`[{"op":"test","path":"/metadata/ownerReferences/-+/apiVersion","value":"cluster.x-k8s.io/v1"},{"op":"test","path":"/metadata/ownerReferences/0-/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
		},
		"a_value_before_its_path": {
			pod, "application/json-patch+json; charset=utf-8",
			`[{"value":[{"apiVersion":"cluster.x-k8s.io/v1"}],"op":"add","path":"/metadata/ownerReferences"}]`,
			`[{"value":[{"apiVersion":"cluster.hypershift.openshift.io/v1"}],"op":"add","path":"/metadata/ownerReferences"}]`,
		},
		"a_test_of_a_reference": {
			machine, "application/json-patch+json",
			`[{"op":"test","path":"/spec/infrastructureRef/apiGroup","value":"infrastructure.cluster.x-k8s.io"}]`,
			`[{"op":"test","path":"/spec/infrastructureRef/apiGroup","value":"infrastructure.cluster.hypershift.openshift.io"}]`,
		},
		"labels_stay": {
			machine, "application/json-patch+json",
			`[{"op":"add","path":"/metadata/labels/apiVersion","value":"cluster.x-k8s.io"},{"op":"add","path":"/spec/template/metadata","value":{"annotations":{"apiGroup":"cluster.x-k8s.io"}}}]`,
			`[{"op":"add","path":"/metadata/labels/apiVersion","value":"cluster.x-k8s.io"},{"op":"add","path":"/spec/template/metadata","value":{"annotations":{"apiGroup":"cluster.x-k8s.io"}}}]`,
		},
		"a_pod's_spec_stays": {
			pod, "application/json-patch+json",
			`[{"op":"add","path":"/spec/apiVersion","value":"cluster.x-k8s.io"},{"op":"copy","from":"/spec/a","path":"/spec/b"}]`,
			`[{"op":"add","path":"/spec/apiVersion","value":"cluster.x-k8s.io"},{"op":"copy","from":"/spec/a","path":"/spec/b"}]`,
		},
		"a_group_copied_to_where_a_group_is": {
			machine, "application/json-patch+json",
			`[{"op":"copy","from":"/apiVersion","path":"/spec/ref/apiVersion"},{"op":"move","from":"/spec/a","path":"/spec/b/0"}]`,
			`[{"op":"copy","from":"/apiVersion","path":"/spec/ref/apiVersion"},{"op":"move","from":"/spec/a","path":"/spec/b/0"}]`,
		},
		"owners_by_merge_patch": {
			pod, "application/merge-patch+json",
			`{"metadata":{"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1"}]},"spec":null}`,
			`{"metadata":{"ownerReferences":[{"apiVersion":"cluster.hypershift.openshift.io/v1"}]},"spec":null}`,
		},
		"owners_by_strategic_merge_patch": {
			pod, "application/strategic-merge-patch+json",
			`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"u"}],"ownerReferences":[{"$patch":"delete","uid":"u","apiVersion":"cluster.x-k8s.io/v1"}]}}`,
			`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"u"}],"ownerReferences":[{"$patch":"delete","uid":"u","apiVersion":"cluster.hypershift.openshift.io/v1"}]}}`,
		},
		"what_is_applied_in_JSON": {
			machine, "application/apply-patch+yaml",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2", "spec":{"a":1.50}}`, `{"apiVersion":"cluster.hypershift.openshift.io/v1beta2", "spec":{"a":1.50}}`,
		},
		"what_is_applied_in_YAML": {
			machine, "application/apply-patch+yaml",
			"apiVersion: cluster.x-k8s.io/v1beta2\nspec:\n  a: 1\n", `{"apiVersion":"cluster.hypershift.openshift.io/v1beta2","spec":{"a":1}}`,
		},
		"what_is_applied_in_YAML_that_looks_like_JSON": {machine, "application/apply-patch+yaml", "{apiVersion: cluster.x-k8s.io/v1}", `{"apiVersion":"cluster.hypershift.openshift.io/v1"}`},
		"a_large_value_after_its_path": {
			pod, "application/json-patch+json",
			`[{"op":"add","path":"/metadata","value":{"annotations":{"a":"` + strings.Repeat("x", 100<<10) + `"},"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1"}]}}]`,
			`[{"op":"add","path":"/metadata","value":{"annotations":{"a":"` + strings.Repeat("x", 100<<10) + `"},"ownerReferences":[{"apiVersion":"cluster.hypershift.openshift.io/v1"}]}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if as, got, err := send(t, row.target, row.media, row.text); err != nil || got != row.want || as != row.media {
				t.Errorf("%v, sent as %s\ngot  %.300s\nwant %.300s", err, as, got, row.want)
			}
		})
	}
}

func TestABodyThatCannotBeReadInOneWayIsRefused(t *testing.T) {
	t.Parallel()
	const machine, pod = machinesOf + "/m", podsOf + "/p"
	large := strings.Repeat("x", 100<<10)
	for name, row := range map[string]struct {
		target, media, text string
		code                int
	}{
		"a_move_into_labels":            {machine, "application/json-patch+json", `[{"op":"move","from":"/spec/ref","path":"/metadata/labels/ref"}]`, 400},
		"a_copy_out_of_annotations":     {machine, "application/json-patch+json", `[{"op":"copy","from":"/metadata/annotations/a","path":"/spec/ref/apiVersion"}]`, 400},
		"a_copy_into_an_owner":          {pod, "application/json-patch+json", `[{"op":"copy","from":"/metadata/name","path":"/metadata/ownerReferences/0/apiVersion"}]`, 400},
		"two_paths":                     {pod, "application/json-patch+json", `[{"op":"add","path":"/a","value":"x","path":"/metadata"}]`, 400},
		"two_paths_around_what_is_long": {pod, "application/json-patch+json", `[{"op":"add","path":"/a","value":"` + large + `","path":"/metadata"}]`, 400},
		"a_large_value_before_its_path": {pod, "application/json-patch+json", `[{"value":"` + large + `","op":"add","path":"/a"}]`, 400},
		"a_path_without_a_slash":        {pod, "application/json-patch+json", `[{"op":"add","path":"a/b","value":1}]`, 400},
		"YAML_with_a_key_twice":         {machine, "application/apply-patch+yaml", "a: 1\na: 2\n", 400},
		"YAML_with_an_alias":            {machine, "application/yaml", "a: &a \"&\"\nb: [*a, *a]\n", 400},
		"YAML_whose_tags_grow":          {machine, "application/apply-patch+yaml", "%TAG !e! tag:long\n---\na: !e!b c\n", 400},
		"YAML_in_UTF-16":                {machine, "application/yaml", "\xff\xfea\x00:\x00 \x00b\x00", 400},
		"no_YAML":                       {machine, "application/yaml", "a: [", 400},
		"YAML_that_is_too_long":         {machine, "application/yaml", "a: " + strings.Repeat("x", rewrite.MaxYAML), 413},
		"no_JSON":                       {machine, "application/json", `{"a":1}}`, 400},
		"CBOR":                          {machine, "application/cbor", "\xa0", 415},
		"CBOR_that_is_applied":          {machine, "application/apply-patch+cbor", "\xa0", 415},
		"what_nobody_knows":             {machine, "text/plain", "a", 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, sent, err := send(t, row.target, row.media, row.text)
			var refused *rewrite.Error
			if !errors.As(err, &refused) || refused.Code != row.code {
				t.Errorf("%v, sent %.200s", err, sent)
			}
		})
	}
}

func TestYAMLIsSentAsJSON(t *testing.T) {
	t.Parallel()
	as, sent, err := send(t, machinesOf+"/m", "application/yaml", "apiVersion: cluster.x-k8s.io/v1\n")
	if err != nil || as != "application/json" || sent != `{"apiVersion":"cluster.hypershift.openshift.io/v1"}` {
		t.Error(as, sent, err)
	}
}

func TestYAMLMayHaveWhatOnlyLooksLikeAnAlias(t *testing.T) {
	t.Parallel()
	_, sent, err := send(t, machinesOf+"/m", "application/yaml", "a: &anchor b\nc: '*'\nd: 10 %TAG\n")
	if err != nil || sent != `{"a":"b","c":"*","d":"10 %TAG"}` {
		t.Error(sent, err)
	}
}

// JSON that is applied asks for none: it is not held as a whole.
func TestYAMLAsksForRoomForWhatItBecomes(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	for _, row := range []struct {
		media, text string
		least       int
	}{
		{"application/yaml", "a:\n" + strings.Repeat("- a\n", 1000), 64 * 4000},
		{"application/yaml; charset", "[" + strings.Repeat("{a},", 1000) + "]", 210 * 4000},
		{"application/apply-patch+yaml", "a:\n" + strings.Repeat("-\n", 100_000), 94 * 200_000},
		{"application/apply-patch+yaml", `{"a":[` + strings.Repeat(`"a",`, 100_000) + `1]}`, 0},
	} {
		for _, room := range []int{math.MaxInt, row.least - 1} {
			left, taken := room, 0
			request, err := parse(t, http.MethodPatch, machinesOf+"/m")
			if err != nil {
				t.Fatal(err)
			}
			_, body, err := request.Body(row.media, strings.NewReader(row.text), func(bytes int) error {
				if left -= bytes; left < 0 {
					return full
				}
				taken += bytes
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(body)
			if isFull := room < row.least && row.least > 0; errors.Is(err, full) != isFull || !isFull && (err != nil || taken < row.least) {
				t.Errorf("%s %.20q takes %d of %d: %v", row.media, row.text, taken, room, err)
			}
		}
	}
}

func TestAnAccessReviewNamesDefinitionsByTheirGroup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"spec":{"resourceAttributes":{"name":"machines.cluster.x-k8s.io","resource":"customresourcedefinitions","group":"apiextensions.k8s.io"}}}`: `{"spec":{"resourceAttributes":{"name":"machines.cluster.hypershift.openshift.io","resource":"customresourcedefinitions","group":"apiextensions.k8s.io"}}}`,
		`{"spec":{"resourceAttributes":{"name":"machines.cluster.x-k8s.io","resource":"machines","group":"cluster.x-k8s.io"}}}`:                      `{"spec":{"resourceAttributes":{"name":"machines.cluster.x-k8s.io","resource":"machines","group":"cluster.hypershift.openshift.io"}}}`,
	} {
		if _, got, err := send(t, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json", text); err != nil || got != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
}
