package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// syntheticComponents share the objects of a made-up content evenly.
const syntheticComponents = 5

// crdKind is the kind that the floor's first gate is about.
const crdKind = "CustomResourceDefinition"

// syntheticContent is a content of this many objects, a multiple of 500: in
// each hundred 2 CustomResourceDefinitions, 1 Deployment with its Service and
// ServiceAccount, 5 ClusterRoles and as many ClusterRoleBindings, 10 Roles and
// as many RoleBindings, and 65 ConfigMaps of one KiB.
func syntheticContent(size int) maker {
	return func(ctx context.Context, b *bench) (content, error) {
		var profiles []providers.Profile
		for i := range syntheticComponents {
			name := fmt.Sprintf("synthetic-%d-%c", size, 'a'+i)
			folder := filepath.Join(b.dir, "content", name)
			metadata := fmt.Sprintf("name: %s\ninstallOrder: %d\nselfImageRef: registry.example/self:%s\n", name, 10*(i+1), name)
			manifests, err := syntheticManifests(name, size/syntheticComponents)
			if err != nil {
				return content{}, err
			}
			for file, text := range map[string]string{"metadata.yaml": metadata, "manifests.yaml": manifests} {
				if err := save(filepath.Join(folder, "default", file), []byte(text)); err != nil {
					return content{}, err
				}
			}
			profiles = append(profiles, providers.Profile{Component: name, Folder: folder})
		}
		return b.render(ctx, profiles)
	}
}

// syntheticManifests are the objects of one component, as YAML documents.
func syntheticManifests(component string, size int) (string, error) {
	var documents []string
	for i := range size {
		text, err := yaml.Marshal(syntheticObject(component, i))
		if err != nil {
			return "", fmt.Errorf("encoding object %d of %s: %w", i, component, err)
		}
		documents = append(documents, string(text))
	}
	return strings.Join(documents, "---\n"), nil
}

// syntheticObject is one object of a component; its place in the hundred that
// it belongs to says of which kind.
func syntheticObject(component string, number int) map[string]any {
	hundred, place := number/100, number%100
	name := fmt.Sprintf("%s-%d-%d", component, hundred, place)
	server := fmt.Sprintf("%s-%d", component, hundred)
	switch {
	case place < 2:
		return syntheticCRD(component, number)
	case place == 2:
		return syntheticDeployment(server)
	case place == 3:
		return made("v1", "Service", server, harness.CAPINamespace, "spec", map[string]any{
			"selector": map[string]any{"app": server}, "ports": []any{map[string]any{"port": 443, "targetPort": 9443}},
		})
	case place == 4:
		return made("v1", "ServiceAccount", server, harness.CAPINamespace, "automountServiceAccountToken", true)
	case place < 10:
		return made("rbac.authorization.k8s.io/v1", "ClusterRole", fmt.Sprintf("%s-%d", server, place-5), "", "rules", syntheticRules)
	case place < 15:
		return syntheticBinding("ClusterRole", server, place-10, "")
	case place < 25:
		return made("rbac.authorization.k8s.io/v1", "Role", fmt.Sprintf("%s-%d", server, place-15), harness.CAPINamespace, "rules", syntheticRules)
	case place < 35:
		return syntheticBinding("Role", server, place-25, harness.CAPINamespace)
	}
	return made("v1", "ConfigMap", name, harness.CAPINamespace, "data", map[string]any{"setting": strings.Repeat(name+" ", 1024/len(name))})
}

var syntheticRules = []any{map[string]any{"apiGroups": []any{"synthetic.cluster.x-k8s.io"}, "resources": []any{"*"}, "verbs": []any{"get", "list", "watch"}}}

// made is an object with one field besides its metadata.
func made(version, kind, name, namespace, field string, value any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata, field: value}
}

// syntheticBinding gives the role of the same number to the component's account.
func syntheticBinding(role, server string, number int, namespace string) map[string]any {
	name := fmt.Sprintf("%s-%d", server, number)
	binding := made("rbac.authorization.k8s.io/v1", role+"Binding", name, namespace, "roleRef",
		map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name})
	binding["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": server, "namespace": harness.CAPINamespace}}
	return binding
}

func syntheticDeployment(name string) map[string]any {
	labels := map[string]any{"app": name}
	return made("apps/v1", "Deployment", name, harness.CAPINamespace, "spec", map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{
				"serviceAccountName": name,
				"containers":         []any{map[string]any{"name": "manager", "image": "registry.example/self:" + name}},
			},
		},
	})
}

// syntheticCRD has a schema of some twenty fields.
func syntheticCRD(component string, number int) map[string]any {
	singular := fmt.Sprintf("%s%d", strings.ReplaceAll(component, "-", ""), number)
	fields := map[string]any{}
	for i := range 20 {
		fields[fmt.Sprintf("field%d", i)] = map[string]any{"type": "string", "maxLength": 253, "description": "A made-up field with a sentence that says what it is good for."}
	}
	return made("apiextensions.k8s.io/v1", crdKind, singular+"s.synthetic.cluster.x-k8s.io", "", "spec", map[string]any{
		"group": "synthetic.cluster.x-k8s.io", "scope": "Namespaced",
		"names": map[string]any{"plural": singular + "s", "singular": singular, "kind": "S" + singular, "listKind": "S" + singular + "List"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type":       "object",
				"properties": map[string]any{"spec": map[string]any{"type": "object", "properties": fields}},
			}},
		}},
	})
}
