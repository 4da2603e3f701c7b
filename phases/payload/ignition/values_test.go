package ignition

import (
	"strings"
	"testing"
)

func TestConfigs_are_not_parsed_that_have_more_values_than_one_may_have(t *testing.T) {
	files := func(number int, one string) []byte {
		return []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[` + strings.TrimSuffix(strings.Repeat(one+",", number), ",") + `]}}`)
	}
	for name, row := range map[string]struct {
		config  []byte
		refused bool
	}{
		"empty files without end": {files(valuesMost, "{}"), true},
		"lists in lists":          {[]byte(strings.Repeat("[", valuesMost+1)), true},
		"commas in a text":        {files(1, `{"path":"/a\"b","contents":{"source":"data:,`+strings.Repeat(",[{", valuesMost)+`"}}`), false},
	} {
		base := []byte(`{"ignition":{"version":"3.2.0"}}`)
		_, merged := Merge(base, row.config)
		for what, err := range map[string]error{"as it is": Check(row.config), "merged": merged, "of a MachineConfig": CheckOfMachineConfig(row.config)} {
			if (err != nil && strings.Contains(err.Error(), "values allowed")) != row.refused {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}
