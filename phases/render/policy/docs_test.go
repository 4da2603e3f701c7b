package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestRules_areAllInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/provider-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range policy.Rules {
		if row := "| `" + rule.Name + "` | " + rule.Doc + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/provider-contract.md lacks the row\n%s", row)
		}
	}
}
