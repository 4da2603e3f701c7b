package render

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// anyText draws strings that are hard for YAML, JSON and substitution.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 12, -1),
		rapid.SampledFrom([]string{
			"", "yes", "n", "on", "null", "~", "1", "1.0", "0644", "1e3", "---", "...", "a\n---\nb", "- a", "a: b", " a ", "#", "a #b",
			"$$", "$(A)", "{", "}", "[", "!x", "&x", "*x", "|", ">", "%", "@", "`", "\t", "\n", "\\", "\"", "'", "<b>&", "\u2028", "\u007f", "é", "😀", "2001-01-01", "<<", "=",
		}),
	).Filter(func(s string) bool {
		// Variables are another test's; YAML cannot hold some characters bare.
		return !strings.Contains(s, "${")
	})
}

// anyValue draws what an unstructured object can hold.
func anyValue(depth int) *rapid.Generator[any] {
	// The YAML library cannot write all strings so that it can read them.
	text := anyText().Filter(func(s string) bool {
		written, err := yaml.Marshal(s)
		var read string
		// As a key it would write << for a merge.
		return err == nil && yaml.Unmarshal(written, &read) == nil && read == s && s != "<<"
	})
	leaves := []*rapid.Generator[any]{
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.Float64Range(0.0001, 0.9999), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	deeper := anyValue(depth - 1)
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(deeper, 0, 3), func(items []any) any { return append([]any{}, items...) }),
		rapid.Map(rapid.MapOfN(text, deeper, 0, 3), func(fields map[string]any) any { return fields }),
	)...)
}

