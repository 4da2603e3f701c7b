package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/terminal"
)

// intent says whether a command that changes something is to do it, or only to show what it would do. Where it says neither, whoever
// sits at the terminal is asked.
type intent struct{ dryRun, yes bool }

func (i *intent) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&i.dryRun, "dry-run", false, "show what would be done")
	flags.BoolVar(&i.yes, "yes", false, "do it")
}

// validate refuses what contradicts itself, and what nobody could answer.
func (i *intent) validate(output string) error {
	switch {
	case i.dryRun && i.yes:
		return errors.New("say either --dry-run, to see what would be done, or --yes, to do it")
	case output == "json" && !i.dryRun && !i.yes:
		return errors.New("with -o json nobody is asked: say --dry-run, to see what would be done, or --yes, to do it")
	}
	return terminal.CheckOutput(output)
}
