package privatecapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

func TestMigration_leaves_what_was_restored_from_a_backup_without_a_mark_to_the_old_operator(t *testing.T) {
	p := newPlay(t)
	p.Pass(time.Hour)
	key := p.AddNamed("clusters", "a", map[string]any{guards.RestoredAnnotation: "", guards.PausedAnnotation: "true"}) // it comes before what belongs to it
	p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
	p.Restore(key)
	if !p.Legacy(key) {
		t.Errorf("marks %v", p.Annotations(key))
	}
}

func TestMigration_finds_standard_objects_that_come_after_the_mark_of_private_types(t *testing.T) {
	p := newPlay(t)
	p.Pass(time.Hour)
	key := p.AddEmpty("a")
	p.Annotate(key, guards.PausedAnnotation, "true")
	p.until("private", time.Minute, p.rests(key, guards.Private))
	p.Restore(key)
	p.until("eligible", time.Hour, func() bool {
		p.Pass(30 * time.Second)
		return p.State(key) == guards.Eligible
	})
	if !p.Legacy(key) {
		t.Errorf("marks %v", p.Annotations(key))
	}
}

func TestMigration_counts_at_rest_only_now_and_then(t *testing.T) {
	p := newPlay(t)
	p.Pass(time.Hour)
	key := p.AddBare("a")
	p.until("private", time.Minute, p.rests(key, guards.Private))
	listed := p.Listed("machines")
	const hour = 3600
	for range hour {
		p.round()
	}
	if n := p.Listed("machines") - listed; n < 4 || n > 8 {
		t.Errorf("Machines were listed %d times in an hour", n)
	}
}

func TestMigration_tells_at_rest_of_a_component_whose_proxy_is_a_former_one(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	lasts := func() {
		for range 30 {
			p.Pass(30 * time.Second)
			p.Outdate(key, "capi-provider") // the operator of this world puts it right at once
			p.round()
		}
	}
	if lasts(); len(p.ToldTexts("ProxyOutdated")) == 0 || !strings.Contains(p.ToldTexts("ProxyOutdated")[0], "capi-provider") {
		t.Errorf("it tells %v", p.Told())
	}
}
