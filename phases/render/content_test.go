package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var update = flag.Bool("update", false, "write testdata/golden; look at what changed before you commit it")

func TestName_cuts_the_release_and_never_the_suffix(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	long := strings.Repeat("4", 300)
	for _, c := range []struct {
		release string
		number  int64
		want    string
	}{
		{"4.22.5", 1, "4.22.5-01234567-1"},
		{"", 3, "-01234567-3"},
		{long, 7, long[:255-11] + "-01234567-7"},
		{long[:244], 7, long[:244] + "-01234567-7"},
		{long, 9007199254740991, long[:255-26] + "-01234567-9007199254740991"},
		{strings.Repeat("é", 150), 7, strings.Repeat("é", 122) + "-01234567-7"},
		{strings.Repeat("é", 150), 77, strings.Repeat("é", 121) + "-01234567-77"},
	} {
		got := Name(c.release, id, c.number)
		if got != c.want || len(got) > 255 || !utf8.ValidString(got) {
			t.Errorf("%s, %d: want %s, got %s of %d bytes", c.release, c.number, c.want, got, len(got))
		}
	}
	if got := Name("4.22", "abc", 1); got != "4.22-abc-1" {
		t.Errorf("a short content ID is used whole, got %s", got)
	}
}

func TestCanonicalJSON_is_sorted_dense_and_escapes_only_what_JSON_demands(t *testing.T) {
	value := map[string]any{
		"b": []any{int64(1), int64(-9223372036854775808), 1.5, 1e30, 1e-7, true, false, nil, map[string]any{}, []any{}},
		"a": "<a href=\"x\">&\\/\u2028\x00\x1f\n\t\r\b\f\u007fé€😀",
		"B": "", "": "empty", "ü": "last", "a.b": map[string]any{"z": int64(0), "y": ""},
	}
	want := `{"":"empty","B":"","a":"<a href=\"x\">&\\/` + "\u2028" + `\u0000\u001f\n\t\r\b\f` + "\u007fé€😀" +
		`","a.b":{"y":"","z":0},"b":[1,-9223372036854775808,1.5,1e+30,1e-7,true,false,null,{},[]],"ü":"last"}`
	got := string(appendJSON(nil, value))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
}

// TestGolden pins content IDs. They are named in the status of clusters: one
// that changes for the same input makes every cluster roll out a revision.
func TestGolden_content_IDs_never_change(t *testing.T) {
	in := Input{
		Profiles: testdata(t, "vsphere", "aws", "core"), Platform: "AWS",
		Substitutions: map[string]string{
			"TLS_MIN_VERSION": "VersionTLS12", "EXP_BOOTSTRAP_FORMAT_IGNITION": "true",
			"AWS_B64ENCODED_CREDENTIALS": "", "AWS_CONTROLLER_IAM_ROLE": "arn:aws:iam::1:role/r", "ODD": "a\"b\n<c>",
		},
		Unmanaged: []string{"machines.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "machines.cluster.x-k8s.io"},
		Namespace: "openshift-cluster-api",
	}
	rev := mustRender(t, in)
	var text strings.Builder
	for _, c := range rev.Components {
		hash := sha256.New()
		for _, o := range c.Objects {
			if _, derived := Derived(o.GetName()); derived {
				continue
			}
			line := append(appendJSON(nil, o.Object), '\n')
			text.Write(line)
			hash.Write(line)
		}
		if want := hex.EncodeToString(hash.Sum(nil)); c.ContentID != want {
			t.Errorf("component %s: want the SHA-256 of its lines, %s, got %s", c.Name, want, c.ContentID)
		}
	}
	text.WriteString("---\n")
	for _, c := range rev.Components {
		text.WriteString("component " + c.ContentID + "\n")
	}
	for _, s := range rev.Substitutions {
		text.WriteString("substitution " + string(appendJSONString(nil, s.Key)) + " " + string(appendJSONString(nil, s.Value)) + "\n")
	}
	for _, name := range rev.Unmanaged {
		text.WriteString("unmanaged \"" + name + "\"\n")
	}
	shapes, objects := derivedOf(rev)
	for _, o := range append(shapes, objects...) { // there is one of each
		text.WriteString("requirement " + profileID([]*unstructured.Unstructured{o}) + "\n")
	}
	_, lines, _ := strings.Cut(text.String(), "---\n")
	sum := sha256.Sum256([]byte(lines))
	if want := hex.EncodeToString(sum[:]); rev.ContentID != want {
		t.Errorf("revision: want the SHA-256 of its lines, %s, got %s", want, rev.ContentID)
	}
	text.WriteString("---\nrevision " + rev.ContentID + "\n")

	const golden = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Error(diff)
	}
	if want := "304718062c4c67ec047c33ee8683654433a9332ec722b6222dfaf9519567b163"; rev.ContentID != want {
		t.Errorf("want content ID %s, got %s", want, rev.ContentID)
	}
}
