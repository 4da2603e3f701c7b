package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/engine"
)

// propertyTime bounds the property test; durationVariable sets another bound, such as 30m.
const (
	propertyTime     = 30 * time.Second
	durationVariable = "CAPSTAN_PROPERTY_TIME"
)

// TestEngine_keeps_its_promises lives through random histories. After each convergence the content is that of the desired
// revision, nothing foreign was touched, no orphan is left, no UID has changed without cause, and no
// definition with instances is gone.
func TestEngine_keeps_its_promises(t *testing.T) {
	if _, err := controlPlane(); err != nil {
		t.Fatal(err)
	}
	bound := propertyTime
	if text := os.Getenv(durationVariable); text != "" {
		var err error
		if bound, err = time.ParseDuration(text); err != nil {
			t.Fatalf("reading %s: %v", durationVariable, err)
		}
	}
	// The time bounds the test, not a count; a history that failed is shrunk all the same.
	if err := flag.Set("rapid.checks", "10000"); err != nil {
		t.Fatal(err)
	}
	deadline, failed, histories := time.Now().Add(bound), false, 0
	rapid.Check(t, func(t *rapid.T) {
		if time.Now().After(deadline) && !failed {
			return
		}
		histories++
		if err := live(t); err != nil {
			failed = true
			t.Fatal(err)
		}
	})
	t.Logf("%d histories", histories)
}

// trial is one history: a world, the engine that is alive in it, and what has to be true of it.
type trial struct {
	*world
	t       *rapid.T
	engine  *running
	weather *weather

	number  int64
	current content          // of the desired revision
	desired *engine.Revision // nil before the first one
	former  *engine.Revision // the last one that was taken to its end, nil before
	past    []content        // of all that were taken to their ends
	begun   map[string]bool  // slots of all revisions since then, and of that one
	touched map[string]bool  // slots that something has happened to
	memory  memory
}

// live draws and lives one history.
func live(t *rapid.T) (failed error) {
	ctx := context.Background()
	w, err := newWorld(ctx, fmt.Sprintf("w%d-", worlds.Add(1)))
	if err != nil {
		return err
	}
	l := &trial{world: w, t: t, current: content{}, begun: map[string]bool{}, touched: map[string]bool{}, memory: newMemory()}
	if err := l.restart(); err != nil {
		return err
	}
	defer func() {
		l.engine.stop()
		failed = errors.Join(failed, w.remove(ctx))
	}()
	if err := l.memory.bystanders(ctx, w); err != nil {
		return err
	}
	rounds := rapid.IntRange(2, 6).Draw(t, "rounds")
	for round := range rounds {
		t.Logf("round %d", round)
		if err := l.round(ctx, round == rounds-1); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

// round lets hands and releases change something, converges in the weather of the day, and looks at what came of it.
// A release that is not of the last round may also get no further than its beginning.
func (l *trial) round(ctx context.Context, last bool) error {
	for range rapid.IntRange(0, 3).Draw(l.t, "deeds") {
		if err := l.deed(ctx); err != nil {
			return err
		}
	}
	if rapid.IntRange(0, 5).Draw(l.t, "restart") == 0 || l.memory.contested() {
		l.t.Log("restart")
		l.engine.stop()
		if err := l.restart(); err != nil {
			return err
		}
	}
	// What was taken away matters most to a release, because otherwise it is only in the way.
	released := l.desired == nil || rapid.IntRange(0, 2).Draw(l.t, "release") > 0 || l.memory.inTheWay(l.current) != nil && rapid.Bool().Draw(l.t, "yet")
	if released {
		l.release()
	}
	faults := drawFaults(l.t)
	l.t.Logf("weather %v", faults)
	if released && !last && rapid.Bool().Draw(l.t, "overtaken") {
		return l.begin(ctx, faults)
	}
	return l.converge(ctx, faults)
}

// restart puts another engine into the place of the one before, which has ended.
func (l *trial) restart() (err error) {
	l.weather = &weather{}
	l.memory.repairs = map[string]int{}
	l.engine, err = l.launch(func(c *engine.Config) {
		c.REST.Wrap(insist)
		c.REST.Wrap(l.weather.wrap)
	})
	return err
}

// release draws the next revision.
func (l *trial) release() {
	l.number++
	l.current = l.drawNext()
	l.desired = l.current.revision(l.world, l.number)
	for name := range l.current {
		l.begun[name] = true
	}
	l.t.Logf("release %d: %s", l.number, l.current)
}

// converge goes to the end: everything applied, pruned and forgotten. Objects in the way are removed by hand, once it
// was seen that they collide and that nothing of the former revision was removed.
func (l *trial) converge(ctx context.Context, faults map[int]fault) error {
	for name := range l.begun {
		if _, kept := l.current[name]; !kept {
			l.memory.drop(name)
		}
	}
	if len(faults) > 0 {
		if err := l.suffer(ctx, faults, l.attempt); err != nil {
			return err
		}
	}
	if err := l.explain(ctx); err != nil {
		return err
	}
	if l.memory.inTheWay(l.current) != nil {
		if _, err := l.engine.take(ctx, l.desired, collided); err != nil {
			return err
		}
		if err := l.memory.check(ctx, l.world); err != nil {
			return fmt.Errorf("in a collision: %w", err)
		}
		if err := l.removeObstacles(ctx); err != nil {
			return err
		}
	}
	return l.settle(ctx)
}

// settle goes to the end and looks at what came of it; again, for as long as it takes the watches to tell of a deed.
func (l *trial) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience/3)
	defer cancel()
	for {
		changed := l.engine.change()
		report, err := l.engine.finish(ctx, l.desired)
		if err != nil {
			return err
		}
		if err = l.memory.judge(ctx, l.world, report); err == nil {
			err = l.check(ctx)
		}
		if err == nil {
			l.settled()
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-changed:
		}
	}
}

