package names

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

func TestSubdomain(t *testing.T) {
	for _, row := range []struct {
		text  string
		bytes int
		want  string
	}{
		{"worker-0.example.com", 253, "worker-0.example.com"},
		{"system:masters", 253, "system-masters"},
		{"Capitals_and_more", 253, "capitals-and-more"},
		{"a..b.-c-.", 253, "a.b.c"},
		{"cut-at.the-dot", 7, "cut-at"},
		{"cut-at-the-dash", 4, "cut"},
		{"ümlaut", 253, "mlaut"},
		{":::", 253, ""},
		{"", 253, ""},
		{"anything", -1, ""},
	} {
		if got := Subdomain(row.text, row.bytes); got != row.want {
			t.Errorf("Subdomain(%q, %d) is %q, not %q", row.text, row.bytes, got, row.want)
		}
	}
}

func TestSubdomain_is_always_valid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c.:-]*`)).Draw(rt, "text")
		bytes := rapid.IntRange(0, 253).Draw(rt, "bytes")
		got := Subdomain(text, bytes)
		if len(got) > bytes {
			rt.Fatalf("%q is too long", got)
		}
		if causes := validation.IsDNS1123Subdomain(got); got != "" && len(causes) > 0 {
			rt.Fatalf("%q: %v", got, causes)
		}
		if len(validation.IsDNS1123Subdomain(text)) == 0 && len(text) <= bytes && got != text {
			rt.Fatalf("%q is valid and became %q", text, got)
		}
	})
}
