package clusterapi

import (
	"testing"

	"github.com/capstan-capi/capstan/phases/engine"
)

// looking is an engine of which nothing is asked but how a revision stands.
type looking struct {
	Engine
	report *engine.Report
}

func (l *looking) Look(*engine.Revision) *engine.Report { return l.report }

func TestRestore_writes_a_current_revision_again_only_while_it_is_applied_as_a_whole(t *testing.T) {
	applied := &engine.Report{Waves: []*engine.Wave{{Objects: []*engine.Object{{Key: manager}}}}}
	for name, row := range map[string]struct {
		report *engine.Report
		known  bool
		want   int
	}{
		"every gate is passed":       {&engine.Report{}, true, 1},
		"its gates are not passed":   {applied, true, 0},
		"its images are not at hand": {&engine.Report{}, false, 0},
	} {
		api := listing(1)
		p := planned(&looking{report: row.report}, api, "")
		p.world.current, api.Status.CurrentRevision = api.Status.CurrentRevision, ""
		if row.known {
			p.current = &engine.Revision{Name: string(p.world.current), Number: 1}
		}
		if got := len(p.restore(api)); got != row.want {
			t.Errorf("%s: %d writes, want %d", name, got, row.want)
		}
	}
}
