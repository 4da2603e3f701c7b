package clusterapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// fetched has some images at hand.
type fetched struct {
	images.Source
	images map[images.Ref]*images.Image
}

func (f fetched) State(ref images.Ref) images.State {
	if image, is := f.images[ref]; is {
		return images.State{Phase: images.Ready, Image: image}
	}
	return images.State{}
}

func TestAtHand_requires_nothing_of_definitions_as_the_images_that_are_missing_have_a_say_in_it(t *testing.T) {
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	const asks = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: capi\n  annotations: {capi-operator.openshift.io/requires-crd-versions: v1beta1/things.example.com}\n"
	core, infra := images.Ref("r.example/core@"+digest), images.Ref("r.example/infra@"+digest)
	var profiles []render.Profile
	all := fetched{images: map[images.Ref]*images.Image{}}
	for ref, text := range map[images.Ref]string{core: crd, infra: asks} {
		metadata := fmt.Appendf(nil, "name: %s\n", strings.TrimSuffix(string(ref)[len("r.example/"):], "@"+digest))
		profiles = append(profiles, render.Profile{Image: string(ref), Name: "default", Metadata: metadata, Manifests: []byte(text)})
		all.images[ref] = &images.Image{Profiles: []images.Profile{{Name: "default", Metadata: metadata, Manifests: []byte(text)}}}
	}
	whole, err := render.Render(render.Input{Profiles: profiles, Unmanaged: []string{"things.example.com"}, Namespace: "capi"})
	if err != nil {
		t.Fatal(err)
	}
	entry := NewEntry("4.22.5", 1, whole)
	proven := proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 1, Revision: string(entry.Name), ContentID: entry.ContentID, Listed: ProofOf(entry)}}}}

	some := fetched{images: map[images.Ref]*images.Image{core: all.images[core]}}
	p := &Phases{Images: some, Release: "4.22.5", CAPINamespace: "capi"}
	part := p.atHand(&entry, proven)
	if part == nil || !part.Partial || len(part.Unmanaged) != 1 {
		t.Fatalf("at hand is %+v", part)
	}
	if got := requirementsIn(part); len(got) != 0 {
		t.Errorf("the part requires %s", got)
	}

	rendered, err := (&Phases{Images: all, Release: "4.22.5", CAPINamespace: "capi"}).revision(&entry, nil, proven)
	if err != nil {
		t.Fatal(err)
	}
	if got := requirementsIn(rendered); len(got) != 2 {
		t.Errorf("the whole requires %s", got)
	}
}

func requirementsIn(revision *engine.Revision) (names []string) {
	for _, c := range revision.Components {
		for _, key := range c.Keys() {
			if key.Kind == "CompatibilityRequirement" {
				names = append(names, key.Name)
			}
		}
	}
	return names
}
