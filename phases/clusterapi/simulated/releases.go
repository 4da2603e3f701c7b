package simulated

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/phases/images"
)

// The objects that every release has, and those that only one has.
const (
	Widgets = "CustomResourceDefinition widgets.example.com"
	Manager = "Deployment capi/manager"
	Aws     = "Deployment capi/aws-manager"
)

// images of a release, by their keys in the ConfigMap.
var imageNames = []string{"aws", "core"}

// ref is the reference of a release's image.
func ref(release, image string) images.Ref {
	sum := sha256.Sum256([]byte(release + " " + image))
	return images.Ref("registry.example.com/" + image + "@sha256:" + hex.EncodeToString(sum[:]))
}

// profilesOf renders nothing yet: it is what lies in a release's image. Every
// release has the same objects with content of its own, a ConfigMap that no
// other release has, and a CRD of the same kind that may hold users' data.
func profilesOf(release, image string) []images.Profile {
	var manifests []string
	switch image {
	case "core":
		manifests = []string{
			crd("widgets", "Widget"), crd("only-"+release, "Only"), configMap("settings", release), configMap("only-"+release, release), deployment("manager", release),
		}
	case "aws":
		manifests = []string{configMap("aws-settings", release), deployment("aws-manager", release)}
	}
	order := 10 + 10*slices.Index([]string{"core", "aws"}, image)
	return []images.Profile{{
		Name: "default", Metadata: fmt.Appendf(nil, "name: %s\ninstallOrder: %d\n", image, order), Manifests: []byte(strings.Join(manifests, "---\n")),
	}}
}

func crd(plural, kind string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]s.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`, plural, kind)
}

func configMap(name, content string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: capi}\ndata: {content: %q}\n", name, content)
}

func deployment(name, content string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: capi}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: manager, image: "registry.example.com/%[1]s:%[2]s"}]}
`, name, content)
}
