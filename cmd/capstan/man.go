package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/manual"
)

func manCommand() *cobra.Command { return manual.Command("capstan", "status", manualDefault) }

// manualDefault is the default of a flag, empty for none that need be told. What is that of whoever writes the page is that of nobody.
func manualDefault(f *pflag.Flag) string {
	switch by := manual.Default(f); by {
	case os.Getenv("RELEASE_VERSION"):
		return ""
	case userCache():
		return "~/.cache/capstan"
	default:
		return by
	}
}
