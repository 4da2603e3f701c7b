package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/creating"
	"github.com/capstan-capi/capstan/phases/payload"
)

// noInfrastructure is the exit code that says that somebody has to fill in infrastructure.
const noInfrastructure = 2

type createFlags struct {
	creating.Options
	config, state, manifests, folder string
	policy, management               string
	credentials                      bool
}

func createCommand() *cobra.Command {
	f := &createFlags{}
	cmd := &cobra.Command{
		Use:   "create --install-config FILE --release-image REF",
		Short: "Makes all objects by which a cluster is asked for out of an install-config",
		Long: `Makes of an install-config what is to be applied on a management plane: a Namespace, Secrets with the install-config
and manifests, a Cluster, an OpenShiftControlPlane, its infrastructure, and a MachineDeployment for each pool of
workers, for each of its zones if it names some. No cluster and no cloud is asked. The same input gives the same
output, on every machine.

Infrastructure is made for AWS, and with --infrastructure dev, on any platform, for the dev provider of Cluster API,
whose machines are in memory. For other platforms everything else is made, and the fields that somebody has to fill
in are named on standard error.

On AWS the image of the release has to be named, by platform.aws.defaultMachinePlatform.amiID, amiID of a pool, or
--aws-ami. With --aws-credentials provider and guest get the access key in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY; without it the provider uses its own, and the guest has none unless a manifest brings them.
Names api and api-int of the cluster's domain are not made in DNS: a hook has to wait for who makes them.

What is made has what is secret in it. A folder that it is written into has to be new, or empty. Secrets are labelled
so that clusterctl moves them with the cluster.

Exit codes:

  0  all of it was made
  1  what is given is not right: all that is wrong is on standard error, a line each, and nothing is made
  2  all but infrastructure was made: the fields to fill in are on standard error, a line each`,
		Example: `  capstan-provider create --install-config install-config.yaml \
      --release-image quay.io/openshift-release-dev/ocp-release@sha256:... --aws-ami ami-0123456789abcdef0 \
      | capstan-provider apply --file -
  capstan-provider create --install-config install-config.yaml --release-image REF --manifests ./assets --folder ./objects`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "install-config", "", "`file` with an install-config")
	flags.StringVar(&f.state, "install-state", "", "`file` with the installer's own state, .openshift_install_state.json, beside an install-config or instead of one")
	flags.StringVar(&f.manifests, "manifests", "", "`folder` with more manifests for the guest, in its folders manifests and openshift")
	flags.StringVar(&f.ReleaseImage, "release-image", "", "`image` of the release that is to be installed")
	flags.StringVar(&f.policy, "release-image-policy", string(v1alpha1.DigestPolicy), "Digest, or Tag to let the image be named by a tag")
	flags.StringVar(&f.Namespace, "namespace", "", "`namespace` of the objects (default the cluster's name)")
	flags.StringVar(&f.management, "management", string(v1alpha1.Handover), "who has the say over control-plane machines once the cluster is installed: Handover or Managed")
	flags.StringVar(&f.Infrastructure, "infrastructure", "", "dev for machines in memory (default the platform's)")
	flags.StringVar(&f.AWS.AMI, "aws-ami", "", "`image` that machines on AWS are started from, where the install-config names none")
	flags.StringVar(&f.AWS.VPC, "aws-vpc", "", "`network` that the subnets of the install-config are in")
	flags.BoolVar(&f.credentials, "aws-credentials", false, "give the access key of the environment to the infrastructure provider and to the guest")
	flags.StringVar(&f.AWS.ProviderNamespace, "provider-namespace", "openshift-cluster-api", "`namespace` in which the infrastructure provider reads credentials")
	flags.StringVar(&f.folder, "folder", "", "`folder` to write a file for each object to (default one document after the other on standard output)")
	return cmd
}

func (f *createFlags) run(out, errs io.Writer) error {
	given, err := f.given()
	if err != nil {
		return err
	}
	made, err := creating.Make(given)
	if problems, is := errors.AsType[payload.InputsError](err); is {
		tellProblems(errs, problems)
		return fmt.Errorf("nothing is made, because of %s", count(len(problems), "problem"))
	} else if err != nil {
		return err
	}
	if f.folder != "" {
		err = creating.WriteFolder(f.folder, made.Objects)
	} else {
		err = creating.Write(out, made.Objects)
	}
	if err != nil || len(made.Missing) == 0 {
		return err
	}
	tellProblems(errs, made.Missing)
	return exit(noInfrastructure)
}

func (f *createFlags) given() (creating.Given, error) {
	given := creating.Given{ConfigName: f.config, StateName: f.state, Options: f.Options}
	if f.config == "" && f.state == "" {
		return given, errors.New("nothing is given to make objects of: name an install-config with --install-config")
	}
	given.ReleaseImagePolicy, given.Management = v1alpha1.ReleaseImagePolicy(f.policy), v1alpha1.Management(f.management)
	if f.credentials {
		given.AWS.Credentials = &creating.Credentials{KeyID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY")}
	}
	var err error
	for _, one := range []struct {
		name string
		into *[]byte
	}{{f.config, &given.Config}, {f.state, &given.State}} {
		if one.name == "" {
			continue
		}
		if *one.into, err = creating.ReadFile(one.name); err != nil {
			return given, err
		}
	}
	if f.manifests != "" {
		given.Manifests, err = creating.ReadManifests(f.manifests)
	}
	return given, err
}

func tellProblems(errs io.Writer, problems []payload.Problem) {
	for _, problem := range problems {
		fmt.Fprintln(errs, problem)
	}
}

func count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}
