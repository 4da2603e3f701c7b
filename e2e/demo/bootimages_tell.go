package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// moved is the report of what was seen.
type moved struct {
	Waves []wave `json:"waves"`
	// Attempts are how often the image was written that somebody kept changing back, and LastWriter is who did.
	Attempts   int    `json:"attempts"`
	LastWriter string `json:"lastWriter"`
	// Retired are the clones that went.
	Retired int `json:"retired"`
	// Recorded are the releases of the oldest boot image, in the order in which they were recorded.
	Recorded []string `json:"recorded"`
}

// account tells all that Capstan says of boot images.
func (m *moving) account(ctx context.Context) error {
	m.display.say("\nWhat MachineConfiguration %s says", harness.Singleton)
	for _, kind := range []string{"Progressing", "Degraded", "Skipped"} {
		if _, err := m.tellCondition(ctx, kind); err != nil {
			return err
		}
	}
	if err := m.tellRecorded(ctx, bootworld.Installed); err != nil {
		return err
	}
	if err := m.tellUpgradeable(ctx, configv1.ConditionTrue); err != nil {
		return err
	}
	arguments := []string{"status", "--machine", "bootgate"}
	m.display.say("\n$ capstan %s", strings.Join(arguments, " "))
	command := exec.CommandContext(ctx, filepath.Join(m.bin, "capstan"), append(arguments, "--kubeconfig", m.stage.Cluster.Kubeconfig())...)
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("running capstan %s: %w: %s", strings.Join(arguments, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	m.display.say("%s", bytes.TrimSpace(text))
	return nil
}

// tellStub tells of which version the stub in a Secret is.
func (m *moving) tellStub(ctx context.Context, secret *bootworld.Object) error {
	version, err := m.world.IgnitionOf(ctx, secret)
	if err == nil {
		m.display.step("Secret %s/%s has a stub of Ignition's spec %s", secret.GetNamespace(), secret.GetName(), version)
	}
	return err
}

// tellGate waits until the gate is in a state, and tells it.
func (m *moving) tellGate(ctx context.Context, state string) error {
	var is bootworld.Gate
	err := m.soon(ctx, "the gate to be "+state, func(ctx context.Context) (err error) {
		if is, err = m.world.Gate(ctx); err != nil {
			return err
		}
		return unless(is.State == state, fmt.Sprintf("it is %q: %s", is.State, is.Reason))
	})
	if err == nil {
		m.display.step("the gate is %s%s", is.State, because(is.Reason))
	}
	return err
}

// tellCondition tells a condition of the MachineConfiguration.
func (m *moving) tellCondition(ctx context.Context, kind string) (metav1.Condition, error) {
	c, err := m.condition(ctx, kind)
	if err == nil {
		m.display.step("%s=%s (%s)%s", c.Type, c.Status, c.Reason, because(c.Message))
	}
	return c, err
}

// awaitCondition waits until a condition of the MachineConfiguration has a status, and tells it.
func (m *moving) awaitCondition(ctx context.Context, kind string, status metav1.ConditionStatus) (metav1.Condition, error) {
	err := m.soon(ctx, fmt.Sprintf("%s to be %s", kind, status), func(ctx context.Context) error {
		c, err := m.condition(ctx, kind)
		if err != nil {
			return err
		}
		return unless(c.Status == status, fmt.Sprintf("it is %s: %s", c.Status, c.Message))
	})
	if err != nil {
		return metav1.Condition{}, err
	}
	return m.tellCondition(ctx, kind)
}

// tellRecorded waits until a release is recorded as that of the oldest boot image, and tells it.
func (m *moving) tellRecorded(ctx context.Context, release string) error {
	var skew operatorv1.BootImageSkewEnforcementStatus
	err := m.soon(ctx, "release "+release+" to be recorded", func(ctx context.Context) error {
		now, err := m.world.Config(ctx)
		if err != nil {
			return err
		}
		skew = now.Status.BootImageSkewEnforcementStatus
		return unless(skew.Automatic.OCPVersion == release, fmt.Sprintf("it is %+v", skew))
	})
	if err == nil {
		m.told.Recorded = append(m.told.Recorded, skew.Automatic.OCPVersion)
		m.display.step("recorded of the oldest boot image: mode %s, release %s", skew.Mode, skew.Automatic.OCPVersion)
	}
	return err
}

// tellUpgradeable waits until boot images would, or would not, hold up the next upgrade, and tells why.
func (m *moving) tellUpgradeable(ctx context.Context, status configv1.ConditionStatus) error {
	const kind = "BootImagesControllerUpgradeable"
	var found configv1.ClusterOperatorStatusCondition
	err := m.soon(ctx, fmt.Sprintf("%s to be %s", kind, status), func(ctx context.Context) error {
		operator := &configv1.ClusterOperator{}
		if err := m.stage.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, operator); err != nil {
			return err
		}
		for _, c := range operator.Status.Conditions {
			if c.Type == kind {
				found = c
			}
		}
		return unless(found.Status == status, fmt.Sprintf("it is %q: %s", found.Status, found.Message))
	})
	if err == nil {
		m.display.step("ClusterOperator %s: %s=%s (%s)%s", harness.ClusterOperatorName, found.Type, found.Status, found.Reason, because(found.Message))
	}
	return err
}

// conclude prints what was seen as a whole.
func (m *moving) conclude() {
	m.display.say("")
	table := tabwriter.NewWriter(m.display.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RELEASE\tSETS MOVED\tSECONDS\tWRITES\tREQUESTS")
	for _, w := range m.told.Waves {
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%d\t%d\n", w.Release, w.Targets, w.Seconds, w.Writes, w.Requests)
	}
	table.Flush()
	m.display.say("\nThe report is in %s", filepath.Join(m.dir, reportFile))
}
