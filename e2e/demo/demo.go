package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// platform is what the demo's cluster says it runs on: providers of the other
// platforms are listed in the release and left out by the operator.
const platform = configv1.AWSPlatformType

const reportFile = "report.json"

// demonstration is one run of the demo.
type demonstration struct {
	bin, dir string
	display  *display
	stage    *harness.Environment
	operator *harness.Operator
	follower *follower
	report   report
	shown    []shown
}

// demonstrate runs a demo. Its folder keeps the report and, after a failure,
// all logs.
func demonstrate(ctx context.Context, out *os.File, bin, dir string, play func(*demonstration, context.Context) error) error {
	d := &demonstration{bin: bin, dir: dir, display: newDisplay(out)}
	claim, err := claimDir(d.dir)
	var taken *claimedError
	if errors.As(err, &taken) {
		return fmt.Errorf("another demo is running: %w", err)
	}
	if err != nil {
		return err
	}
	defer claim.release()
	if err := claim.clear(); err != nil {
		return err
	}
	err = play(d, ctx)
	d.display.wipe()
	stopped := d.stop()
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, stopped, claim.clear(reportFile))
	}
	if d.operator != nil {
		err = fmt.Errorf("%w\nThe operator's log is %s; the cluster's logs are beside it", err, d.operator.Log)
	}
	return errors.Join(err, stopped)
}

func (d *demonstration) clusterDir() string { return filepath.Join(d.dir, "cluster") }

func (d *demonstration) stop() error {
	if d.stage == nil {
		return nil
	}
	return d.stage.Stop()
}

func (d *demonstration) play(ctx context.Context) error {
	var versions [2]map[string]string
	var err error
	for i, release := range []string{providers.ReleaseOne, providers.ReleaseTwo} {
		if versions[i], err = build(ctx, d.display, d.bin, release); err != nil {
			return err
		}
	}
	if err := d.begin(ctx, "the provider images of releases one and two are"); err != nil {
		return err
	}
	if err := d.install(ctx, versions[0]); err != nil {
		return fmt.Errorf("installing release one: %w", err)
	}
	if err := d.upgrade(ctx, versions[1]); err != nil {
		return fmt.Errorf("upgrading to release two: %w", err)
	}
	_, made, err := d.useClusterAPI(ctx)
	if err != nil {
		return err
	}
	d.display.step("Cluster API is served: Cluster %s/%s is created with its Go type", made.Namespace, made.Name)
	if err := d.operator.Stop(); err != nil {
		return err
	}
	d.conclude()
	return save(filepath.Join(d.dir, reportFile), d.report)
}

// begin starts the cluster, once images are built.
func (d *demonstration) begin(ctx context.Context, images string) error {
	d.display.step("%s built from the providers' Go modules", images)
	return d.start(ctx)
}

// start starts the cluster, with definitions that are there from the beginning.
func (d *demonstration) start(ctx context.Context, definitions ...*apiextensionsv1.CustomResourceDefinition) (err error) {
	d.display.now("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok")
	if d.stage, err = harness.Start(ctx, harness.Options{Bin: d.bin, Dir: d.clusterDir(), ServiceCA: true, Definitions: definitions}); err != nil {
		return err
	}
	d.display.step("a cluster and a registry are running: kubectl --kubeconfig %s", d.stage.Cluster.Kubeconfig())
	return nil
}

// buildPatience is how long the first build of a release may take, its
// downloads included.
const buildPatience = 10 * time.Minute

// build returns the version of each component of a release.
func build(ctx context.Context, display *display, bin, release string) (map[string]string, error) {
	display.now("building the provider images of release " + release)
	ctx, cancel := context.WithTimeout(ctx, buildPatience)
	defer cancel()
	profiles, err := harness.Build(ctx, bin, release)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
		return nil, fmt.Errorf("giving up after %s: %w", buildPatience, err)
	}
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, profile := range profiles {
		versions[profile.Component] = profile.Version
	}
	return versions, nil
}

func (d *demonstration) install(ctx context.Context, versions map[string]string) error {
	references, err := d.stage.Push(ctx, providers.ReleaseOne)
	if err != nil {
		return err
	}
	if err := d.stage.Begin(ctx, harness.World{Platform: platform, Images: references}); err != nil {
		return err
	}
	d.display.say("\nInstalling release one on platform %s: %s", platform, listed(versions))
	d.follower = &follower{reader: d.stage.Client, display: d.display, images: len(references), objects: map[int64]int{}}
	mark, err := d.stage.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	if d.operator, err = d.stage.StartOperator(harness.OperatorOptions{LeaderElect: true}); err != nil {
		return err
	}
	d.report.Install, err = d.measure(ctx, d.operator.Started, mark, 1, versions)
	return err
}

func (d *demonstration) upgrade(ctx context.Context, versions map[string]string) error {
	references, err := d.stage.Push(ctx, providers.ReleaseTwo)
	if err != nil {
		return err
	}
	d.display.say("\nUpgrading to release two: %s", listed(versions))
	mark, err := d.stage.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	started := time.Now()
	if err := d.stage.SetImages(ctx, references); err != nil {
		return err
	}
	d.report.Upgrade, err = d.measure(ctx, started, mark, 2, versions)
	return err
}

// measure follows the operator until a revision is installed, and counts what
// that took since a moment and a mark in the audit log.
func (d *demonstration) measure(ctx context.Context, started time.Time, mark cluster.Mark, revision int64, versions map[string]string) (effort, error) {
	ctx, cancel := d.operator.Context(ctx)
	defer cancel()
	v, err := d.follower.until(ctx, revision)
	if err != nil {
		return effort{}, err
	}
	requests, err := d.stage.Cluster.RequestsSince(ctx, mark)
	if err != nil {
		return effort{}, err
	}
	requests = requests.By(harness.UserAgent)
	current := v.Revision(v.Current())
	objects, err := harness.Inventory(ctx, d.stage.Client, current.Revision)
	if err != nil {
		return effort{}, err
	}
	e := effort{
		Seconds: v.Record.Since.Sub(started).Round(time.Millisecond).Seconds(), Objects: objects,
		Writes: len(requests.Writes()), Requests: len(requests),
	}
	d.display.step("revision %s is installed: %d objects in %.1f s, with %d requests of which %d writes",
		current.Name, e.Objects, e.Seconds, e.Requests, e.Writes)
	d.shown = append(d.shown, shown{*current, versions})
	d.report.take(v, d.follower.path)
	return e, nil
}
