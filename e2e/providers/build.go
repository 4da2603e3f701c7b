// Package providers makes the provider images of the demo and of the e2e suite
// from the real providers' Go modules: it fetches pinned versions, packages
// them with manifests-gen, and pushes them by digest. It refuses modules whose
// hash is not the pinned one, and knows nothing of Capstan but the layout of a
// provider image.
package providers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"
)

//go:embed kustomize
var kustomizations embed.FS

// Options say which release to build, where to keep the result and with which tool.
type Options struct {
	// Release is one of releases.yaml.
	Release string
	// Dir keeps built profiles from run to run; conventionally bin/providers.
	Dir string
	// ManifestsGen is the path of the manifests-gen binary.
	ManifestsGen string
}

// Profile is a component of a release, packaged.
type Profile struct {
	// Component and Version are as in releases.yaml.
	Component, Version string
	// Folder holds one folder per profile with metadata.yaml and manifests.yaml.
	Folder string
}

// Build packages every component of a release, the core first. What was built
// before from the same pins, kustomization and tool is taken from o.Dir, with
// no module looked at.
func Build(ctx context.Context, o Options) ([]Profile, error) {
	wanted, err := components(o.Release)
	if err != nil {
		return nil, err
	}
	tool, err := hashFile(o.ManifestsGen)
	if err != nil {
		return nil, fmt.Errorf("finding manifests-gen (build it with: make build): %w", err)
	}
	profiles := make([]Profile, len(wanted))
	var missing []pinned
	for i, p := range wanted {
		key, err := cacheKey(p, tool)
		if err != nil {
			return nil, err
		}
		profiles[i] = Profile{
			Component: p.Name,
			Version:   p.Version,
			Folder:    filepath.Join(o.Dir, p.Name+"-"+p.Version+"-"+key),
		}
		if _, err := os.Stat(profiles[i].Folder); errors.Is(err, os.ErrNotExist) {
			missing = append(missing, p)
		} else if err != nil {
			return nil, fmt.Errorf("looking for the built profile of %s: %w", p.Name, err)
		}
	}
	if len(missing) == 0 {
		return profiles, nil
	}
	return profiles, buildMissing(ctx, o, missing, profiles)
}

func buildMissing(ctx context.Context, o Options, missing []pinned, profiles []Profile) error {
	modules, err := download(ctx, missing)
	if err != nil {
		return err
	}
	folders := map[string]string{}
	for _, profile := range profiles {
		folders[profile.Component] = profile.Folder
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2) // each takes one core and some 300 MB
	for _, p := range missing {
		group.Go(func() error {
			if err := buildOne(ctx, o, p, modules[p.module()], folders[p.Name]); err != nil {
				return fmt.Errorf("building the profile of %s from %s: %w", p.Name, p.module(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// buildOne packages beside the target and renames, so that a profile is there as a whole or not at all.
func buildOne(ctx context.Context, o Options, p pinned, module, target string) error {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(o.Dir, "."+p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	// kustomize refuses bases outside of its folder: the module's config moves in.
	if err := os.CopyFS(filepath.Join(work, "stage", "config"), os.DirFS(filepath.Join(module, cmp.Or(p.Config, "config")))); err != nil {
		return fmt.Errorf("staging the module's config folder: %w", err)
	}
	kustomization, err := kustomizationOf(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "stage", "kustomization.yaml"), kustomization, 0o644); err != nil {
		return err
	}
	output := filepath.Join(work, "profiles")
	if err := generate(ctx, o, p, filepath.Join(work, "stage"), output); err != nil {
		return err
	}
	if err := os.Rename(output, target); err != nil {
		if _, found := os.Stat(target); found == nil {
			return nil // somebody else built the same at the same time
		}
		return err
	}
	return nil
}

func generate(ctx context.Context, o Options, p pinned, kustomization, output string) error {
	command := exec.CommandContext(ctx, o.ManifestsGen, append(arguments(p), "--kustomize-dir", kustomization, "--manifests-path", output)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("running manifests-gen: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

func arguments(p pinned) []string {
	return []string{
		"--name", p.Name,
		"--platform", p.Platform,
		"--install-order", strconv.Itoa(p.InstallOrder),
		"--self-image-ref", p.SelfImageRef,
		"--attribute", "type=" + p.Type,
		"--attribute", "version=" + p.Version,
	}
}

func kustomizationOf(p pinned) ([]byte, error) {
	content, err := kustomizations.ReadFile("kustomize/" + p.Name + "/kustomization.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the kustomization of %s: %w", p.Name, err)
	}
	return content, nil
}

// cacheKey changes with everything that the profile is made from.
func cacheKey(p pinned, tool []byte) (string, error) {
	kustomization, err := kustomizationOf(p)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s\n%q\n%x\n", path.Join(p.module(), p.Config), p.Sum, arguments(p), tool)
	hash.Write(kustomization)
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

func hashFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return nil, err
	}
	return hash.Sum(nil), nil
}
