package harness

import (
	"context"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// lastLines is how much of a log an account holds.
const lastLines = 40

// Account is what an administrator would look at first when something went
// wrong: the ends of the operators' logs, and the two objects.
func (e *Environment) Account(ctx context.Context, operators ...*Operator) string {
	var account strings.Builder
	for _, operator := range operators {
		log, err := os.ReadFile(operator.Log)
		lines := strings.SplitAfter(string(log), "\n")
		fmt.Fprintf(&account, "\nThe end of %s (%v):\n%s", operator.Log, err, strings.Join(lines[max(0, len(lines)-lastLines):], ""))
	}
	v, err := See(ctx, e.Client)
	if err != nil {
		fmt.Fprintln(&account, err)
	}
	for name, object := range map[string]any{"ClusterOperator": v.ClusterOperator, "ClusterAPI": v.ClusterAPI} {
		text, err := yaml.Marshal(object)
		fmt.Fprintf(&account, "\n%s (%v):\n%s", name, err, text)
	}
	return account.String()
}
