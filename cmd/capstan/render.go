package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

type renderFlags struct {
	sources
	contents
	platform  string
	release   string
	set       []string
	unmanaged []string
	number    int64
	output    string
}

func renderCommand() *cobra.Command {
	f := &renderFlags{}
	cmd := &cobra.Command{
		Use:   "render (--image REF | --dir DIR)... --platform PLATFORM --release-version VERSION",
		Short: "Shows the revision that the operator would install from provider images",
		Long: `Renders provider images as the operator does, and shows the resulting revision: which
profiles are chosen for the platform, in which order, with which objects, and the content ID
that distinguishes it from every other. No cluster is needed. The same input gives the same output,
on every machine.

An image is given by digest and pulled, with the credentials of your container tools; or as
a folder with capi-operator-manifests in it, or with the folders of the profiles, as
manifests-gen writes them. A folder may have a file image-ref with the image's reference; without it one
is made up, and the content ID is then not that of the image.

The variables EXP_BOOTSTRAP_FORMAT_IGNITION, TLS_MIN_VERSION and TLS_CIPHER_SUITES have the
values that they have in a cluster with the default TLS profile; --set changes them or adds
others, such as INFRASTRUCTURE_NAME, which every cluster has and no command knows.

What the operator refuses is refused here as well: also what an image may not contain, but for the
exceptions in the ConfigMap of --exceptions (see capstan lint).

Output: summary is for people; json describes the revision; yaml is the objects themselves,
in the order in which they are listed, as they would be applied.

The exit code is 1 if anything is wrong; all that is wrong is then on standard error, a
line each.`,
		Example: `  capstan render --image quay.io/example/core@sha256:4e1f... --image quay.io/example/aws@sha256:90ab... \
      --platform AWS --release-version 4.22.5
  capstan render --dir ./profiles --platform AWS --release-version 4.22.5 --set LOG_LEVEL=4 -o yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.images, "image", nil, "provider image by digest, as `host/path@sha256:...` (repeatable)")
	flags.StringArrayVar(&f.dirs, "dir", nil, "`folder` with the content of a provider image (repeatable)")
	flags.StringVar(&f.platform, "platform", "", "the cluster's `platform`, such as AWS, VSphere or None")
	flags.StringVar(&f.release, "release-version", os.Getenv("RELEASE_VERSION"), "`version` that begins the revision's name, such as 4.22.5 (env RELEASE_VERSION)")
	flags.StringArrayVar(&f.set, "set", nil, "value of a variable in the manifests, as `KEY=VALUE` (repeatable)")
	flags.StringArrayVar(&f.unmanaged, "unmanaged", nil, "`name` of a CustomResourceDefinition that is listed as unmanaged (repeatable)")
	flags.Int64Var(&f.number, "revision", 1, "`number` of the revision")
	f.flags(flags)
	flags.StringVarP(&f.output, "output", "o", "summary", "what to print: `summary`, json or yaml")
	f.registryFlags(flags)
	return cmd
}

func (f *renderFlags) validate() error {
	var platform error
	if f.platform != "" {
		platform = render.CheckPlatform(f.platform)
	}
	switch _, known := revisionFormats[f.output]; {
	case len(f.images)+len(f.dirs) == 0:
		return errors.New("no provider image is given: name at least one with --image or --dir")
	case f.platform == "":
		return errors.New("--platform is needed, such as AWS; it chooses the profiles")
	case platform != nil:
		return fmt.Errorf("--platform: %w", platform)
	case f.release == "":
		return errors.New("--release-version (or env RELEASE_VERSION) is needed: it begins the revision's name")
	case !releaseForm.MatchString(f.release):
		return fmt.Errorf("--release-version %q is not a version such as 4.22.5", f.release)
	case f.number < 1:
		return fmt.Errorf("--revision %d is less than 1", f.number)
	case !known:
		return fmt.Errorf("--output %q is neither summary, json nor yaml", f.output)
	}
	return nil
}

func (f *renderFlags) run(ctx context.Context, out, errs io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	values, err := substitutions(f.set, "")
	if err != nil {
		return err
	}
	if err := f.readExceptions(); err != nil {
		return err
	}
	profiles, problems := f.load(ctx)
	rev, err := render.Render(render.Input{
		Profiles: profiles, Platform: f.platform, Substitutions: values, Unmanaged: f.unmanaged, Namespace: f.namespaces[0], FaultOf: engine.FaultOf, Policy: f.policy(f.folders),
	})
	var found render.ProblemsError
	if errors.As(err, &found) {
		problems = append(problems, found...)
	} else if err != nil {
		return err
	}
	if rev != nil {
		for _, fault := range engine.Faults(components(rev), rev.Unmanaged) {
			problems = append(problems, render.Problem{Cause: fault})
		}
	}
	if len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintln(errs, f.named(problem))
		}
		return fmt.Errorf("nothing is rendered, because of %s", count(len(problems), "problem"))
	}
	for _, warning := range rev.Warnings {
		fmt.Fprintln(errs, "warning: "+f.named(warning).String())
	}
	return revisionFormats[f.output](out, describe(rev, f.release, f.platform, f.number), rev)
}

// components are those of a rendering, as the operator applies them.
func components(rev *render.Revision) []engine.Component {
	var all []engine.Component
	if len(rev.Shapes) > 0 {
		all = append(all, engine.Component{Name: render.RequirementsComponent, Objects: rev.Shapes})
	}
	for _, c := range rev.Components {
		all = append(all, engine.Component{Name: c.Name, Objects: c.Objects})
	}
	return all
}

// substitutions returns the values that the operator uses in a cluster without a TLS profile, overridden by --set.
// name is the cluster's in its infrastructure, which no command knows; empty for none.
func substitutions(set []string, name string) (map[string]string, error) {
	values := render.ClusterSubstitutions(nil, name)
	for _, entry := range set {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--set %q is not of the form KEY=VALUE", entry)
		}
		values[key] = value
	}
	return values, nil
}

// count writes a number and the thing counted, which is plural unless there is one.
func count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}
