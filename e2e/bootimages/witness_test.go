package bootimages_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// writes are what the operator has sent since the mark that could have changed boot images, stubs or clones, refused or not.
func (s *stage) writes(ctx context.Context) cluster.RequestList {
	GinkgoHelper()
	requests, err := env.Cluster.RequestsSince(ctx, s.from)
	Expect(err).NotTo(HaveOccurred())
	return bootworld.Writes(requests)
}

// writesOf are those of an object.
func (s *stage) writesOf(ctx context.Context, o *object) cluster.RequestList {
	GinkgoHelper()
	return bootworld.WritesOf(s.writes(ctx), o)
}

// writtenOnce expects exactly one write of an object, which was taken; of a target it is a patch.
func (s *stage) writtenOnce(ctx context.Context, o *object) {
	GinkgoHelper()
	var writes cluster.RequestList
	// A watch may show a write before its answer is logged.
	Eventually(ctx, func() int { writes = s.writesOf(ctx, o); return len(writes) }).WithTimeout(patience).Should(BeNumerically(">", 0))
	Expect(writes).To(HaveLen(1), writes.String())
	if o.GetKind() != "Secret" {
		Expect(writes[0].Verb).To(Equal("patch"))
	}
	Expect(writes[0].Code).To(Equal(200))
}

// nothingWritten expects no write of boot images at all.
func (s *stage) nothingWritten(ctx context.Context) {
	GinkgoHelper()
	writes := s.writes(ctx)
	Expect(writes).To(BeEmpty(), writes.String())
}

// targets waits until so many targets are in a state.
func (s *stage) targets(ctx context.Context, state string, count int) {
	GinkgoHelper()
	s.counts(ctx, "capstan_boot_image_targets", count, fmt.Sprintf("state=%q", state))
}

// counts waits until the samples of a metric that have these labels add up to a number.
func (s *stage) counts(ctx context.Context, name string, number int, labels ...string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s%q to be %d", name, labels, number), func(ctx context.Context) error {
		text, err := s.metrics.Text(ctx)
		if err != nil {
			return err
		}
		sum, told := sumOf(text, name, labels)
		return unless(int(sum) == number, "it is %v: %s", sum, told)
	})
}

// sumOf adds up samples, and tells all of the metric.
func sumOf(text, name string, labels []string) (sum float64, told string) {
lines:
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		told += line
		for _, label := range labels {
			if !strings.Contains(line, label) {
				continue lines
			}
		}
		var value float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value); err == nil {
			sum += value
		}
	}
	return sum, told
}

// config is the MachineConfiguration as it is now.
func config(ctx context.Context) (*operatorv1.MachineConfiguration, error) {
	return inEnv().Config(ctx)
}

// inEnv is the suite's cluster, of whatever release.
func inEnv() *bootworld.Cluster { return &bootworld.Cluster{Environment: env} }

// told waits until the MachineConfiguration has a condition with texts in its message.
func told(ctx context.Context, kind, is string, texts ...string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s=%s %q", kind, is, texts), func(ctx context.Context) error {
		now, err := config(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(now.Status.Conditions, kind)
		if c == nil || string(c.Status) != is {
			return fmt.Errorf("it is %v", c)
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return fmt.Errorf("it says %s", c.Message)
			}
		}
		return nil
	})
}

// The conditions of the MachineConfiguration.
const (
	updateDegraded = "BootImageUpdateDegraded"
	updateSkipped  = "BootImageUpdateSkipped"
)

// operatorTells waits until the ClusterOperator has a condition of boot images.
func operatorTells(ctx context.Context, kind, is, reason string, texts ...string) {
	GinkgoHelper()
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := env.Until(bounded, kind+" to be "+is, harness.Says("BootImagesController"+kind, is, reason, texts...))
	Expect(err).NotTo(HaveOccurred())
}

// gate waits until the stored state of the gate is this one.
func gate(ctx context.Context, state string) {
	GinkgoHelper()
	eventually(ctx, "the gate to be "+state, func(ctx context.Context) error {
		is, err := inEnv().Gate(ctx)
		if err != nil {
			return err
		}
		return unless(is.State == state, "it is %q: %s", is.State, is.Reason)
	})
}

// known waits until the operator has noted that an image was golden, which it does once the gate is open for it.
func known(ctx context.Context, image string) {
	GinkgoHelper()
	eventually(ctx, image+" to be known", func(ctx context.Context) error { return inEnv().Known(ctx, image) })
}

// eventOn waits until an Event on an object has a text.
func eventOn(ctx context.Context, o *object, text string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("an Event with %q", text), func(ctx context.Context) error {
		events := &corev1.EventList{}
		if err := env.Client.List(ctx, events); err != nil {
			return err
		}
		var others []string
		for _, e := range events.Items {
			// Those of other specs stay for an hour.
			if e.InvolvedObject.UID == o.GetUID() {
				others = append(others, e.Reason+": "+e.Message)
			}
		}
		slices.Reverse(others) // the one that came last says most
		return unless(strings.Contains(strings.Join(others, "\n"), text), "there are %q", others)
	})
}
