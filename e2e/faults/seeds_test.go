package faults_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// seed is what a soak's trouble is drawn from. A busy one is soaked while other
// work takes half of the processor.
type seed struct {
	number uint64
	busy   bool
}

const (
	anySeed  = "random"
	busySeed = "/busy"
)

func (s seed) String() string {
	if s.busy {
		return fmt.Sprint(s.number, busySeed)
	}
	return fmt.Sprint(s.number)
}

// seedList is the flag: numbers or the word random, each with /busy after it for a busy one.
type seedList struct{ list []seed }

func (l *seedList) String() string {
	words := make([]string, 0, len(l.list))
	for _, s := range l.list {
		words = append(words, s.String())
	}
	return strings.Join(words, ",")
}

func (l *seedList) Set(text string) error {
	l.list = nil
	for word := range strings.SplitSeq(text, ",") {
		word, busy := strings.CutSuffix(strings.TrimSpace(word), busySeed)
		s := seed{number: uint64(rand.Uint32()), busy: busy} //nolint:gosec // Not secret, and easily given again.
		if word != anySeed {
			var err error
			if s.number, err = strconv.ParseUint(word, 10, 64); err != nil {
				return fmt.Errorf("%q is neither a number nor %s: %w", word, anySeed, err)
			}
		}
		l.list = append(l.list, s)
	}
	return nil
}

// seedFlag is a flag that is one seed at random unless others are given.
func seedFlag(name, usage string) *seedList {
	l := &seedList{list: []seed{{number: uint64(rand.Uint32())}}} //nolint:gosec // As in Set.
	flag.Var(l, name, usage)
	return l
}

func TestSeedsCanBeGivenAgain(t *testing.T) {
	var first, again seedList
	if err := first.Set("random, 7,random/busy"); err != nil {
		t.Fatal(err)
	}
	if err := again.Set(first.String()); err != nil || !slices.Equal(again.list, first.list) {
		t.Errorf("%v comes back as %v: %v", first.list, again.list, err)
	}
	if list := first.list; len(list) != 3 || list[1] != (seed{number: 7}) || list[0].busy || !list[2].busy {
		t.Errorf("the seeds are %v", list)
	}
	for _, bad := range []string{"", "seven", "7/lazy", "-1"} {
		if err := again.Set(bad); err == nil {
			t.Errorf("%q is taken for seeds", bad)
		}
	}
}

// TestMain is also the other work: this program with a time to be busy for.
func TestMain(m *testing.M) {
	if work, is := os.LookupEnv(otherWork); is {
		long, err := time.ParseDuration(work)
		if err != nil {
			panic(err)
		}
		runtime.GOMAXPROCS(1)
		end := time.Now().Add(long)
		for rounds := 0; time.Now().Before(end); rounds++ {
			_ = rounds // the work is to be busy
		}
		return
	}
	os.Exit(m.Run())
}

// otherWork is the variable of the environment that makes this program nothing but busy.
const otherWork = "CAPSTAN_TEST_BUSY_FOR"

// occupy keeps each core busy with another process for a while, at the same
// niceness, and returns what ends that before its time.
func occupy(long time.Duration) (end func()) {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	var all []interface{ Kill() }
	for core := range runtime.NumCPU() {
		work, err := env.Cluster.Spawn("other work", filepath.Join(env.Cluster.Dir(), fmt.Sprintf("other-work-%d.log", core)), "env", otherWork+"="+long.String(), self)
		Expect(err).NotTo(HaveOccurred())
		all = append(all, work)
	}
	GinkgoWriter.Printf("%d processes of other work for %s\n", len(all), long)
	return func() {
		for _, work := range all {
			work.Kill()
		}
	}
}
