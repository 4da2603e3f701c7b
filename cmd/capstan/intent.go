package main

import (
	"errors"

	"github.com/spf13/pflag"
)

// intent says whether a command that changes something is to do it, or only to show what it would do.
type intent struct{ dryRun, yes bool }

func (i *intent) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&i.dryRun, "dry-run", false, "show what would be done")
	flags.BoolVar(&i.yes, "yes", false, "do it")
}

// validate refuses what is neither or both.
func (i *intent) validate() error {
	if i.dryRun == i.yes {
		return errors.New("say either --dry-run, to see what would be done, or --yes, to do it")
	}
	return nil
}
