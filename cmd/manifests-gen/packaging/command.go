package packaging

import (
	"fmt"
	"io"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/spf13/cobra"
)

const long = `manifests-gen runs kustomize on a folder and writes the result as a profile that
Capstan installs:

  <manifests-path>/<profile-name>/metadata.yaml
  <manifests-path>/<profile-name>/manifests.yaml
  <manifests-path>/<profile-name>/manifests-summary.yaml  (with --manifests-summary)

On the way the objects are fitted to OpenShift:
  - everything namespaced moves to namespace ` + Namespace + `, and so do the
    subjects, webhook services and container arguments that name a namespace;
  - Namespace, Secret and cert-manager.io objects are dropped;
  - cert-manager's CA injection and Certificates become Service CA annotations;
  - Deployments get small resource requests, no limits, the system-cluster-critical
    priority and the annotations of a management workload;
  - webhooks only see objects of namespace ` + Namespace + `;
  - a container whose image is not in ` + Registry + ` is refused.

Two ConfigMaps among the resources of the kustomization are read and left out:
  ` + excludeSettings + `  data.excludeCRDs: a line per CRD, <plural>.<group>, that is
                            removed with everything that names it
  ` + renameSettings + `   data.renameResources: a line per object,
                            <group>/<Kind>/<old name>=<new name>, that is renamed
                            with every reference to it

Substitutions such as ${VAR:=default} are left for the cluster to fill in.
The same input gives the same bytes, in whatever order kustomize lists it.`

const example = `  manifests-gen --kustomize-dir openshift --manifests-path /capi-operator-manifests \
    --name infrastructure-aws --platform AWS --install-order 20 \
    --self-image-ref registry.ci.openshift.org/openshift:cluster-api-provider-aws \
    --attribute type=infrastructure --attribute version=v2.12.1 \
    --protect-cluster-resource awscluster --manifests-summary`

// Command returns the command manifests-gen with its arguments. Flags may be
// written with one dash or with two.
func Command(args []string) *cobra.Command {
	var (
		o          Options
		platform   string
		attributes []string
		check      bool
	)
	command := &cobra.Command{
		Use:          "manifests-gen",
		Short:        "Package a provider's kustomization as a profile for Capstan",
		Long:         long,
		Example:      example,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			parsed, err := parseAttributes(attributes)
			if err != nil {
				return err
			}
			o.Platform, o.Attributes = configv1.PlatformType(platform), parsed
			return generate(command.OutOrStdout(), o, check)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.ManifestsPath, "manifests-path", "", "folder that receives the profile's folder (required)")
	flags.StringVar(&o.ProfileName, "profile-name", DefaultProfile, "name of the profile and of its folder")
	flags.StringVar(&o.KustomizeDir, "kustomize-dir", "", "folder with the kustomization.yaml to package (required)")
	flags.StringVar(&o.Name, "name", "", "name of the component that the profile installs: letters, digits and '-' (required)")
	flags.StringVar(&platform, "platform", "", "the only platform to install on, one of "+strings.Join(platformNames(), ", ")+"; empty means all")
	flags.IntVar(&o.InstallOrder, "install-order", 0, "components with a lower number are installed, and complete, first")
	flags.StringVar(&o.SelfImageRef, "self-image-ref", "", "image reference in the manifests that stands for the provider image itself and is replaced by its digest")
	flags.StringArrayVar(&attributes, "attribute", nil, "informative key=value about the profile, e.g. version=v2.12.1 (repeatable)")
	flags.StringVar(&o.ProtectClusterResource, "protect-cluster-resource", "", "singular name of the infrastructure cluster resource, e.g. awscluster; a policy is added that forbids deleting the one that is the cluster's own")
	flags.BoolVar(&o.ManifestsSummary, "manifests-summary", false, "also write "+SummaryFile+", a list of the objects for reviewers")
	flags.BoolVar(&check, "check", false, "write nothing: compare with what is on disk, print the difference and exit 1 if there is one")
	for _, name := range []string{"manifests-path", "kustomize-dir", "name"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // only a misspelt flag name in the list above
		}
	}
	command.SetArgs(doubleDashes(args, flags))
	return command
}

func generate(out io.Writer, o Options, check bool) error {
	profile, err := Build(o)
	if err != nil {
		return err
	}
	if check {
		return profile.Check(out, o.ManifestsPath, o.ProfileName)
	}
	folder, err := profile.Write(o.ManifestsPath, o.ProfileName)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %d objects, %d KiB\n", folder, profile.Objects, len(profile.Manifests)/1024); err != nil {
		return err
	}
	return profile.Report(out)
}

func parseAttributes(pairs []string) (map[string]string, error) {
	attributes := map[string]string{}
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("--attribute %q is not of the form key=value", pair)
		}
		if earlier, twice := attributes[key]; twice {
			return nil, fmt.Errorf("--attribute %s is given twice, as %q and %q", key, earlier, value)
		}
		attributes[key] = value
	}
	return attributes, nil
}
