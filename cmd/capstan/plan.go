package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/plan"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

type planFlags struct {
	inspect.Access
	sources
	payload           string
	release           string
	account           string
	operatorNamespace string
	capiNamespace     string
	pullSecrets       []string
	output            string
	all, exitCode     bool
	without           comparison
	// progress is where it is told that something takes long; nil: nowhere.
	progress io.Writer
}

func planCommand() *cobra.Command {
	f := &planFlags{}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Tells what an upgrade would do to this cluster",
		Long: `Tells what the operator would do with other provider images: for each object, wave by wave, whether
it is created, changed, replaced or removed, with the fields that change, and what would stop it.

The images are those that ConfigMap capi-installer-images lists, or those of --image and --dir, or those that
the ConfigMap in the manifests of a release lists (--payload, a folder or the release image by digest).
What becomes of an object is decided by the operator's own rules, and the API server is asked by dry runs.
Nothing is changed: what is no get, list, dry run or review is refused before it is sent.

It looks as the operator, if you may impersonate its ServiceAccount, so that policies that name it count; else as
you, with dry runs where you may write. What was not tried is marked:

  tried     a dry run says so
  computed  by what is there: you may not try it, or a webhook does not support dry runs
  later     what it takes (its kind, its namespace, a schema, a role), or a webhook or policy that judges it, comes
            with an earlier wave
  unseen    you may not read it; that is a stop (exit code 3)

With --from and --to it compares two sets of images for a platform, without a cluster. Release images are taken there
too, by digest.

Exit codes: 0 if there is nothing to do, 2 if there is, 3 if something would stop it or cannot be told, 1 after an
error. --exit-code=false makes 2 and 3 a 0.`,
		Example: `  capstan plan
  capstan plan --image quay.io/example/core@sha256:4e1f... --image quay.io/example/aws@sha256:90ab...
  capstan plan --payload bin/payload -o name
  capstan plan --payload quay.io/openshift-release-dev/ocp-release@sha256:77ce...
  capstan plan --from ./old --to ./new --platform AWS -o diff
  capstan plan --from quay.io/openshift-release-dev/ocp-release@sha256:77ce... --to bin/payload --platform AWS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.progress = cmd.ErrOrStderr()
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	f.Access.Timeout = dryRunTimeout
	flags.Lookup("request-timeout").DefValue = dryRunTimeout.String()
	flags.StringArrayVar(&f.images, "image", nil, "provider image by digest, as `host/path@sha256:...`, in place of the list (repeatable)")
	flags.StringArrayVar(&f.dirs, "dir", nil, "`folder` with the content of a provider image, in place of the list (repeatable)")
	flags.StringVar(&f.payload, "payload", "", "`folder` with the manifests of a release, or its image by digest, whose list of images counts")
	flags.StringVar(&f.release, "release-version", "", "`version` that begins the revision's name; without it that of the list, or of the newest revision")
	f.lookFlags(flags)
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator and its list of images")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text`, json, name or diff")
	flags.BoolVar(&f.all, "all", false, "show every object and field in the text")
	flags.BoolVar(&f.exitCode, "exit-code", true, "answer by the exit code")
	f.without.flags(flags)
	return cmd
}

