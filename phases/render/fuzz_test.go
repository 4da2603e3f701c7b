package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// lineEnds are YAML's, of which only the first is in use.
var lineEnds = regexp.MustCompile("\n|\r|\u0085|\u2028|\u2029")

// documents are seeds: YAML that has tripped parsers, and what real providers' variables look like.
var documents = []string{
	"", "---\n---\n...\n", "%YAML 1.1\n---\n" + configMap("a"), configMap("a") + "---\n" + configMap("a"),
	configMap("${V}"), configMap("${V:1:-9}"), configMap("$${V}"), configMap("${V:=${W:=x}}"), configMap("${"), configMap("${V/#a/b"),
	"a: &a [*a]", "a: &a {b: 1}\nc: {<<: *a}", "a: [[[[", "? {a: b}\n: c", "a: !!binary x", "a: .nan", "\xef\xbb\xbfa: 1", "\xff\xfea\x00",
	"a: 1\r---\rb: 2", "- a\n- b", configMap("a") + "labels: null", configMap("a") + "  labels: [a]\n", configMap("a") + "metadata: {}\n",
}

// fuzzed renders one profile, and checks what holds for all.
func fuzzed(t *testing.T, metadata, manifests []byte, value string) (*Revision, ProblemsError) {
	t.Helper()
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
	if err == nil {
		bounded(t, rev)
		return rev, nil
	}
	var found ProblemsError
	if !errors.As(err, &found) || len(found) == 0 || len(err.Error()) > maxText {
		t.Fatalf("want problems with bounded text, got %v", err)
	}
	for _, p := range found {
		lines := 1 + len(lineEnds.FindAll(map[string][]byte{metadataFile: metadata, manifestsFile: manifests}[p.File], -1))
		if p.Cause == "" || p.Line > lines {
			t.Fatalf("a problem without cause or outside of the file's %d lines: %+v", lines, p)
		}
	}
	return nil, found
}

// bounded checks that what is rendered is as small as it must be; the labels are not of the image.
func bounded(t *testing.T, rev *Revision) {
	t.Helper()
	for _, c := range rev.Components {
		all := 0
		for _, o := range c.Objects {
			size := len(appendJSON(nil, o.Object))
			if all += size; size > maxObject+2*maxComponentName+len(policy.ManagedByLabel) {
				t.Fatalf("an object has %d bytes", size)
			}
		}
		if all > maxProfile+len(c.Objects)*(2*maxComponentName+len(policy.ManagedByLabel)) || len(c.Objects) > maxDocuments {
			t.Fatalf("%d objects have %d bytes", len(c.Objects), all)
		}
	}
}

func FuzzMetadata(f *testing.F) {
	for _, p := range testdata(f, "core", "aws", "vsphere") {
		f.Add(p.Metadata)
	}
	for _, seed := range documents {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{
		"name: a\ninstallOrder: 0x7fffffffffffffff", "name: a\ninstallOrder: 1e3", "name: -a", "name: a\nname: b", "name: a\nocpPlatform: aws",
		"name: a\nattributes: {type: core, type: x}", "name: a\nattributes:\n  ? [a]\n  : b", "name: a\nselfImageRef: \"\"", "name: *a", "name: !!int a",
		"{name: a, ocpPlatform: null, attributes: ~}", "name: " + strings.Repeat("a", 64),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		rev, _ := fuzzed(t, metadata, []byte(configMap("a")), "v")
		if rev == nil {
			return
		}
		for _, c := range rev.Components {
			if !componentName.MatchString(c.Name) || len(c.Name) > maxComponentName || c.Platform != "" && c.Platform != "AWS" {
				t.Fatalf("selected component %q for platform %q", c.Name, c.Platform)
			}
		}
		if len(rev.Components)+len(rev.Skipped) != 1 {
			t.Fatalf("one profile is neither selected nor skipped, or both: %+v", rev)
		}
	})
}

func FuzzManifests(f *testing.F) {
	for _, p := range testdata(f, "core", "aws", "vsphere") {
		f.Add(p.Manifests, "arn:aws:iam::1:role/r")
	}
	for _, seed := range documents {
		f.Add([]byte(seed), "v")
	}
	f.Fuzz(func(t *testing.T, manifests []byte, value string) {
		rev, _ := fuzzed(t, []byte("name: a\n"), manifests, value)
		if rev == nil {
			return
		}
		c := rev.Components[0]
		if c.ContentID != profileID(c.Objects) {
			t.Fatalf("component %s has ID %s, its objects %s", c.Name, c.ContentID, profileID(c.Objects))
		}
		for _, o := range c.Objects {
			if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetLabels()[policy.ManagedByLabel] != c.Name {
				t.Fatalf("not a labelled object: %v", o)
			}
			if !json.Valid(appendJSON(nil, o.Object)) {
				t.Fatalf("not JSON: %s", appendJSON(nil, o.Object))
			}
			if !reflect.DeepEqual(o.DeepCopy(), o) {
				t.Fatalf("not made of the values of unstructured objects: %#v", o)
			}
		}
	})
}

func FuzzSubstitution(f *testing.F) {
	for _, seed := range documents {
		f.Add(seed, "value", true)
	}
	for _, seed := range []string{
		"${V}", "$V", "$$${V}", "${V:=a}\n${W:?needed}\n${V:+b}", "${V^^}${V,}${#V}", "${V:0:3}${V: -1}", "${V#*/}${V%%/*}${V//a/b}", "${V/#arn/\na: arn}\n${W}",
		"${V:=${V:=${V:=}}}", "${V//v/${V//v/${V//v/vvvvvvvv}}}", strings.Repeat("${V}", 900), "${V:=${W}}", "${V=}}", "${ }", "${V/a", "${V:-\n\n}\n${W}", "x\x00${V}\x00y", "${V\x00}", strings.Repeat("${V:=", 900),
	} {
		f.Add(seed, "arn:aws\nb", true)
		f.Add(seed, "", false)
	}
	f.Fuzz(func(t *testing.T, text, value string, given bool) {
		substitutions := map[string]string{}
		if given {
			substitutions["V"] = value
		}
		r := renderer{substitutions: substitutions}
		out, moved := r.expand(place{line: 1}, []byte(text))
		if !strings.Contains(text, "${") && (string(out) != text || len(r.problems) > 0) {
			t.Fatalf("text without variables became %q with %v", out, r.problems)
		}
		if len(out) > maxDocument+len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(out))
		}
		lines := 1 + strings.Count(text, "\n")
		for _, p := range r.problems {
			if p.Cause == "" || p.Line < 1 || p.Line > lines {
				t.Fatalf("a problem without cause or outside of the %d lines: %+v", lines, p)
			}
		}
		if len(out) == 0 && len(r.problems) > 0 {
			return // refused for its length
		}
		last := 1
		for line := range 1 + bytes.Count(out, []byte("\n")) {
			from := original(moved, line+1)
			if from < 1 || from > lines {
				t.Fatalf("line %d of the result is said to be from line %d of %d", line+1, from, lines)
			}
			last = from
		}
		if last != lines {
			t.Fatalf("the last line is said to be from line %d of %d", last, lines)
		}
	})
}
