package private_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// newPrivate is the world in groups of its own, with its definitions, rights and webhooks as Capstan makes them of those that the
// release brings; nothing but the shim runs.
func newPrivate(ctx context.Context) (*world, error) {
	w := &world{name: "private", group: privateGroup, managers: map[string]*manager{}}
	folders, err := configs(ctx, "worlds/private", ".")
	if err != nil {
		return nil, err
	}
	if err := w.createNamespaces(ctx); err != nil {
		return nil, err
	}
	converter, err := newShim(w.name)
	if err != nil {
		return nil, err
	}
	err = w.install(ctx, folders, func(m *manager, upstream manifests) (manifests, error) {
		brought, err := makePrivate(ctx, m.component, upstream)
		if err == nil {
			brought.redirect(converter.port)
		}
		return brought, err
	})
	if err != nil {
		return nil, err
	}
	if err := converter.start(ctx, w.managers); err != nil {
		return nil, err
	}
	w.others = append(w.others, converter.child)
	return w, nil
}

// makePrivate has Capstan make private manifests of a component's.
func makePrivate(ctx context.Context, component string, upstream manifests) (manifests, error) {
	var private manifests
	file := filepath.Join(plane.Dir(), component+"-upstream.yaml")
	if err := upstream.write(file); err != nil {
		return private, err
	}
	binary, err := product("capstan")
	if err != nil {
		return private, err
	}
	command := exec.CommandContext(ctx, binary, "private-capi", "manifests", "--file="+component+"="+file, "--output=yaml")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return private, fmt.Errorf("making private manifests of %s: %w: %s", component, err, stderr.Bytes())
	}
	return private, private.parse(out)
}

// write puts the manifests into a file, as kustomize would print them.
func (m *manifests) write(file string) error {
	objects := []any{&m.role, &m.mutating, &m.validating}
	for _, definition := range m.definitions {
		objects = append(objects, definition)
	}
	var all bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("writing manifests: %w", err)
		}
		all.WriteString("---\n")
		all.Write(document)
	}
	if err := os.WriteFile(file, all.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing manifests: %w", err)
	}
	return nil
}
