package privatecapi_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// mention is for what has a text anywhere in it.
func mention(text string) types.GomegaMatcher {
	return WithTransform(func(value any) string {
		written, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		return strings.ReplaceAll(string(written), native, "")
	}, ContainSubstring(text))
}
