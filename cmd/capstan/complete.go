package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/render"
)

// completing is how long a shell waits for what a cluster has to say.
const completing = 2 * time.Second

// namer says which names a shell may complete, each with what it is behind a tab. It is silent about what goes wrong: a person who
// presses a key wants no error.
type namer func(context.Context, *cobra.Command) []cobra.Completion

// argumentNames are those of arguments, by command; a command that is not here takes none, or files.
var argumentNames = map[string]namer{
	"capstan pause":               managedObjects,
	"capstan resume":              objectsLeftAlone,
	"capstan adopt":               objectsInTheWay,
	"capstan consent":             objectsRetained,
	"capstan rollback":            revisionsToGoBackTo,
	"capstan history":             revisionsRemembered,
	"capstan status boot-images":  bootImageTargets,
	"capstan explain boot-images": bootImageTargets,

	"capstan private-capi status":  hostedClusters,
	"capstan private-capi explain": hostedClusters,
	"capstan private-capi pause":   hostedClusters,
	"capstan private-capi resume":  hostedClusters,
	"capstan private-capi retry":   hostedClusters,
	"capstan private-capi revert":  hostedClusters,
}

// takeFiles are the commands whose arguments are files or folders.
var takeFiles = []string{"capstan lint", "capstan man", "capstan replay"}

// repeated are the commands that take several names.
var repeated = []string{"capstan pause", "capstan resume", "capstan consent"}

// completeNames gives all flags and arguments the names that a shell completes.
func completeNames(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		completeNames(child)
	}
	if !cmd.Runnable() {
		return
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f) })
	path := cmd.CommandPath()
	names := argumentNames[path]
	switch {
	case names != nil:
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 && !slices.Contains(repeated, path) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return begun(names, cmd, typed, args)
		}
	case !slices.Contains(takeFiles, path):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// begun are the names that begin with what is typed, without those that are given already. What a shell would make something of
// is no name: cluster and kubeconfig are others' text, and the script of fish evaluates what stands on the line.
func begun(names namer, cmd *cobra.Command, typed string, given []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completing)
	defer cancel()
	all := slices.DeleteFunc(inTime(ctx, names, cmd), func(c cobra.Completion) bool {
		name, _, _ := strings.Cut(c, "\t")
		return !message.PlainWord(name) || strings.HasPrefix(name, "-") || !strings.HasPrefix(name, typed) || slices.Contains(given, name)
	})
	return all, cobra.ShellCompDirectiveNoFileComp
}

// inTime are the names that there are before the context ends. A credential plugin does not heed that, so nobody waits for it.
func inTime(ctx context.Context, names namer, cmd *cobra.Command) []cobra.Completion {
	found := make(chan []cobra.Completion, 1)
	go func() { found <- names(ctx, cmd) }()
	select {
	case all := <-found:
		return all
	case <-ctx.Done():
		return nil
	}
}

// completeFlag gives a flag its names. One whose value is a file or images keeps what shells do by themselves.
func completeFlag(cmd *cobra.Command, f *pflag.Flag) {
	value, _ := pflag.UnquoteUsage(f)
	var names namer
	switch {
	case f.Name == "output" && value != "file":
		names = fixed(formatsOf(cmd)...)
	case value == "folder":
		must(cmd.MarkFlagDirname(f.Name))
		return
	case value == "file" || value == "images" || value == "":
		return
	default:
		names = flagNames[f.Name]
	}
	must(cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if names == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return begun(names, cmd, typed, nil)
	}))
}

// must is for what only a misspelt flag could make fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// flagNames are those of flags that are not the same everywhere; other flags have values that nobody can guess.
var flagNames = map[string]namer{
	"boot-images": fixed(bootgate.MachineAPI, bootgate.ClusterAPI),
	"context":     contexts,
	"for":         fixed("1h", "4h", "24h"),
	"key":         keys,
	"machine":     fixed(machines()...),
	"platform":    fixed(render.Platforms()...),
}

// fixed are names that need no cluster.
func fixed(names ...string) namer {
	return func(context.Context, *cobra.Command) []cobra.Completion { return slices.Clone(names) }
}

// formatsOf are what a command's --output can be.
func formatsOf(cmd *cobra.Command) []string {
	switch cmd.Name() {
	case "plan":
		return slices.Sorted(maps.Keys(planFormats))
	case "render":
		return slices.Sorted(maps.Keys(revisionFormats))
	}
	return []string{"json", "text"}
}

func machines() []string {
	var names []string
	for _, v := range controllers.Views() {
		names = append(names, v.Table.Name)
	}
	return names
}

// accessOf is the access that a command's flags name, as far as they are typed.
func accessOf(cmd *cobra.Command) *inspect.Access {
	return &inspect.Access{
		Kubeconfig: typedFlag(cmd, "kubeconfig"), Context: typedFlag(cmd, "context"), As: typedFlag(cmd, "as"), Timeout: completing, Unattended: true,
	}
}

// typedFlag is the value of a flag, empty for none.
func typedFlag(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
