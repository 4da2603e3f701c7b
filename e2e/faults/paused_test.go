package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// pauses is how long a pause of the matrix lasts, by the operator's clock.
const pauses = 30 * time.Minute

// asked is told of an input that is followed after the end of a pause.
const asked = "the inputs ask for content"

// pauseAndAsk pauses what is installed, and then asks for the release of the two that is not.
func pauseAndAsk(ctx context.Context) {
	GinkgoHelper()
	pause(ctx)
	askForTheOther(ctx)
}

// pause pauses, and waits until that is told.
func pause(ctx context.Context) {
	GinkgoHelper()
	Expect(harness.Pause(ctx, env.Client, env.Now(), pauses)).To(Succeed())
	until(ctx, "it to be paused", harness.InState(harness.Paused))
}

// askForTheOther asks for the release of the two that is not installed.
func askForTheOther(ctx context.Context) {
	GinkgoHelper()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	otherImage = one
	if imageOf(v) == one {
		otherImage = two
	}
	Expect(env.SetImages(ctx, images(otherImage))).To(Succeed())
}

// otherImage is that which was asked for in a pause.
var otherImage string

// imageOf is the image of the current revision, empty for none.
func imageOf(v harness.View) string {
	if current := v.Revision(v.Current()); current != nil && len(current.Components) > 0 {
		return string(current.Components[0].Image.Ref)
	}
	return ""
}

// resume ends the pause, and waits until what was asked for in it is installed.
func resume(ctx context.Context) {
	GinkgoHelper()
	Expect(harness.Resume(ctx, env.Client)).To(Succeed())
	settle(ctx)
	until(ctx, "what was asked for in the pause to be installed", finished, func(v harness.View) error {
		if have := imageOf(v); have != otherImage {
			return fmt.Errorf("%s is installed", have)
		}
		return nil
	})
}

// in is what is expected of a fault in a state. Where nothing is written, nothing is put right before the state is left.
func (f fault) in(s *stage) expectation {
	e := f.expect(s)
	if s.quiet && e.to == "" {
		e.mended, e.blocked = false, false
	}
	return e
}

// repaired waits until what was edited is put right, or told where nothing is written.
func (c *cell) repaired(ctx context.Context) {
	GinkgoHelper()
	if c.quiet {
		until(ctx, "what was edited to be told", mentions(target))
		return
	}
	eventually(ctx, "the edited object to be put right", isRight)
}

// restored waits until the operator has restored something, where nothing is written once the state was left.
func (c *cell) restored(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	if c.quiet {
		c.afterwards = append(c.afterwards, func() { eventually(ctx, what, attempt) })
		return
	}
	eventually(ctx, what, attempt)
}

// healsAfterwards sees that what differs is told, that nothing was written but what is told, and that all of it is done once the
// state is left.
func (c *cell) healsAfterwards(ctx context.Context) {
	GinkgoHelper()
	until(ctx, "the state to be as before the fault", isAt(c.stage))
	next()
	edit(ctx)
	until(ctx, "what was edited to be told", mentions(target), isAt(c.stage))
	wroteOnlyItsReport(ctx, c.since)
	c.leave(ctx)
	for _, see := range c.afterwards {
		see()
	}
	eventually(ctx, "all to be done that was not while nothing was written", func(ctx context.Context) error {
		now, err := env.State(ctx)
		if err != nil {
			return err
		}
		problems := []error{c.same(now)}
		for i := range targets {
			problems = append(problems, hasSetting(ctx, fmt.Sprintf("edited-%d", i), "right"))
		}
		return errors.Join(problems...)
	})
}

// mark remembers this moment of the audit log.
func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	m, err := env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// wroteOnlyItsReport says that operators have written and tried nothing since a mark but what they tell, and their Leases.
func wroteOnlyItsReport(ctx context.Context, since cluster.Mark) {
	GinkgoHelper()
	all, err := env.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	for _, r := range all.By(harness.UserAgent) {
		told := r.Resource == "clusteroperators" || r.Resource == "events" || r.Resource == "leases" ||
			r.Resource == "configmaps" && (r.Name == "capstan-recorder" || r.Name == "capstan-history")
		Expect((r.IsWrite() || r.DryRun) && !told).To(BeFalse(), r.String())
	}
}
