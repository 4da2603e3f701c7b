package steered

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

type clocks struct{ wall, steady clock.WithTicker }

// steered are clocks that follow a file, and what writes the file.
func steered(t *testing.T) (clocks, func(offset string)) {
	file := filepath.Join(t.TempDir(), "offset")
	write := func(offset string) {
		if err := os.WriteFile(file+".new", []byte(offset), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("0s")
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	wall, steady, err := Clocks(file, stop)
	if err != nil {
		t.Fatal(err)
	}
	return clocks{wall: wall, steady: steady}, write
}

func arrives(t *testing.T, what string, c <-chan time.Time) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not fire", what)
	}
}

func TestASteeredClockFiresWhatIsDueWhenItJumpsAhead(t *testing.T) {
	c, write := steered(t)
	timer, ticker, late := c.wall.NewTimer(5*time.Minute), c.steady.NewTicker(4*time.Minute), c.wall.NewTimer(10*time.Minute)
	defer ticker.Stop()
	stopped := c.wall.NewTimer(time.Minute)
	if !stopped.Stop() {
		t.Error("a timer that runs says that it does not")
	}
	before := c.wall.Now()
	write("5m1s")
	arrives(t, "the timer", timer.C())
	arrives(t, "the ticker", ticker.C())
	if passed := c.wall.Since(before); passed < 5*time.Minute || passed > 6*time.Minute {
		t.Errorf("after a jump by 5m1s %s have passed", passed)
	}
	for name, c := range map[string]<-chan time.Time{"that is not due": late.C(), "that was stopped": stopped.C()} {
		select {
		case <-c:
			t.Errorf("a timer %s fired", name)
		default:
		}
	}
	if timer.Reset(time.Minute) {
		t.Error("a timer that has fired says that it ran")
	}
	write("6m2s")
	arrives(t, "the timer that was set again", timer.C())
}

func TestASteeredClockThatIsSetBackDelaysNoTimer(t *testing.T) {
	c, write := steered(t)
	timer, before, steady := c.wall.NewTimer(100*time.Millisecond), c.wall.Now(), c.steady.Now()
	write("-1h")
	for c.wall.Now().After(before) {
		runtime.Gosched()
	}
	arrives(t, "the timer", timer.C())
	if passed := c.steady.Since(steady); passed < 0 || passed > time.Minute {
		t.Errorf("of the steady clock %s have passed", passed)
	}
	hour := c.wall.NewTimer(time.Hour)
	write("0s") // what was set back and forward again is an hour that has passed for timers
	arrives(t, "the timer of an hour", hour.C())
}

func TestASteeredClockNeedsItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "offset")
	if _, _, err := Clocks(file, nil); err == nil {
		t.Error("a file that does not exist is accepted")
	}
	if err := os.WriteFile(file, []byte("soon"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Clocks(file, nil); err == nil {
		t.Error("a file without a duration is accepted")
	}
}
