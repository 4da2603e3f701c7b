package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// environmentFile is what a reader of docs/tutorial.md has the shell read.
const environmentFile = "env"

// tutorial runs a cluster for docs/tutorial.md until it is told to end, and empties its folder then. After a failure the logs
// stay. Nothing is installed: that is the reader's.
func tutorial(ctx context.Context, out *os.File, bin, dir string) error {
	d := &demonstration{bin: bin, dir: dir, display: newDisplay(out)}
	claim, err := claimDir(dir)
	var taken *claimedError
	if errors.As(err, &taken) {
		return fmt.Errorf("the tutorial's cluster runs already, as process %d: end it by ctrl-c in its terminal", taken.pid)
	}
	if err != nil {
		return err
	}
	defer claim.release()
	if err := claim.clear(); err != nil {
		return err
	}
	err = d.teach(ctx)
	d.display.wipe()
	stopped := d.stop()
	if ctx.Err() == nil {
		return errors.Join(fmt.Errorf("%w\nThe logs are in %s", err, d.clusterDir()), stopped)
	}
	if err := errors.Join(stopped, claim.clear()); err != nil {
		return err
	}
	d.display.say("The cluster is ended, and %s is empty", dir)
	return nil
}

// teach sets everything up, and shows what the operator does until the context ends.
func (d *demonstration) teach(ctx context.Context) error {
	for _, release := range []string{providers.ReleaseOne, providers.ReleaseTwo} {
		if _, err := build(ctx, d.display, d.bin, release); err != nil {
			return err
		}
	}
	if err := d.begin(ctx, "the provider images of releases one and two are"); err != nil {
		return err
	}
	images, err := d.writeReleases(ctx)
	if err != nil {
		return err
	}
	d.display.step("releases to install are in %s", filepath.Join(d.dir, "release-*"))
	if err := d.stage.Begin(ctx, harness.World{Platform: platform, NoClusterAPI: true}); err != nil {
		return err
	}
	if err := d.operate(); err != nil {
		return err
	}
	if err := d.writeEnvironment(); err != nil {
		return err
	}
	d.display.step("an operator is running; its log is %s", d.operator.Log)
	d.display.say("\nGo on in a second terminal, in this folder, with:  source %s", d.toldPath(environmentFile))
	d.display.say("Ctrl-c ends everything here. Below is what the operator does.\n")
	return d.attend(ctx, images)
}

// writeReleases pushes what there is to install, writes the list of images of each release as a release brings it, into a folder of
// its own, and returns how many images a list has.
func (d *demonstration) writeReleases(ctx context.Context) (int, error) {
	one, err := d.stage.Push(ctx, providers.ReleaseOne)
	if err != nil {
		return 0, err
	}
	two, err := d.stage.Push(ctx, providers.ReleaseTwo)
	if err != nil {
		return 0, err
	}
	broken := maps.Clone(two)
	if broken[providers.Core], err = d.pushTooBig(ctx); err != nil {
		return 0, err
	}
	for name, references := range map[string]map[string]string{"release-one": one, "release-two": two, "release-broken": broken} {
		text, err := yaml.Marshal(&corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap}, Data: references,
		})
		if err != nil {
			return 0, fmt.Errorf("encoding the list of %s: %w", name, err)
		}
		folder := filepath.Join(d.dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return 0, fmt.Errorf("making the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, "images.yaml"), text, 0o644); err != nil {
			return 0, fmt.Errorf("writing the list of %s: %w", name, err)
		}
	}
	return len(one), nil
}

// The memory that manifests-gen has each container ask for, and more than the node has.
const (
	usualMemory = "memory: 50Mi"
	tooMuch     = "memory: 4Ti"
)

// pushTooBig pushes the core of release two with a Deployment that no node has the memory for: API servers take it, and it never
// becomes available.
func (d *demonstration) pushTooBig(ctx context.Context) (string, error) {
	profiles, err := harness.Build(ctx, d.bin, providers.ReleaseTwo)
	if err != nil {
		return "", err
	}
	for _, profile := range profiles {
		if profile.Component != providers.Core {
			continue
		}
		files, err := profile.Files()
		if err != nil {
			return "", err
		}
		changed := 0
		for name, content := range files {
			changed += bytes.Count(content, []byte(usualMemory))
			files[name] = bytes.ReplaceAll(content, []byte(usualMemory), []byte(tooMuch))
		}
		if changed == 0 {
			return "", fmt.Errorf("no container of %s asks for %q", profile.Component, usualMemory)
		}
		return d.stage.PushFiles(ctx, "providers/"+profile.Component, files)
	}
	return "", fmt.Errorf("release %s has no %s", providers.ReleaseTwo, providers.Core)
}

// writeEnvironment writes what the second terminal needs: the programs, the cluster and the registry.
func (d *demonstration) writeEnvironment() error {
	text := fmt.Sprintf("export PATH=%q:\"$PATH\"\nexport KUBECONFIG=%q\nexport REGISTRY=%s\n", d.bin, d.stage.Cluster.Kubeconfig(), d.stage.Registry.Host())
	if err := os.WriteFile(filepath.Join(d.dir, environmentFile), []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the environment: %w", err)
	}
	return nil
}

// toldPath is a path in the demonstration's folder as people type it.
func (d *demonstration) toldPath(name string) string {
	path := filepath.Join(d.dir, name)
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, path); err == nil {
			return short
		}
	}
	return path
}

// operate starts an operator.
func (d *demonstration) operate() (err error) {
	d.operator, err = d.stage.StartOperator(harness.OperatorOptions{LeaderElect: true})
	return err
}

// attend shows what the operator does until the context ends, and starts it again when it ends by itself, as a cluster would.
func (d *demonstration) attend(ctx context.Context, images int) error {
	f := &follower{reader: d.stage.Client, display: d.display, images: images, objects: map[int64]int{}}
	for {
		running, cancel := d.operator.Context(ctx)
		_, err := harness.Until(running, f.reader, "ctrl-c", func(v harness.View) error {
			f.show(running, v)
			return errors.New("it goes on")
		})
		cancel()
		if ctx.Err() != nil {
			return err
		}
		d.display.step("the operator has ended, and is started again: %v", d.operator.Failure())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restartAfter):
		}
		if err := d.operate(); err != nil {
			return err
		}
	}
}
