package images

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"pgregory.net/rapid"
)

var someDigest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

func TestParseRef_says_what_is_wrong_and_what_is_asked_for(t *testing.T) {
	for _, c := range []struct{ name, in, says string }{
		{"empty", "", "is empty"},
		{"by tag", "quay.io/some/image:v1.2", "is by tag (v1.2)"},
		{"by tag on a port", "localhost:5000/image:latest", "is by tag (latest)"},
		{"neither tag nor digest", "quay.io/some/image", "has no digest"},
		{"tag and digest", "quay.io/some/image:v1@" + someDigest, "both a tag (v1) and a digest"},
		{"no host", "image@" + someDigest, "does not name the registry's host"},
		{"another algorithm", "quay.io/image@sha512:" + strings.Repeat("a", 128), "not sha256"},
		{"short digest", "quay.io/image@sha256:abc", "not sha256 in 64"},
		{"upper case digest", "quay.io/image@sha256:" + strings.Repeat("A", 64), "not sha256 in 64"},
		{"two digests", "quay.io/image@" + someDigest + "@" + someDigest, "more than one @"},
		{"upper case path", "quay.io/Image@" + someDigest, "host or path"},
		{"bad host", "-quay.io/image@" + someDigest, "host or path"},
		{"scheme", "docker://quay.io/image@" + someDigest, "URL scheme"},
		{"line break", "quay.io/image@" + someDigest + "\n", "white space around"},
		{"too long", "quay.io/" + strings.Repeat("a", 400) + "@" + someDigest, "more than the 447"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref, err := ParseRef(c.in)
			if err == nil {
				t.Fatalf("accepted as %q", ref)
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != KindReference || !e.Terminal() {
				t.Errorf("not a terminal reference error: %#v", err)
			}
			contains(t, err, c.says, refForm)
			if len(err.Error()) > 512 {
				t.Errorf("the message has %d characters", len(err.Error()))
			}
		})
	}
}

func TestParseRef_takes_references_apart(t *testing.T) {
	for _, c := range []struct{ in, host, repository string }{
		{"quay.io/some/image", "quay.io", "some/image"},
		{"registry/image", "registry", "image"},
		{"localhost:5000/a/b/c", "localhost:5000", "a/b/c"},
		{"[fd00::1]:5000/a", "[fd00::1]:5000", "a"},
		{"192.168.1.1/a__b.c-d", "192.168.1.1", "a__b.c-d"},
	} {
		ref, err := ParseRef(c.in + "@" + someDigest)
		must(t, err)
		if ref.Host() != c.host || ref.Repository() != c.repository || ref.Digest() != someDigest {
			t.Errorf("%s is taken apart into %q, %q, %q", ref, ref.Host(), ref.Repository(), ref.Digest())
		}
	}
}

// The rules of the API are read from its source, so that a newer API with other rules is noticed here.
func TestParseRef_accepts_exactly_what_the_ClusterAPI_type_accepts(t *testing.T) {
	rules := apiRules(t)
	host := rapid.StringMatching(`([a-zA-Z0-9]{1,3}(-[a-z]{1,3})?(\.[a-z0-9]{1,3}){0,3}|\[[0-9a-f:]{1,8}\])(:[0-9]{1,5})?`)
	path := rapid.StringMatching(`[a-z0-9]{1,4}(([._]|__|-{1,3})[a-z0-9]{1,3}){0,2}(/[a-z0-9]{1,4}){0,3}(/x{440})?`)
	odd := rapid.SampledFrom([]string{"", "-", "--", ".", "_", "__", "___", "/", ":", ":5000", "[", "]", "@", " ", "\n", "A", "é", "@" + someDigest})
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := host.Draw(rt, "host") + "/" + path.Draw(rt, "path") + "@" + someDigest
		if rapid.Bool().Draw(rt, "damaged") {
			at, gone := rapid.IntRange(0, len(s)-1).Draw(rt, "at"), rapid.IntRange(0, 1).Draw(rt, "gone")
			s = s[:at] + odd.Draw(rt, "odd") + s[at+gone:]
		}
		_, err := ParseRef(s)
		if want := rules(s); (err == nil) != want {
			rt.Fatalf("the API accepts %q: %t; ParseRef: %v", s, want, err)
		} else if want {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("not one reference was accepted")
	}
}

func apiRules(t *testing.T) func(string) bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	must(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "operator/v1alpha1/types_clusterapi.go"))
	must(t, err)
	before, _, found := strings.Cut(string(source), "\ntype ImageDigestFormat string")
	if !found {
		t.Fatal("the API has no type ImageDigestFormat any more")
	}
	markers := before[strings.LastIndex(before, "\n\n"):]
	if !strings.Contains(markers, "MinLength=1\n") || !strings.Contains(markers, "MaxLength=447\n") {
		t.Fatalf("the API has other lengths now:\n%s", markers)
	}
	env, err := cel.NewEnv(cel.Variable("self", cel.StringType), ext.Strings())
	must(t, err)
	var programs []cel.Program
	for _, m := range regexp.MustCompile("XValidation:rule=`([^`]+)`").FindAllStringSubmatch(markers, -1) {
		ast, issues := env.Compile(m[1])
		must(t, issues.Err())
		program, err := env.Program(ast)
		must(t, err)
		programs = append(programs, program)
	}
	if len(programs) != 2 {
		t.Fatalf("the API has %d rules for ImageDigestFormat, not 2", len(programs))
	}
	return func(s string) bool {
		if n := len([]rune(s)); n < 1 || n > 447 {
			return false
		}
		for _, p := range programs {
			if out, _, err := p.Eval(map[string]any{"self": s}); err != nil || out.Value() != true {
				return false
			}
		}
		return true
	}
}
