package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// content is something to install: provider images for the operator, and the
// very objects that they render to, as requests of the floor.
type content struct {
	profiles []providers.Profile
	// components are in the order of installation.
	components []component
}

// component is what one image brings; CRDs are apart from the rest.
type component struct {
	name       string
	crds, rest []object
}

// object is what the floor sends, and what it waits for afterwards.
type object struct {
	kind, name string
	path       string
	payload    []byte
}

func (c content) objects() int {
	count := 0
	for _, component := range c.components {
		count += len(component.crds) + len(component.rest)
	}
	return count
}

// maker makes a content when it is needed: to package real providers takes a
// minute the first time.
type maker func(context.Context, *bench) (content, error)

// realContent is one of the contents made of real providers.
func realContent(name string) maker {
	return func(ctx context.Context, b *bench) (content, error) {
		profiles, err := b.realProfiles(ctx, name)
		if err != nil {
			return content{}, err
		}
		return b.render(ctx, profiles)
	}
}

// realProfiles are the packaged providers of release one. Those of other
// platforms than AWS are installed as well when four are asked for: a profile
// that names no platform matches all.
func (b *bench) realProfiles(ctx context.Context, name string) ([]providers.Profile, error) {
	all, err := harness.Build(ctx, b.bin, providers.ReleaseOne)
	if err != nil {
		return nil, err
	}
	if name == coreAWS {
		return slices.DeleteFunc(all, func(p providers.Profile) bool { return p.Component != providers.Core && p.Component != providers.AWS }), nil
	}
	for i, profile := range all {
		all[i], err = b.derive(profile, name, func(file string, text []byte) ([]byte, error) {
			lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool {
				return file == "metadata.yaml" && bytes.HasPrefix(line, []byte("ocpPlatform:"))
			})
			return bytes.Join(lines, nil), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// derive copies a profile into the bench's folder, with each file changed.
func (b *bench) derive(profile providers.Profile, as string, change func(file string, text []byte) ([]byte, error)) (providers.Profile, error) {
	target := filepath.Join(b.dir, "content", as, profile.Component)
	sources, err := filepath.Glob(filepath.Join(profile.Folder, "*", "*"))
	if err != nil {
		return profile, err
	}
	for _, source := range sources {
		relative, err := filepath.Rel(profile.Folder, source)
		if err != nil {
			return profile, err
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return profile, err
		}
		if text, err = change(filepath.Base(source), text); err != nil {
			return profile, fmt.Errorf("deriving %s from %s: %w", as, source, err)
		}
		if err := save(filepath.Join(target, relative), text); err != nil {
			return profile, err
		}
	}
	profile.Folder = target
	return profile, nil
}

func save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// render asks capstan what the operator will apply, in which order.
func (b *bench) render(ctx context.Context, profiles []providers.Profile) (content, error) {
	arguments := []string{"render", "--platform", "AWS", "--release-version", release, "-o", "yaml"}
	for _, profile := range profiles {
		arguments = append(arguments, "--dir", profile.Folder)
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(b.bin, "capstan"), arguments...)
	command.Stderr = &stderr
	text, err := command.Output()
	if err != nil {
		return content{}, fmt.Errorf("rendering: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	objects, err := parse(text)
	if err != nil {
		return content{}, fmt.Errorf("reading what was rendered: %w", err)
	}
	components, err := split(objects)
	return content{profiles: profiles, components: components}, err
}

func parse(text []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1<<20)
	var objects []*unstructured.Unstructured
	for {
		one := &unstructured.Unstructured{}
		if err := decoder.Decode(&one.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(one.Object) > 0 {
			objects = append(objects, one)
		}
	}
}

// split sorts objects into components by their label, in the order in which
// the components come first.
func split(objects []*unstructured.Unstructured) ([]component, error) {
	var components []component
	for _, one := range objects {
		name := one.GetLabels()[harness.ManagedByLabel]
		at := slices.IndexFunc(components, func(c component) bool { return c.name == name })
		if at < 0 {
			at = len(components)
			components = append(components, component{name: name})
		}
		payload, err := json.Marshal(one.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", one.GetKind(), one.GetName(), err)
		}
		o := object{kind: one.GetKind(), name: one.GetName(), path: pathOf(one), payload: payload}
		if o.kind == crdKind {
			components[at].crds = append(components[at].crds, o)
		} else {
			components[at].rest = append(components[at].rest, o)
		}
	}
	return components, nil
}

// pathOf is an object's address. All kinds here have the plural that is guessed.
func pathOf(o *unstructured.Unstructured) string {
	kind := o.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	path := "/apis/" + kind.Group + "/" + kind.Version
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	if o.GetNamespace() != "" {
		path += "/namespaces/" + o.GetNamespace()
	}
	return path + "/" + resource.Resource + "/" + o.GetName()
}
