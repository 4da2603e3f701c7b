package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/applying"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/message"
)

// keptByOthers is the exit code that says that fields were left as others have set them.
const keptByOthers = 2

type applyFlags struct {
	inspect.Access
	files  []string
	dryRun bool
	output string
}

func applyCommand() *cobra.Command {
	f := &applyFlags{}
	cmd := &cobra.Command{
		Use:   "apply --file FILE...",
		Short: "Applies objects to a management plane, and leaves alone what others have set",
		Long: `Applies objects, as capstan-provider create makes them, to a management plane: Namespaces, then Secrets, then the rest.
It does so on the server's side, under the name capstan-provider-apply, and never by force: where somebody else has
set a field to another value, that stands, nothing of this object is written, and field and manager are told. A field
that no definition has is refused. It waits for nothing, and deletes nothing.

It needs the right to get, create and patch what it is given. Every object is tried, whatever becomes of those before
it.

Exit codes:

  0  everything is as it was given; with --dry-run, would be
  1  something was refused, or the management plane could not be asked
  2  others have set fields to other values; everything else is as it was given`,
		Example: `  capstan-provider create --install-config install-config.yaml --release-image REF | capstan-provider apply --file -
  capstan-provider apply --file ./objects --dry-run
  capstan-provider apply --file ./objects -o json | jq '.objects[] | select(.outcome == "conflict")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.StringArrayVarP(&f.files, "file", "f", nil, "`file` or folder with objects in YAML or JSON, - for standard input (repeatable)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "have the API server say what it would do")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

// applied is what -o json prints; its shape is a promise.
type applied struct {
	DryRun  bool              `json:"dryRun"`
	Objects []applying.Result `json:"objects"`
}

func (f *applyFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	if len(f.files) == 0 {
		return errors.New("nothing is given to apply: name files with --file")
	}
	objects, err := applying.Read(in, f.files)
	if err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	config.UserAgent = name
	applier, err := applying.New(config, f.dryRun)
	if err != nil {
		return err
	}
	all := applied{DryRun: f.dryRun, Objects: []applying.Result{}}
	for _, object := range applying.Ordered(objects) {
		result, failed := applier.Apply(ctx, object)
		if failed != nil {
			err = failed
			break
		}
		all.Objects = append(all.Objects, result)
		if f.output == "text" {
			fmt.Fprintln(out, message.Line(line(result)))
		}
	}
	if f.output == "json" {
		if printed := terminal.JSON(out, all); printed != nil {
			return printed
		}
	}
	if err != nil {
		return err
	}
	return all.code()
}

// code is nil if everything is as it was given.
func (a applied) code() error {
	refused, kept := 0, 0
	for _, result := range a.Objects {
		switch result.Outcome {
		case applying.Refused:
			refused++
		case applying.Conflict:
			kept++
		}
	}
	switch {
	case refused > 0:
		return fmt.Errorf("%d of %s refused", refused, count(len(a.Objects), "object"))
	case kept > 0:
		return exit(keptByOthers)
	}
	return nil
}

func line(r applying.Result) string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	said := fmt.Sprintf("%-9s  %s %s", r.Outcome, r.Kind, name)
	var kept []string
	for _, one := range r.Conflicts {
		kept = append(kept, one.Field+" is as "+one.Manager+" has set it")
	}
	switch {
	case len(kept) > 0:
		return said + ": " + strings.Join(kept, ", ")
	case r.Problem != "":
		return said + ": " + r.Problem
	}
	return said
}
