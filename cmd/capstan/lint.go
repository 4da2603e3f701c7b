package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

type lintFlags struct {
	sources
	set []string
	contents
	output  string
	payload string
}

func lintCommand() *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:   "lint (IMAGE|DIR)...",
		Short: "Reports everything that is wrong with provider images",
		Long: `Checks all profiles of provider images, whatever their platform, and reports every problem at
once, each with image, profile, file, document, line, object and field: whatever the operator
would refuse, and what it would apply without effect:

  - files that are missing, YAML that does not parse, unknown fields, unknown platforms
  - variables with neither a value nor a default
  - the same object twice
  - a selfImageRef that is not used, or none where containers run
  - objects in namespaces that are not allowed
  - what no provider needs and an image may not contain, with the rule that it breaks: kinds, groups,
    rights, bindings, webhooks and others (the rules are in docs/provider-contract.md)
  - CustomResourceDefinitions without schema
  - metadata that only a cluster can know, annotations with values that Capstan does not take
  - webhooks and API services whose Service no profile brings, or without the port
  - kinds that neither Kubernetes nor a CustomResourceDefinition of the images defines

An object that has to break a rule is let through by an exception: --exceptions names a ConfigMap
in a file, of which each key is the name of an exception, and the lines of the value say why it is
there, and for which image, rule and object. A folder is no image yet: all exceptions are for it.

Images that are installed together should be named together, since they may need each other.
An image is given by digest and pulled, with the credentials of your container tools; a folder
is laid out as for capstan render.

With --payload the manifests of an OpenShift release are checked instead, against what the
cluster-version operator and the platform ask of them (the rules are in docs/payload.md).

The exit code is 1 if there is any problem.`,
		Example: `  capstan lint ./profiles
  capstan lint --payload bin/payload
  capstan lint -o json quay.io/example/core@sha256:4e1f... quay.io/example/aws@sha256:90ab...`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.payload != "" {
				return f.runPayload(args, cmd.OutOrStdout())
			}
			return f.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "value of a variable in the manifests, as `KEY=VALUE` (repeatable)")
	f.flags(flags)
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	flags.StringVar(&f.payload, "payload", "", "check the manifests of a release in this `folder`, and no image")
	f.registryFlags(flags)
	return cmd
}

// report is what -o json prints; scripts rely on its shape.
type report struct {
	Profiles int              `json:"profiles"`
	Problems []render.Problem `json:"problems"`
}

// exampleName stands for the name in the infrastructure, which every cluster gives to manifests.
const exampleName = "example-x7f2k"

func (f *lintFlags) run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 0:
		return errors.New("no provider image is given: name images by digest, or folders")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("--output %q is neither text nor json", f.output)
	}
	values, err := substitutions(f.set, exampleName)
	if err != nil {
		return err
	}
	for _, arg := range args {
		// An argument that is no folder and has the form of a reference is an image. Anything else is read as a folder,
		// whose error says what an argument can be.
		if _, err := os.Stat(arg); err != nil && strings.ContainsAny(arg, "@:") {
			f.images = append(f.images, arg)
		} else {
			f.dirs = append(f.dirs, arg)
		}
	}
	if err := f.readExceptions(); err != nil {
		return err
	}
	profiles, problems := f.load(ctx)
	allowed := f.policy(f.folders)
	problems = append(problems, render.Lint(profiles, render.LintOptions{Substitutions: values, Namespaces: f.namespaces, FaultOf: engine.FaultOf, Policy: allowed})...)
	r := report{Profiles: len(profiles), Problems: []render.Problem{}}
	for _, problem := range problems {
		r.Problems = append(r.Problems, f.named(problem))
	}
	if err := f.print(out, r); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("%s in %s", count(len(r.Problems), "problem"), count(r.Profiles, "profile"))
	}
	return nil
}

func (f *lintFlags) print(out io.Writer, r report) error {
	if f.output == "json" {
		return terminal.JSON(out, r)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(out, problem)
	}
	if len(r.Problems) == 0 {
		fmt.Fprintf(out, "no problem in %s\n", count(r.Profiles, "profile"))
	}
	return nil
}
