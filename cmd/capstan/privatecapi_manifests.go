package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/phases/privatecrds"
	"github.com/capstan-capi/capstan/phases/render"
)

// What deploy has for the shim, and for the operator, whose account the migration has.
const (
	shimService      = "openshift-cluster-api-operator/capstan-capi-shim"
	migrationAccount = "system:serviceaccount:openshift-cluster-api-operator:capstan"
)

type privateManifestsFlags struct {
	sources
	files    []string
	platform string
	set      []string
	service  string
	account  string
	output   string
	// definitions says that nothing else is made.
	definitions bool
}

func privateManifestsCommand() *cobra.Command {
	f := &privateManifestsFlags{}
	cmd := &cobra.Command{
		Use:   "manifests (--image REF | --dir DIR | --file [ROUTE=]FILE)...",
		Short: "Makes the private types of hosted clusters out of those of Cluster API and its providers",
		Long: `Makes private CustomResourceDefinitions, roles and webhook configurations out of those of Cluster API and its
providers: another name and group, and conversion and admission by way of the shim, capi-shim. Labels that name
versions of the contract stay; labels of clusterctl, annotations of cert-manager, short names and the category
cluster-api go. Roles and webhook configurations get the prefix private-, and no webhook is asked about what the
account of the migration writes. Whatever else a provider brings is left out, and told. No cluster is needed. The
same input gives the same output, on every machine.

Images and folders are given as for capstan render; one without a profile for the platform is an error. A provider's Go module, of a version that is pinned, becomes a
folder by manifests-gen, which runs kustomize; a file is what kustomize has built, with any objects.

The shim knows a provider's webhooks by the name of a route, which its route file leads to a server. The route is
the name of the component, and for a file what stands before the = or else the file's name without its ending.

A standard group that stands in a default, an enum, a pattern or a rule is an error, since nobody would translate it.

Output: summary is for people; json names objects and SHA-256 of each; yaml is the objects themselves, and what is
left out is on standard error.

The exit code is 1 if anything is wrong; all that is wrong is then on standard error, a line each, and nothing is
printed.`,
		Example: `  manifests-gen --name infrastructure-aws --platform AWS --kustomize-dir ./config/default --manifests-path ./aws \
      --install-order 20 --self-image-ref registry.example.com/aws:v2
  capstan private-capi manifests --dir ./core --dir ./aws --platform AWS -o yaml > private.yaml
  capstan private-capi manifests --file bootstrap-kubeadm=kubeadm.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.images, "image", nil, "provider image by digest, as `host/path@sha256:...` (repeatable)")
	flags.StringArrayVar(&f.dirs, "dir", nil, "`folder` with the content of a provider image (repeatable)")
	flags.StringArrayVar(&f.files, "file", nil, "`[route=]file` with objects in YAML (repeatable)")
	flags.StringVar(&f.platform, "platform", "None", "the cluster's `platform`, such as AWS, which chooses among the profiles of images and folders")
	flags.StringArrayVar(&f.set, "set", nil, "value of a variable in the manifests of images and folders, as `KEY=VALUE` (repeatable)")
	flags.StringVar(&f.service, "shim-service", shimService, "Service of the shim, as `namespace/name`")
	flags.StringVar(&f.account, "migration-account", migrationAccount, "`user` whom no webhook is asked about")
	flags.StringVarP(&f.output, "output", "o", "summary", "what to print: `summary`, json or yaml")
	flags.BoolVar(&f.definitions, "definitions", false, "make nothing but CustomResourceDefinitions")
	f.registryFlags(flags)
	return cmd
}

// routeForm is a route as it stands in a path of the shim.
var routeForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

func (f *privateManifestsFlags) validate() error {
	namespace, name, _ := strings.Cut(f.service, "/")
	_, known := privateFormats[f.output]
	switch {
	case len(f.images)+len(f.dirs)+len(f.files) == 0:
		return errors.New("nothing is given to make private types of: name a provider with --image, --dir or --file")
	case len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0:
		return fmt.Errorf("--shim-service %q is not of the form namespace/name", f.service)
	case f.account == "":
		return errors.New("--migration-account is empty: the migration would be asked about by webhooks that nobody serves meanwhile")
	case !known:
		return fmt.Errorf("--output %q is neither summary, json nor yaml", f.output)
	}
	if err := render.CheckPlatform(f.platform); err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	return nil
}

func (f *privateManifestsFlags) run(ctx context.Context, out, errs io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	upstream, problems, err := f.upstream(ctx)
	if err != nil {
		return err
	}
	var all privateTypes
	for _, c := range upstream {
		namespace, name, _ := strings.Cut(f.service, "/")
		made, err := privatecrds.Make(c.objects, privatecrds.Options{Route: c.route, Service: types.NamespacedName{Namespace: namespace, Name: name}, Spared: f.account})
		var wrong privatecrds.ProblemsError
		if errors.As(err, &wrong) {
			for _, problem := range wrong {
				problems = append(problems, c.route+": "+problem.String())
			}
		} else if err != nil {
			return err
		}
		if f.definitions {
			made.Objects = slices.DeleteFunc(made.Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() != "CustomResourceDefinition" })
		}
		all = append(all, privateType{c.route, made})
	}
	problems = append(problems, all.twice()...)
	if len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintln(errs, problem)
		}
		return fmt.Errorf("nothing is made, because of %s", count(len(problems), "problem"))
	}
	if f.output == "yaml" {
		// A document has no place for it.
		all.tellLeftOut(errs)
	}
	return privateFormats[f.output](out, all)
}

// upstreamPart is what one provider brings.
type upstreamPart struct {
	route   string
	objects []*unstructured.Unstructured
}

// upstream reads everything that is given, and says all that is wrong with it.
func (f *privateManifestsFlags) upstream(ctx context.Context) (parts []upstreamPart, problems []string, err error) {
	if len(f.images)+len(f.dirs) > 0 {
		if parts, problems, err = f.rendered(ctx); err != nil {
			return nil, nil, err
		}
	}
	for _, given := range f.files {
		part, err := readUpstream(given)
		if err != nil {
			problems = append(problems, err.Error())
		}
		parts = append(parts, part)
	}
	slices.SortStableFunc(parts, func(a, b upstreamPart) int { return cmp.Compare(a.route, b.route) })
	return parts, problems, nil
}

// rendered are the components of images and folders, as the operator renders them. What an image may contain is not asked: only
// definitions, roles and webhooks are taken of it.
func (f *privateManifestsFlags) rendered(ctx context.Context) (parts []upstreamPart, problems []string, err error) {
	values, err := substitutions(f.set, "")
	if err != nil {
		return nil, nil, err
	}
	profiles, wrong := f.load(ctx)
	rev, err := render.Render(render.Input{Profiles: profiles, Platform: f.platform, Substitutions: values})
	var found render.ProblemsError
	if errors.As(err, &found) {
		wrong = append(wrong, found...)
	} else if err != nil {
		return nil, nil, err
	}
	if rev != nil {
		wrong = append(wrong, f.barren(rev)...)
	}
	for _, problem := range wrong {
		problems = append(problems, f.named(problem).String())
	}
	if rev == nil {
		return nil, problems, nil
	}
	for _, c := range rev.Components {
		parts = append(parts, upstreamPart{c.Name, c.Objects})
	}
	return parts, problems, nil
}

// barren are the images and folders of which nothing would be made: whoever gives one means something of it.
func (f *privateManifestsFlags) barren(rev *render.Revision) (problems []render.Problem) {
	platforms := map[string][]string{}
	for _, s := range rev.Skipped {
		platforms[s.Image] = append(platforms[s.Image], s.Platform)
	}
	for _, c := range rev.Components {
		delete(platforms, c.Image)
	}
	for _, image := range slices.Sorted(maps.Keys(platforms)) {
		of := slices.Compact(slices.Sorted(slices.Values(platforms[image])))
		problems = append(problems, render.Problem{Image: image, Cause: fmt.Sprintf(
			"it has no profile for platform %s, so that nothing would be made of it: say --platform %s", f.platform, strings.Join(of, ", or "))})
	}
	return problems
}

// readUpstream reads a file, given as [route=]file.
func readUpstream(given string) (upstreamPart, error) {
	route, file, named := strings.Cut(given, "=")
	if !named {
		file = given
		route = strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	if !routeForm.MatchString(route) {
		return upstreamPart{}, fmt.Errorf("--file %s: the route %q is not made of lowercase letters, digits, - and .; give one as route=file", given, route)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return upstreamPart{}, fmt.Errorf("reading the objects of --file: %w", err)
	}
	objects, err := deploy.Parse(text)
	if err != nil {
		return upstreamPart{}, fmt.Errorf("reading the objects of --file %s: %w", file, err)
	}
	return upstreamPart{route, slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return len(o.Object) == 0 })}, nil
}