// anyInput draws a valid input of a few profiles, each with a few ConfigMaps.
func anyInput(t *rapid.T) Input {
	in := Input{Platform: "AWS", Substitutions: map[string]string{"USED": "u"}}
	for i := range rapid.IntRange(1, 5).Draw(t, "profiles") {
		p := Profile{Image: image(fmt.Sprintf("i%d", rapid.IntRange(0, 2).Draw(t, "image"))), Name: fmt.Sprintf("p%d", i)}
		p.Metadata = fmt.Appendf(nil, "name: %s\ninstallOrder: %d\nselfImageRef: quay.io/self\nocpPlatform: %q\n",
			rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), rapid.IntRange(0, 2).Draw(t, "installOrder"),
			rapid.SampledFrom([]string{"", "AWS", "GCP"}).Draw(t, "platform"))
		for j := range rapid.IntRange(0, 3).Draw(t, "objects") {
			text := rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "data")
			p.Manifests = fmt.Appendf(p.Manifests, "---\n%sdata:\n  text: %s ${USED} quay.io/self\n", configMap(fmt.Sprintf("c-%d-%d", i, j)), text)
		}
		in.Profiles = append(in.Profiles, p)
	}
	for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z]{1,3}`), 0, 20, rapid.ID).Draw(t, "keys") {
		in.Substitutions[key] = anyText().Draw(t, "value")
	}
	in.Unmanaged = rapid.SliceOfN(rapid.StringMatching(`[a-c]\.[a-c]\.x`), 0, 4).Draw(t, "unmanaged")
	return in
}

func draw(t *rapid.T, in Input) *Revision {
	rev, err := Render(in)
	if err != nil {
		t.Fatalf("rendering: %v", err)
	}
	return rev
}

func TestProperty_no_order_of_the_input_changes_the_revision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		first := draw(t, in)
		again := Input{
			Profiles: rapid.Permutation(append(slices.Clone(in.Profiles), in.Profiles[0])).Draw(t, "profiles"),
			Platform: in.Platform, Substitutions: map[string]string{},
			Unmanaged: rapid.Permutation(append(slices.Clone(in.Unmanaged), in.Unmanaged...)).Draw(t, "unmanaged"),
		}
		keys := []string{}
		for key := range in.Substitutions {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range rapid.Permutation(keys).Draw(t, "keys") {
			again.Substitutions[key] = in.Substitutions[key]
		}
		if second := draw(t, again); !reflect.DeepEqual(first, second) {
			t.Fatalf("%+v\ndiffers from\n%+v", first, second)
		}
	})
}

func TestProperty_every_change_of_what_is_applied_changes_the_content_ID(t *testing.T) {
	changes := map[string]func(*rapid.T, *Input){
		"a byte of an object": func(_ *rapid.T, in *Input) {
			in.Profiles[0].Manifests = []byte(strings.Replace(string(in.Profiles[0].Manifests), "  text: ", "  text: x", 1))
		},
		"another object": func(_ *rapid.T, in *Input) {
			in.Profiles[0].Manifests = append(in.Profiles[0].Manifests, "---\n"+configMap("extra")...)
		},
		"the order of objects": func(_ *rapid.T, in *Input) {
			objects := strings.Split(string(in.Profiles[0].Manifests), "---\n")
			in.Profiles[0].Manifests = []byte(objects[1] + "---\n" + objects[0])
		},
		"the component's name": func(_ *rapid.T, in *Input) {
			in.Profiles[0].Metadata = []byte(strings.Replace(string(in.Profiles[0].Metadata), "name: ", "name: z", 1))
		},
		"the image's own reference": func(_ *rapid.T, in *Input) { in.Profiles[0].Image = image("new") },
		"the value of a substitution that is used": func(_ *rapid.T, in *Input) {
			in.Substitutions["USED"] = "v"
		},
		"the value of one that is not": func(t *rapid.T, in *Input) {
			in.Substitutions["UNUSED"] = anyText().Draw(t, "value")
		},
		"an unmanaged name": func(_ *rapid.T, in *Input) { in.Unmanaged = append(slices.Clone(in.Unmanaged), thingsCRD) },
		"another profile":   func(_ *rapid.T, in *Input) { in.Profiles = append(slices.Clone(in.Profiles), profile("extra")) },
		"the order of components": func(_ *rapid.T, in *Input) {
			in.Profiles[0].Metadata = []byte(strings.Replace(string(in.Profiles[0].Metadata), "installOrder: -1", "installOrder: 9", 1))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := anyInput(t)
				// The first profile must be there, first, and have objects.
				in.Profiles[0].Metadata = []byte("name: a\ninstallOrder: -1\nselfImageRef: quay.io/self\n")
				in.Profiles = append(in.Profiles, manifests(crd("")))
				in.Profiles[0].Manifests = []byte(configMap("first") + "data:\n  text: t ${USED} quay.io/self\n---\n" + configMap("second"))
				in.Profiles = append(in.Profiles, profile("other", "installOrder: 5"))
				before := draw(t, in)
				change(t, &in)
				if after := draw(t, in); after.ContentID == before.ContentID {
					t.Fatalf("content ID %s stayed", before.ContentID)
				}
			})
		})
	}
}

func TestProperty_a_changed_byte_makes_a_problem_another_ID_or_the_same_objects(t *testing.T) {
	profiles := testdata(t, "core")
	substitutions := map[string]string{"TLS_MIN_VERSION": "VersionTLS12"}
	before := mustRender(t, Input{Profiles: profiles, Substitutions: substitutions})
	rapid.Check(t, func(t *rapid.T) {
		p := profiles[0]
		p.Manifests = slices.Clone(p.Manifests)
		at := rapid.IntRange(0, len(p.Manifests)-1).Draw(t, "at")
		p.Manifests[at] = rapid.Byte().Draw(t, "byte")
		after, err := Render(Input{Profiles: []Profile{p}, Substitutions: substitutions})
		if err != nil {
			var found ProblemsError
			if !errors.As(err, &found) {
				t.Fatalf("want problems, got %v", err)
			}
			return
		}
		same := reflect.DeepEqual(before.Components[0].Objects, after.Components[0].Objects)
		if same != (before.ContentID == after.ContentID) {
			t.Fatalf("same objects: %v, content IDs %s and %s", same, before.ContentID, after.ContentID)
		}
	})
}

func TestProperty_content_IDs_are_equal_only_for_equal_content(t *testing.T) {
	revision := rapid.Custom(func(t *rapid.T) *Revision {
		rev := &Revision{}
		for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2"}), 0, 2).Draw(t, "components") {
			rev.Components = append(rev.Components, Component{ContentID: id})
		}
		odd := rapid.SampledFrom([]string{"", "a", "\"", "a\"\n", " ", "\" \"", "\nunmanaged \"a\""})
		for range rapid.IntRange(0, 2).Draw(t, "substitutions") {
			rev.Substitutions = append(rev.Substitutions, Substitution{Key: odd.Draw(t, "key"), Value: odd.Draw(t, "value")})
		}
		rev.Unmanaged = rapid.SliceOfN(odd, 0, 2).Draw(t, "unmanaged")
		return rev
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := revision.Draw(t, "a"), revision.Draw(t, "b")
		same := slices.Equal(a.Substitutions, b.Substitutions) && slices.Equal(a.Unmanaged, b.Unmanaged) &&
			slices.EqualFunc(a.Components, b.Components, func(a, b Component) bool { return a.ContentID == b.ContentID })
		if same != (revisionID(a, nil) == revisionID(b, nil)) {
			t.Fatalf("same content: %v, IDs %s and %s", same, revisionID(a, nil), revisionID(b, nil))
		}
	})
}

func TestProperty_values_survive_YAML_and_canonical_JSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"value": anyValue(3).Draw(t, "value")}
		text, err := yaml.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var r renderer
		documents := split(text)
		if len(documents) != 1 {
			t.Fatalf("%d documents in %q", len(documents), text)
		}
		root := r.parse(place{line: 1}, documents[0].text, nil)
		if root == nil {
			t.Fatalf("parsing %q: %v", text, r.problems)
		}
		d := decoder{report: func(line int, path, cause string) { t.Fatalf("%d %s: %s in %q", line, path, cause, text) }}
		got := d.value(root)
		if !reflect.DeepEqual(any(want), got) {
			t.Fatalf("want %#v, got %#v from %q", want, got, text)
		}
		var back map[string]any
		if err := json.Unmarshal(appendJSON(nil, got), &back); err != nil || !reflect.DeepEqual(want, back) {
			t.Fatalf("want %#v, got %#v and error %v from %s", want, back, err, appendJSON(nil, got))
		}
	})
}

func TestProperty_text_without_variables_is_left_byte_for_byte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		got, moved, found := expand(text)
		if got != text || moved != nil || len(found) > 0 {
			t.Fatalf("want %q, got %q, %v, %v", text, got, moved, found)
		}
	})
}
