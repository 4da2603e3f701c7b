package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:generate go test . -run TestTheFlagsOfAllServersAreOnTheirPage -update

var update = flag.Bool("update", false, "write docs/flags.md")

const flagsPage = "../../docs/flags.md"

const flagsIntro = `<!-- Written by cmd/capstan/flags_test.go from the commands' own flags; make generate writes it anew. -->

# Flags of the operator, the checker and the proxy

Those of the commands that people call are in [cli.md](cli.md). What [deploy](../deploy) and [a release](payload.md) bring sets a
few of these; a cluster needs none of the others. Two servers are binaries of their own, whose help
tells their flags: capi-shim, and capstan-provider manager.
`

func TestTheFlagsOfAllServersAreOnTheirPage(t *testing.T) {
	t.Setenv("RELEASE_VERSION", "")
	want := flagsIntro
	for _, command := range []*cobra.Command{operatorCommand(), webhooksCommand(), capiProxyCommand()} {
		want += fmt.Sprintf("\n## capstan %s\n\n| Flag | What it says | Default |\n|---|---|---|\n", command.Name())
		command.Flags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			by := f.DefValue
			if by != "" {
				by = fmt.Sprintf("%#q", by)
			}
			want += fmt.Sprintf("| %#q | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), strings.ReplaceAll(usage, "|", "\\|"), by)
		})
	}
	if *update {
		if err := os.WriteFile(flagsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(flagsPage); err != nil || string(have) != want {
		t.Errorf("%s is not what the commands say (%v): run make generate", flagsPage, err)
	}
}
