package images

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// It may be a host that only the cluster reaches, and whoever runs the registry may read conditions.
func TestPuller_tells_nothing_of_what_a_host_has_that_a_registry_sends_on_to(t *testing.T) {
	for name, other := range map[string]string{
		"other bytes":       "12 bytes now",
		"more than it said": strings.Repeat("x", 1<<20),
	} {
		for _, at := range []string{"/blobs/", "/manifests/"} {
			t.Run(name+" for "+at, func(t *testing.T) {
				r, ref, transport := secureRegistry(t)
				r.breaks(at, func(w http.ResponseWriter, q *http.Request) {
					if q.Host == "inner.example.com" {
						answers(200, other)(w, q)
						return
					}
					http.Redirect(w, q, "https://inner.example.com"+q.URL.Path+"?signature=hidden", http.StatusTemporaryRedirect)
				})
				p := runPuller(t, Options{Transport: transport})
				p.Want([]Ref{ref})
				_, err := p.failed(ref)
				length := regexp.MustCompile(`\d+ bytes`)
				contains(t, err, "registry example.com", "inner.example.com", "are not the right bytes")
				if err.Kind != KindDigest || strings.Contains(err.Error(), "hidden") || length.MatchString(err.Error()) ||
					strings.Count(err.Error(), "sha256:") != 2 {
					t.Errorf("it is of kind %s and says %v", err.Kind, err)
				}
			})
		}
	}
}