// attempt goes as far as it can.
func (l *trial) attempt(ctx context.Context) (err error) {
	if l.memory.inTheWay(l.current) == nil {
		_, err = l.engine.finish(ctx, l.desired)
	} else {
		_, err = l.engine.take(ctx, l.desired, collided)
	}
	return err
}

// suffer does something in bad weather. What fails is tried again later, by the same engine, or by another one if it died
// of it.
func (l *trial) suffer(ctx context.Context, faults map[int]fault, what func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	l.weather.change(faults, cancel)
	if err := what(ctx); err != nil {
		l.t.Log("bad weather: ", err)
	}
	if !l.weather.change(nil, nil) {
		return nil
	}
	l.t.Log("died")
	l.engine.stop()
	return l.restart()
}

// settled books that the desired revision was taken to its end.
func (l *trial) settled() {
	l.former, l.begun = l.desired, map[string]bool{}
	l.past = append(l.past, l.current)
	for name := range l.current {
		l.begun[name] = true
	}
	maps.DeleteFunc(l.touched, func(name string, _ bool) bool {
		return !l.begun[name] || !l.memory.full(l.world, name) && !l.memory.obstacle[name]
	})
}

// collided is the question whether a revision is taken as far as the first collision lets it.
func collided(report *engine.Report) error {
	for _, wave := range report.Waves {
		found := 0
		for _, o := range wave.Objects {
			switch {
			case o.Action == engine.Collision:
				found++
			case !o.Complete():
				return errors.New(report.String())
			}
		}
		if found > 0 {
			return nil
		}
	}
	return errors.New("nothing collides: " + report.String())
}

// check asks all invariants of what is there now, and that being right costs no request.
func (l *trial) check(ctx context.Context) error {
	l.weather.change(nil, nil)
	report, err := l.engine.Reconcile(ctx, l.desired)
	if err != nil {
		return err
	}
	if sent := l.weather.writes(); !report.Complete() || sent > 0 {
		return fmt.Errorf("not at rest, %d writes: %s", sent, report)
	}
	if err := l.memory.check(ctx, l.world); err != nil {
		return err
	}
	return l.memory.converged(ctx, l.world, l.current, l.number)
}
