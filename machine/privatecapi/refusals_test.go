package privatecapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

func TestMigration_tells_that_private_types_in_use_are_not_switched_off_by_the_flag(t *testing.T) {
	p, moved := waits(t)
	p.begin(moved)
	p.until("moved", 5*time.Minute, p.rests(moved, guards.Private))
	other := p.AddHosted("b", 1)
	p.Annotate(other, guards.PausedAnnotation, "true")
	p.Given("", "4.22.0")
	p.restart()
	p.machine.Store = p.TellingStore()
	p.until("eligible", time.Minute, p.rests(other, guards.Eligible))
	const says = "private types cannot be switched off while they are in use by 1 HostedCluster"
	p.until("told", time.Minute, func() bool { return strings.Contains(p.said(moved), says) && strings.Contains(p.said(other), says) })
	if texts := p.ToldTexts("SwitchingOffRefused"); len(texts) == 0 || !strings.Contains(texts[0], "--private-capi-image again") {
		t.Errorf("Events %q", texts)
	}
	told := len(p.ToldTexts("SwitchingOffRefused"))
	p.refuses(other, "no image with the proxy is known")
	if again := len(p.ToldTexts("SwitchingOffRefused")); again != told {
		t.Errorf("it is told %d times, and then %d", told, again)
	}
	p.Annotate(moved, guards.RevertAnnotation, "true")
	p.until("moved back", 5*time.Minute, p.rests(moved, guards.Failed))
	p.until("not told any more", time.Minute, func() bool { return !strings.Contains(p.said(moved), says) })
}

func TestMigration_begins_with_no_image_that_may_be_another_tomorrow_and_goes_on_with_one(t *testing.T) {
	const byTag = "registry.example/capstan:1"
	p, key := waits(t)
	p.Given(byTag, "4.22.0")
	p.restart()
	p.refuses(key, "is by tag (1), which may name another image tomorrow")
	p.Given(simulated.Image, "4.22.0")
	p.restart()
	p.until("draining", 5*time.Minute, p.reaches(key, guards.Draining))
	p.Given(byTag, "4.22.0")
	p.restart()
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
}

func TestMigration_gives_nobody_to_the_old_operator_because_the_programme_is_gone(t *testing.T) {
	p, moved := waits(t)
	p.begin(moved)
	p.until("moved", 5*time.Minute, p.rests(moved, guards.Private))
	p.machine.Store = p.TellingStore()
	p.DropProgramme()
	fresh := p.AddEmpty("b")
	const says = "create ConfigMap capstan-private-capi again"
	p.until("told", time.Minute, func() bool { return strings.Contains(p.said(fresh), says) && strings.Contains(p.said(moved), says) })
	p.stays(fresh, guards.Classifying, time.Minute)
	if scope := p.Annotations(fresh)[guards.ScopeAnnotation]; scope != "" {
		t.Errorf("it has scope %s", scope)
	}
}

func TestMigration_by_an_older_operator_than_one_that_has_moved_is_refused_while_private_types_are_in_use(t *testing.T) {
	p, moved := waits(t)
	p.begin(moved)
	p.until("moved", 5*time.Minute, p.rests(moved, guards.Private))
	other := p.AddHosted("b", 1)
	p.Annotate(other, guards.PausedAnnotation, "true")
	p.until("eligible", time.Minute, p.rests(other, guards.Eligible))
	p.Given(simulated.Image, "4.21.9")
	p.restart()
	p.refuses(other, "release 4.21.9 of this operator is older than 4.22.0")
	p.Given(simulated.Image, "4.22.1")
	p.restart()
	p.until("moved", 5*time.Minute, p.rests(other, guards.Private))
}

func TestMigration_under_way_without_an_image_is_undone(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("copying", 5*time.Minute, p.reaches(key, guards.Copying))
	p.Given("", "4.22.0")
	p.restart()
	p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
	p.isBack(key, was, guards.WorkloadUpdateFailed)
	if slices.Contains(p.visited[key], guards.Starting) {
		t.Errorf("states %v", p.visited[key])
	}
}
