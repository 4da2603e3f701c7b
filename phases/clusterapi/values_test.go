package clusterapi

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/render"
)

func TestBoundValues_let_through_what_a_cluster_gives_and_no_piece_of_a_manifest(t *testing.T) {
	if err := boundValues(render.ClusterSubstitutions(nil, "mine-7x2k9")); err != nil {
		t.Error(err)
	}
	for _, value := range []string{"VersionTLS12\nowner: evil", "VersionTLS12\"", "a: b", "a #", "{a}", "é", "a\u2028b", "\x00"} {
		if err := boundValues(map[string]string{"TLS_MIN_VERSION": value}); !machine.IsTerminal(err) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
