package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// lineEnds are YAML's, of which only the first is in use.
var lineEnds = regexp.MustCompile("\n|\r|\u0085|\u2028|\u2029")

func FuzzRender(f *testing.F) {
	for _, p := range testdata(f, "core", "aws", "vsphere") {
		f.Add(p.Metadata, p.Manifests, "arn:aws:iam::1:role/r")
	}
	for _, seed := range []string{
		"", "---\n---\n...\n", "%YAML 1.1\n---\n" + configMap("a"), configMap("a") + "---\n" + configMap("a"),
		configMap("${V}"), configMap("${V:1:-9}"), configMap("$${V}"), configMap("${V:=${W:=x}}"), configMap("${"), configMap("${V/#a/b"),
		"a: &a [*a]", "a: &a {b: 1}\nc: {<<: *a}", "a: [[[[", "? {a: b}\n: c", "a: !!binary x", "a: .nan", "\xef\xbb\xbfa: 1", "\xff\xfea\x00",
		"a: 1\r---\rb: 2", "- a\n- b", configMap("a") + "labels: null", configMap("a") + "  labels: [a]\n", configMap("a") + "metadata: {}\n",
	} {
		f.Add([]byte("name: a\n"), []byte(seed), "v")
		f.Add([]byte(seed), []byte(configMap("a")), "v")
	}
	f.Fuzz(func(t *testing.T, metadata, manifests []byte, value string) {
		in := Input{
			Profiles: []Profile{{Image: image("fuzz"), Name: "default", Metadata: metadata, Manifests: manifests}},
			Platform: "AWS", Substitutions: map[string]string{"V": value, "AWS_CONTROLLER_IAM_ROLE": value},
		}
		before := [][]byte{bytes.Clone(metadata), bytes.Clone(manifests)}
		rev, err := Render(in)
		again, errAgain := Render(in)
		if !reflect.DeepEqual(rev, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("not deterministic: %v, %v and %v, %v", rev, err, again, errAgain)
		}
		if !slices.EqualFunc(before, [][]byte{metadata, manifests}, bytes.Equal) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			var found ProblemsError
			if !errors.As(err, &found) || len(found) == 0 || len(err.Error()) > maxText {
				t.Fatalf("want problems with bounded text, got %v", err)
			}
			lines := 1 + len(lineEnds.FindAll(append(before[0], before[1]...), -1))
			for _, p := range found {
				if p.Cause == "" || p.Line > lines {
					t.Fatalf("a problem without cause or outside of the file: %+v", p)
				}
			}
			return
		}
		for _, c := range rev.Components {
			if c.ContentID != profileID(c.Objects) {
				t.Fatalf("component %s has ID %s, its objects %s", c.Name, c.ContentID, profileID(c.Objects))
			}
			for _, o := range c.Objects {
				if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetLabels()[ManagedByLabel] != c.Name {
					t.Fatalf("not a labelled object: %v", o)
				}
				if !json.Valid(appendJSON(nil, o.Object)) {
					t.Fatalf("not JSON: %s", appendJSON(nil, o.Object))
				}
				if !reflect.DeepEqual(o.DeepCopy(), o) {
					t.Fatalf("not made of the values of unstructured objects: %#v", o)
				}
			}
		}
	})
}
