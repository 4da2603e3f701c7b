package golden_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/stream-metadata-go/arch"
	"github.com/coreos/stream-metadata-go/stream"
	"github.com/coreos/stream-metadata-go/stream/rhcos"
	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/golden"
)

var allArchitectures = []string{"amd64", "arm64", "ppc64le", "s390x"}

// name is a made-up name that a cloud could have given.
var name = rapid.StringMatching(`[a-z][a-z0-9._-]{0,8}[a-z0-9]`)

// ami is a made-up image of a stream, and none of those that were golden before.
var ami = name.Filter(func(name string) bool { return name != "old" && name != "older" })

func region(i int) string { return fmt.Sprintf("region-%d", i) }

// drawnStream makes up a stream over the library's types: all architectures, thirty regions, all variants, and gaps.
func drawnStream(t *rapid.T) *stream.Stream {
	market := func(label string) *rhcos.AzureMarketplaceImages {
		one := func(generation, suffix string) *rhcos.AzureMarketplaceImage {
			if rapid.IntRange(0, 9).Draw(t, label+generation+" gap") == 0 {
				return nil
			}
			return image("publisher-"+label, "offer-"+label, suffix, name.Draw(t, label+generation))
		}
		return &rhcos.AzureMarketplaceImages{Gen1: one(" gen1", label+"-gen1"), Gen2: one(" gen2", label)}
	}
	of := &stream.Stream{Stream: "drawn", Architectures: map[string]stream.Arch{}}
	for _, goarch := range allArchitectures {
		regions := map[string]stream.SingleImage{}
		for i := range 30 {
			regions[region(i)] = stream.SingleImage{Release: "9.8", Image: "ami-" + ami.Draw(t, "ami")}
		}
		of.Architectures[arch.RpmArch(goarch)] = stream.Arch{
			Artifacts: map[string]stream.PlatformArtifacts{"vmware": {Release: "9.8"}},
			Images:    stream.Images{Aws: &stream.AwsImage{Regions: regions}, Gcp: &stream.GcpImage{Project: "rhcos-cloud", Name: name.Draw(t, "gcp")}},
			RHELCoreOSExtensions: &rhcos.Extensions{Marketplace: &rhcos.Marketplace{Azure: &rhcos.AzureMarketplace{
				NoPurchasePlan: market("none"), OCP: market("ocp"), OPP: market("opp"), OKE: market("oke"),
				OCPEMEA: market("ocp-emea"), OPPEMEA: market("opp-emea"), OKEEMEA: market("oke-emea"),
			}}},
		}
	}
	return of
}

// drawnSpec makes up a provider spec; most of them can be moved.
func drawnSpec(t *rapid.T, platform configv1.PlatformType) map[string]any {
	spec := map[string]any{"unknown": map[string]any{name.Draw(t, "key"): rapid.Int64().Draw(t, "value")}, "tags": []any{1.5, nil}}
	switch platform {
	case configv1.AWSPlatformType:
		spec["ami"] = map[string]any{"id": "ami-" + name.Draw(t, "present")}
		spec["placement"] = map[string]any{"region": region(rapid.IntRange(0, 30).Draw(t, "region")), "availabilityZone": "a"}
	case configv1.GCPPlatformType:
		var disks []any
		for i := range rapid.IntRange(0, 4).Draw(t, "disks") {
			project := rapid.SampledFrom([]string{"rhcos-cloud", "rhcos-cloud", "rhcos-cloud", "mine"}).Draw(t, "project")
			address := rapid.SampledFrom([]string{"", addressGCP}).Draw(t, "address")
			disks = append(disks, map[string]any{
				"boot": rapid.Bool().Draw(t, "boot"), "sizeGb": int64(i), "image": address + "projects/" + project + "/global/images/" + name.Draw(t, "image"),
			})
		}
		spec["disks"] = disks
	default:
		plan := rapid.SampledFrom([]string{"none", "ocp", "opp-emea", "acme"}).Draw(t, "plan")
		spec["image"] = map[string]any{
			"publisher": "publisher-" + plan, "offer": "offer-" + plan, "sku": plan + rapid.SampledFrom([]string{"", "-gen1"}).Draw(t, "generation"), "version": "1",
			"type": rapid.SampledFrom([]string{"", "MarketplaceNoPlan", "MarketplaceWithPlan"}).Draw(t, "type"), "more": "kept",
		}
		if rapid.Bool().Draw(t, "uploaded") {
			spec["image"] = map[string]any{"resourceID": gallery + infra + rapid.SampledFrom([]string{"", "-gen2", "-mine"}).Draw(t, "upload") + "/versions/latest"}
		}
	}
	return spec
}

// drawnTarget makes up a cluster and a MachineSet in it.
func drawnTarget(t *rapid.T) (*golden.Cluster, *machinev1beta1.MachineSet) {
	cluster := on(rapid.SampledFrom([]configv1.PlatformType{configv1.AWSPlatformType, configv1.GCPPlatformType, configv1.AzurePlatformType}).Draw(t, "platform"))
	cluster.ControlPlaneArchitectures = []string{rapid.SampledFrom(allArchitectures).Draw(t, "architecture")}
	text, err := json.Marshal(drawnSpec(t, cluster.Platform))
	if err != nil {
		t.Fatal(err)
	}
	set := machineSet(string(text))
	if rapid.Bool().Draw(t, "adopted") {
		present := read(t, made()).Judge(cluster, golden.FromMachineSet(set)).Present
		set.Annotations = annotated(adopt, strings.Join(present, ","))
	}
	return cluster, set
}