// lookFlags are those of how it looks.
func (f *planFlags) lookFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.account, "operator-account", operatorAccount, "`name` of the operator's ServiceAccount")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` that the providers are installed in")
	flags.StringArrayVar(&f.pullSecrets, "pull-secret", []string{pullSecret}, "`namespace/name` of a Secret with credentials for registries (repeatable)")
	flags.StringVar(&f.cacheDir, "cache-dir", userCache(), "`folder` that keeps provider images by digest; empty for none")
	f.registryFlags(flags)
}

// operatorAccount is the operator's ServiceAccount, as deploy has it.
const operatorAccount = "capstan"

// dryRunTimeout is how long a request may take: a dry run asks webhooks, each of which may take half a minute.
const dryRunTimeout = 40 * time.Second

// userCache is where the commands of a user keep images.
func userCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "capstan")
}

var planFormats = map[string]func(*plan.Plan, io.Writer, bool) error{
	"text": (*plan.Plan).Write,
	"json": func(p *plan.Plan, out io.Writer, _ bool) error { return terminal.JSON(out, p) },
	"name": func(p *plan.Plan, out io.Writer, _ bool) error { return p.WriteNames(out) },
	"diff": func(p *plan.Plan, out io.Writer, _ bool) error { return p.WriteDiff(out) },
}

func (f *planFlags) validate() error {
	named := 0
	for _, is := range []bool{len(f.images)+len(f.dirs) > 0, f.payload != "", f.without.given()} {
		if is {
			named++
		}
	}
	switch {
	case planFormats[f.output] == nil:
		return fmt.Errorf("--output %q is neither text, json, name nor diff", f.output)
	case named > 1:
		return errors.New("--image and --dir, --payload, and --from with --to each name all images: give one of them")
	case f.release != "" && !releaseForm.MatchString(f.release):
		return fmt.Errorf("--release-version %q is not a version such as 4.22.5", f.release)
	}
	for _, key := range f.pullSecrets {
		if notAKey(key) {
			return fmt.Errorf("--pull-secret %s is not of the form namespace/name", key)
		}
	}
	return f.without.validate()
}

func (f *planFlags) run(ctx context.Context, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	made, err := f.make(ctx)
	if err != nil {
		return err
	}
	if err := planFormats[f.output](made, out, f.all); err != nil {
		return err
	}
	if code := made.Code(); f.exitCode && code != 0 {
		return exit(code)
	}
	return nil
}

func (f *planFlags) make(ctx context.Context) (*plan.Plan, error) {
	if f.without.given() {
		return f.compare(ctx)
	}
	look, err := f.foresee(ctx)
	if err != nil {
		return nil, err
	}
	return look.plan(ctx), nil
}

// foreseen is what a look at the cluster came to, with which access, and in which state the machine was.
type foreseen struct {
	*phases.Foresight
	access *plan.Access
	state  string
}

func (l foreseen) plan(ctx context.Context) *plan.Plan {
	return plan.Of(ctx, l.Foresight, l.access, l.state, time.Now())
}

// foresee looks at the cluster.
func (f *planFlags) foresee(ctx context.Context) (foreseen, error) {
	instead, err := f.instead()
	if err != nil {
		return foreseen{}, err
	}
	config, err := f.Config()
	if err != nil {
		return foreseen{}, err
	}
	return f.foreseeBy(ctx, config, instead)
}

// foreseeBy is foresee over a connection that is there.
func (f *planFlags) foreseeBy(ctx context.Context, config *rest.Config, instead phases.Instead) (foreseen, error) {
	access, err := plan.NewAccess(ctx, config, plan.Account{Namespace: f.operatorNamespace, Name: f.account})
	if err != nil {
		return foreseen{}, err
	}
	foreseer, err := f.foreseer(access.Config)
	if err != nil {
		return foreseen{}, err
	}
	look := foreseen{access: access}
	look.state, instead.Acts = f.told(ctx, access.Config)
	if look.Foresight, err = foreseer.Foresee(ctx, instead, engine.ForeseeOptions{MayTry: access.MayTry}); err != nil {
		return foreseen{}, inspect.Explain(err, config.Host, "read", "the inputs of the operator")
	}
	return look, nil
}

// foreseer binds the operator's own phases to a connection that changes nothing.
func (f *planFlags) foreseer(config *rest.Config) (*phases.Foreseer, error) {
	opts := options.Options{OperatorNamespace: f.operatorNamespace, CAPINamespace: f.capiNamespace}
	opts.PullSecrets = keysOf(f.pullSecrets)
	kinds := controllers.Kinds(opts)
	heard := &inspect.ServerClock{}
	config = heard.Hears(config)
	connection, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	mapper, err := kinds.Mapper(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	live, err := ctrl.New(config, ctrl.Options{HTTPClient: connection, Scheme: kinds.Scheme(), Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	reader := plan.NewReader(live)
	return phases.NewForeseer(phases.Options{
		Client: reader, Live: reader, REST: config, HTTP: connection, Release: f.release, OperatorNamespace: f.operatorNamespace, CAPINamespace: f.capiNamespace,
		CacheDir: f.cacheDir, InsecureRegistries: f.insecure, InsecureCredentials: f.clear, ExtraCAFile: f.extraCAs, PullSecrets: opts.PullSecrets,
		Concurrency: 8, Clock: serverTime{heard: heard}, Log: logr.Discard(),
	}, controllers.Views()[0].Table.Name)
}

// serverTime is a clock that shows the time of the API server, by which acts end.
type serverTime struct {
	clock.RealClock
	heard *inspect.ServerClock
}

func (s serverTime) Now() time.Time { return s.RealClock.Now().Add(s.heard.Ahead()) }

// told is the state of the machine, and what the operator says of acts; empty where nobody tells.
func (f *planFlags) told(ctx context.Context, config *rest.Config) (state string, asked []guards.Act) {
	reader, err := inspect.NewReader(config)
	if err != nil {
		return "", nil
	}
	operator, err := view.Operator(ctx, reader.Get, phases.ClusterOperatorName)
	if err != nil {
		return "", nil
	}
	var detail phases.Detail
	record, problem := view.Published(controllers.Views()[0].Table, phases.ClusterOperatorName, operator, &detail)
	if problem != "" {
		return "", nil
	}
	return string(record.State), detail.Acts
}
