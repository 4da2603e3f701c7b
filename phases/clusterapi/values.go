package clusterapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// plainValue is what a cluster can give to a manifest: versions, lists of ciphers, names. It becomes part of the
// manifest's text before that is parsed, so it must not be able to end a line or begin a field.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_.,:/=+-]*$`)

// boundValues refuses values that are more than a word.
func boundValues(values map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if len(values[key]) > 4096 || !plainValue.MatchString(values[key]) {
			return machine.Terminal(fmt.Errorf("the value of substitution %s has other characters than letters, digits and _ . , : / = + -, or more than 4096: correct it where it comes from, the TLS profile of APIServer cluster or the name of Infrastructure cluster", key))
		}
	}
	return nil
}