// withoutImages takes out of a MachineSet all that a write may change.
func withoutImages(t fatal, text string) map[string]any {
	t.Helper()
	set := parsed(t, text)
	spec := []string{"spec", "template", "spec", "providerSpec", "value"}
	unstructured.RemoveNestedField(set.Object, append(spec, "ami")...)
	for _, field := range []string{"publisher", "offer", "sku", "version", "type", "resourceID"} {
		unstructured.RemoveNestedField(set.Object, append(slices.Clone(spec), "image", field)...)
	}
	disks, _, err := unstructured.NestedSlice(set.Object, append(slices.Clone(spec), "disks")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, disk := range disks {
		if disk := disk.(map[string]any); disk["boot"] == true {
			delete(disk, "image")
		}
	}
	if disks != nil {
		if err := unstructured.SetNestedSlice(set.Object, disks, append(slices.Clone(spec), "disks")...); err != nil {
			t.Fatal(err)
		}
	}
	return set.Object
}

func TestAPatchLeadsToTheWantedImageAndChangesNothingElse(t *testing.T) {
	outcomes := map[golden.Outcome]int{}
	rapid.Check(t, func(t *rapid.T) {
		g := read(t, drawnStream(t))
		cluster, set := drawnTarget(t)
		verdict := g.Judge(cluster, golden.FromMachineSet(set))
		outcomes[verdict.Outcome]++
		if verdict.Outcome == golden.Invalid {
			t.Fatal(verdict.Message)
		}
		if verdict.Outcome != golden.Outdated {
			return
		}
		before, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		after, err := apply(t, set, verdict.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(withoutImages(t, string(before)), withoutImages(t, after)); diff != "" {
			t.Fatal(diff)
		}
		moved := decode[machinev1beta1.MachineSet](t, after)
		again := g.Judge(cluster, golden.FromMachineSet(moved))
		if again.Outcome != golden.AsWanted || again.Patch != nil {
			t.Fatalf("%+v", again)
		}
		for _, present := range again.Present {
			if present != verdict.Wanted {
				t.Fatalf("%s, want %s", present, verdict.Wanted)
			}
		}
		// What was sent and is sent again fails its tests: it never undoes what came after it.
		if _, err := apply(t, moved, verdict.Patch); err == nil {
			t.Fatal("a patch went through twice")
		}
	})
	if !slices.Equal(slices.Sorted(maps.Keys(outcomes)), []golden.Outcome{golden.Outdated, golden.Skipped}) {
		t.Error(outcomes)
	}
}

func TestAPatchOfAnotherObjectOrReferenceFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := read(t, drawnStream(t))
		cluster, set := drawnTarget(t)
		verdict := g.Judge(cluster, golden.FromMachineSet(set))
		if verdict.Outcome != golden.Outdated {
			return
		}
		again := set.DeepCopy()
		again.UID = "u-5"
		if _, err := apply(t, again, verdict.Patch); err == nil {
			t.Fatal("another UID")
		}
		edited := set.DeepCopy()
		for _, present := range verdict.Present {
			edited.Spec.Template.Spec.ProviderSpec.Value.Raw = []byte(strings.ReplaceAll(string(edited.Spec.Template.Spec.ProviderSpec.Value.Raw), lastPart(present)+`"`, `somebodys"`))
		}
		if _, err := apply(t, edited, verdict.Patch); err == nil {
			t.Fatal("another image")
		}
		scaled := set.DeepCopy()
		replicas := int32(7)
		scaled.Spec.Replicas, scaled.ResourceVersion, scaled.Labels = &replicas, "8", map[string]string{"a": "b"}
		if _, err := apply(t, scaled, verdict.Patch); err != nil {
			t.Fatalf("an autoscaler conflicts: %v", err)
		}
	})
}

// lastPart is enough of an image to make it another one wherever it is written.
func lastPart(image string) string {
	if publisher, _, ok := strings.Cut(image, ":"); ok {
		return publisher
	}
	return image[strings.LastIndex(strings.TrimSuffix(image, "/versions/latest"), "/")+1:]
}

func TestClonesAreOfTheWantedImageAndFollowFromTheirContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := read(t, drawnStream(t))
		set := rapid.StringMatching(`[a-z]([a-z0-9.-]{0,70}[a-z0-9])?`).Draw(t, "set")
		object := capiSet(t, awsTemplate, "first")
		object.SetName(set)
		cluster := on(configv1.AWSPlatformType)
		cluster.Region = region(rapid.IntRange(0, 29).Draw(t, "region"))
		old := template(t, awsTemplate, `{"ami": {"id": "ami-old"}, "instanceType": "`+name.Draw(t, "type")+`"}`)
		target := golden.FromClusterAPI(golden.CAPIMachineSets, object, old)
		verdict := g.Judge(cluster, target)
		if verdict.Outcome != golden.Outdated {
			t.Fatalf("%+v", verdict)
		}
		after, err := apply(t, object, verdict.Patch)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(target.Clone(&verdict, clusterOwner))
		if err != nil {
			t.Fatal(err)
		}
		clone := parsed(t, string(text))
		moved := golden.FromClusterAPI(golden.CAPIMachineSets, parsed(t, after), clone)
		if again := g.Judge(cluster, moved); again.Outcome != golden.AsWanted {
			t.Fatalf("%+v", again)
		}
		if other := g.Judge(cluster, target); other.CloneName != verdict.CloneName || !golden.SameSpec(target.Clone(&other, clusterOwner), clone) || golden.SameSpec(old, clone) {
			t.Fatalf("%s and %s", other.CloneName, verdict.CloneName)
		}
	})
}
