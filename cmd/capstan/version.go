package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/terminal"
)

// release is what the Go toolchain has recorded of a binary. Scripts rely on its shape as JSON.
type release struct {
	Version string `json:"version"`
	// Commit is empty where the binary was built without version control.
	Commit    string `json:"commit"`
	Committed string `json:"committed"`
	// Modified says that the tree had changes that the commit has not.
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Modules  []module `json:"modules"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tells which commit this binary was built from, and which modules are in it",
		Long: `Tells which commit this binary was built from, with which Go, and the version of each module that is
in it, as the Go toolchain has recorded them. The binary of an image names its commit; one that
was built from a tree with changes says so; make build records no commit.`,
		Example: `  capstan version
  capstan version -o json | jq -r .commit`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := terminal.CheckOutput(output); err != nil {
				return err
			}
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return errors.New("this binary has no record of how it was built")
			}
			built := releaseOf(info)
			if output == "json" {
				return terminal.JSON(cmd.OutOrStdout(), built)
			}
			return built.write(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func releaseOf(info *debug.BuildInfo) release {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	r := release{
		Version: info.Main.Version, Commit: settings["vcs.revision"], Committed: settings["vcs.time"],
		Modified: settings["vcs.modified"] == "true",
		Go:       info.GoVersion, Platform: settings["GOOS"] + "/" + settings["GOARCH"],
		Modules: []module{},
	}
	if r.Version == "" {
		r.Version = "unknown"
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		r.Modules = append(r.Modules, module{Path: m.Path, Version: m.Version})
	}
	return r
}

func (r release) write(out io.Writer) error {
	commit := "not recorded by this build"
	if r.Commit != "" {
		commit = r.Commit + " of " + r.Committed
	}
	if r.Modified {
		commit += ", with changes that are not in it"
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "capstan\t%s\ncommit\t%s\ngo\t%s %s\n", r.Version, commit, r.Go, r.Platform)
	fmt.Fprintf(w, "modules\t%d\n", len(r.Modules))
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range r.Modules {
		fmt.Fprintf(w, "  %s\t%s\n", m.Path, m.Version)
	}
	return w.Flush()
}
