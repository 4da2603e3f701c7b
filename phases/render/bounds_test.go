package render

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

func TestRender_refuses_what_comes_to_gigabytes_in_bounded_memory(t *testing.T) {
	with := func(text string, metadata ...string) Input {
		p := profile("core", metadata...)
		p.Manifests = []byte(text)
		return Input{Profiles: []Profile{p}, Substitutions: map[string]string{"V": strings.Repeat("_", 4096), "W": strings.Repeat("w", 4096)}}
	}
	var small strings.Builder
	for i := range 100 {
		fmt.Fprintf(&small, "---\n%sdata: {a: &a %q, b: [%s*a]}\n", configMap(fmt.Sprint("c", i)), strings.Repeat("x", 1<<16), strings.Repeat("*a, ", 18))
	}
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"aliases of a long text": {
			with(configMap("a") + "data: {a: &a " + strings.Repeat("x", 1<<20) + ", b: [" + strings.Repeat("*a, ", 50_000) + "*a]}\n"),
			"document 1, line 5, field data.b[0]: the object has more than the 1572864 bytes",
		},
		"a short text for the image": {
			with(configMap("a")+"data: {a: "+strings.Repeat("a", 1<<20)+"}\n", "selfImageRef: a"),
			`field selfImageRef: "a" is not an image reference of at least 8 characters`,
		},
		"the image a hundred thousand times": {
			with(configMap("a")+"data: {a: "+strings.Repeat("quay.io/self ", 100_000)+"}\n", "selfImageRef: quay.io/self"),
			"field data.a: the object has more than the 1572864 bytes",
		},
		"an image reference in capitals": {with(configMap("a"), "selfImageRef: MANIFESTS"), `"MANIFESTS" is not an image reference`},
		"a long replacement many times":  {with("a: ${V//_/" + strings.Repeat("x", 4000) + "}\n" + configMap("a")), "it may come to more bytes than a document may have"},
		"a pattern that is tried at every end of a value": {
			with(configMap("a") + "data:\n  a: ${W##*" + strings.Repeat("w", 2000) + "b}\n"),
			"document 1, line 6: ${W##*wwww",
		},
		"a pattern that is made of a value":       {with(configMap("a") + "data:\n  a: ${W%%*${W}b}\n"), "document 1, line 6: ${W%%*${W}b} is not a substitution that can be computed"},
		"a pattern of many stars":                 {with(configMap("a") + "data:\n  a: ${W#" + strings.Repeat("*w", 2000) + "*b}\n"), "document 1, line 6: ${W#*w*w"},
		"short patterns many times in a document": {with(configMap("a") + "data:\n  a: x\n" + strings.Repeat("#${W%*b}\n", 5)), "document 1, line 10: ${W%*b} is not a substitution that can be computed: with it, the substitutions of the document take more than the 134217728 steps"},
		"short patterns in many documents": {
			with(strings.Repeat("---\n#${W%*b}\n", 100)), "file manifests.yaml: its substitutions take more than the 1073741824 steps allowed for a profile",
		},
		"a long value many times": {with(configMap("a") + "data: {a: " + strings.Repeat("${W}", 2000) + "}"), "the document has more than the 4194304 bytes of text allowed with its substitutions"},
		"a long document":         {with(configMap("a") + strings.Repeat("# comment\n", 500_000)), "the document has 5000051 bytes of text, more than the 4194304 allowed"},
		"millions of documents":   {with(strings.Repeat("---\n", 4<<20)), "document 20001, line 20001: there are more than the 20000 documents allowed"},
		"metadata of millions of documents": {
			Input{Profiles: []Profile{{Image: image("a"), Name: "p", Metadata: []byte(strings.Repeat("name: a\n---\n", 1<<20)), Manifests: []byte(configMap("a"))}}},
			"there is more than one YAML document",
		},
		"millions of values":                 {with(configMap("a") + "data: [" + strings.Repeat("a,", 2<<20-100) + "]\n"), "the document has 2097058 of the characters that begin values, more than the 250000 allowed"},
		"many objects that are small enough": {with(small.String()), "file manifests.yaml: its objects have more than the 67108864 bytes allowed for a profile"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found := problems(t, c.in)
			runtime.ReadMemStats(&after)
			if !strings.Contains(found[0].String(), c.want) || len(found) > 2 {
				t.Errorf("want %q, got %d problems: %v", c.want, len(found), found)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 200<<20 {
				t.Errorf("%d MiB were allocated", allocated>>20)
			}
		})
	}
}

func TestExpand_counts_what_it_makes_and_drops_again(t *testing.T) {
	r := renderer{substitutions: map[string]string{"A": "a", "V": strings.Repeat("_", 4096)}}
	dropped := "${A:${V//_/" + strings.Repeat("x", 1000) + "}}\n"
	r.expand(place{line: 1}, []byte(strings.Repeat(dropped, 100)))
	if len(r.problems) != 1 || r.problems[0].Line > 20 || !strings.Contains(r.problems[0].Cause, "steps allowed") {
		t.Errorf("got %v", r.problems)
	}
}

func TestRender_makes_a_panic_the_fault_of_the_image(t *testing.T) {
	in := Input{Profiles: []Profile{manifests(configMap("a") + "---\n" + configMap("b"))}}
	in.FaultOf = func(object *unstructured.Unstructured) (path, cause string) {
		if object.GetName() == "b" {
			panic("no such thing")
		}
		return "", ""
	}
	found := problems(t, in)
	if len(found) != 1 || found[0].Image != image("core") || found[0].Document != 2 || !strings.Contains(found[0].Cause, "no such thing") {
		t.Errorf("got %v", found)
	}
}

func TestJSONSize_is_that_of_the_canonical_form(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching("[\x00-\x1f\"\\\\a]*")).Draw(rt, "text")
		if got, most := jsonSize(text), len(appendJSONString(nil, text)); got < most || got > most+4*len(text) {
			rt.Fatalf("%q has %d bytes, said are %d", text, most, got)
		}
	})
}

func TestRender_tells_of_so_many_problems_that_people_can_read_them_and_counts_the_others(t *testing.T) {
	odd := func(n int) string { return configMap("a") + "data: [" + strings.Repeat("!x a, ", n) + "]\n" }
	p := profile("core")
	p.Manifests = []byte(odd(10_000))
	found := problems(t, Input{Profiles: []Profile{p}})
	if got, want := found[len(found)-1].String(), "there are 9980 problems more"; len(found) != maxDocumentProblems+1 || !strings.Contains(got, want) {
		t.Errorf("%d problems, the last is %q, want %q", len(found), got, want)
	}
	p.Manifests = []byte(strings.Repeat(odd(22)+"---\n", 60))
	if found = problems(t, Input{Profiles: []Profile{p}}); len(found) != maxProblems+1 {
		t.Errorf("%d problems are told", len(found))
	}
}
