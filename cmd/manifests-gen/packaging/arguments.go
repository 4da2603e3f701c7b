package packaging

import (
	"strings"

	"github.com/spf13/pflag"
)

// doubleDashes lets flags be written with a single dash too, as the Makefiles
// of some provider repositories do: Go's own flag package takes both.
func doubleDashes(args []string, flags *pflag.FlagSet) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := flags.Lookup(name)
		if flag == nil || !strings.HasPrefix(arg, "-") {
			out = append(out, arg)
			continue
		}
		if !strings.HasPrefix(arg, "--") {
			arg = "-" + arg
		}
		out = append(out, arg)
		// The next argument is this flag's value, whatever it looks like.
		if !hasValue && flag.NoOptDefVal == "" && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}
