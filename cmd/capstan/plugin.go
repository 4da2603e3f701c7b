package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// pluginName is the name under which kubectl finds the binary as its plugin, and pluginCompletion that under which it asks it what
	// a shell may complete.
	pluginName       = "kubectl-capstan"
	pluginCompletion = "kubectl_complete-capstan"
	// asTyped is how people call the plugin.
	asTyped = "kubectl capstan"
)

// asPlugin has a command answer as a plugin of kubectl, if that is the name that the binary was called by; args are all words of the
// call.
func asPlugin(cmd *cobra.Command, args []string) {
	if len(args) == 0 {
		return
	}
	switch strings.TrimSuffix(filepath.Base(args[0]), ".exe") {
	case pluginName:
	case pluginCompletion:
		cmd.SetArgs(slices.Concat([]string{cobra.ShellCompRequestCmd}, args[1:]))
	default:
		return
	}
	cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: asTyped}
	sayAsTyped(cmd)
}

// sayAsTyped has a command and those below it be told as they are typed, and take the flag for a namespace that kubectl's own
// commands take.
func sayAsTyped(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		sayAsTyped(child)
	}
	cmd.Example = strings.ReplaceAll(cmd.Example, "  capstan ", "  "+asTyped+" ")
	flags := cmd.Flags()
	if flags.Lookup("kubeconfig") != nil && flags.Lookup("namespace") == nil && flags.ShorthandLookup("n") == nil {
		addNamespace(flags)
	}
}

// addNamespace adds -n and --namespace: the operator's, or for commands that look at nothing in a namespace, none.
func addNamespace(flags *pflag.FlagSet) {
	if f := flags.Lookup("operator-namespace"); f != nil {
		flags.VarP(f.Value, "namespace", "n", "the same as --operator-namespace")
		return
	}
	flags.StringP("namespace", "n", "", "without effect: nothing that is looked at is in a `namespace`")
}
