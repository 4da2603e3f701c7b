package migration_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const hostedKey = hostedNamespace + "/" + hostedName

// ask runs a command of the family private-capi as an administrator, and returns all that it says.
func ask(ctx context.Context, arguments ...string) (string, error) {
	arguments = append(append([]string{"private-capi"}, arguments...), "--kubeconfig", env.Cluster.Kubeconfig())
	text, err := exec.CommandContext(ctx, filepath.Join(bin, "capstan"), arguments...).CombinedOutput() //nolint:gosec // our own binary
	return string(text), err
}

// does has a command do what is asked, and the operator say that it has seen it.
func does(ctx context.Context, arguments ...string) {
	GinkgoHelper()
	text, err := ask(ctx, append(arguments, "--yes", "--timeout", patience.String())...)
	Expect(err).NotTo(HaveOccurred(), text)
	Expect(text).To(ContainSubstring("Done, and the operator has seen it."))
}

// refuses has a command do nothing, and say why.
func refuses(ctx context.Context, why types.GomegaMatcher, arguments ...string) {
	GinkgoHelper()
	was := hosted(ctx).GetAnnotations()
	text, err := ask(ctx, append(arguments, "--yes")...)
	var ended *exec.ExitError
	Expect(errors.As(err, &ended)).To(BeTrue(), "%v: %s", err, text)
	Expect(ended.ExitCode()).To(Equal(1))
	Expect(strings.ToLower(text)).To(ContainSubstring(strings.ToLower(hostedKey)+" is left as it is, because"), text)
	Expect(text).To(why)
	Expect(hosted(ctx).GetAnnotations()).To(Equal(was))
}

// says waits until the hosted cluster's condition names a state, and tells something of it.
func says(ctx context.Context, state, what string) {
	GinkgoHelper()
	eventually(ctx, "the hosted cluster to be "+state, func(ctx context.Context) error {
		text := told(hosted(ctx))
		if !strings.Contains(text, "reason:"+state) || !strings.Contains(text, what) {
			return errors.New(text)
		}
		return nil
	})
}

// What the operator counts.
const (
	migratedMetric = "hypershift_private_capi_migrated_hosted_clusters_total"
	pendingMetric  = "hypershift_private_capi_pending_hosted_clusters_total"
	startMetric    = `hypershift_private_capi_migration_start_time{name="` + hostedName + `",namespace="` + hostedNamespace + `"} `
	durationMetric = `hypershift_private_capi_migration_duration_seconds_count{result="committed"}`
	// attention is what the alert of a failed move is made of.
	attention = `capstan_needs_attention{alert="CapstanPrivateCAPIFailed",machine="privatecapi"}`
)

func failedMetric(reason string) string {
	return fmt.Sprintf("hypershift_private_capi_migration_failed_hosted_clusters_total{failure_reason=%q}", reason)
}

func stateMetric(state string) string {
	return fmt.Sprintf("hypershift_private_capi_migration_state{name=%q,namespace=%q,state=%q}", hostedName, hostedNamespace, state)
}

// tells waits until the operator's metrics have lines that begin with each of some texts.
func tells(ctx context.Context, metrics *harness.Metrics, lines ...string) {
	GinkgoHelper()
	eventually(ctx, "the metrics to have "+strings.Join(lines, ", "), func(ctx context.Context) error {
		text, err := metrics.Text(ctx)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line) {
				return fmt.Errorf("there is no %q", line)
			}
		}
		return nil
	})
}
