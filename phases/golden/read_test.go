package golden_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coreos/stream-metadata-go/stream"
	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/golden"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]string
		want string // of the error
	}{
		"nothing":                  {nil, `the golden ConfigMap has no key "stream"`},
		"no JSON":                  {map[string]string{"stream": "stream: stable"}, `reading key "stream" of the golden ConfigMap as JSON: invalid character 's'`},
		"two documents":            {map[string]string{"stream": "{} {}"}, "as JSON: invalid character"},
		"another type":             {map[string]string{"stream": `{"architectures": []}`}, "as JSON: json: cannot unmarshal array"},
		"null":                     {map[string]string{"stream": "null"}, "names no architecture"},
		"no architecture":          {map[string]string{"stream": "{}"}, "names no architecture"},
		"too long":                 {map[string]string{"stream": strings.Repeat(" ", 1<<20+1)}, "has 1048577 bytes, and may have 1048576"},
		"a release with a newline": {map[string]string{"stream": `{"architectures":{"x86_64":{}}}`, "releaseVersion": "4.21\n"}, `key "releaseVersion" of the golden ConfigMap: "4.21 " is not a release`},
		"a release that is long":   {map[string]string{"stream": `{"architectures":{"x86_64":{}}}`, "MCOReleaseImageVersion": strings.Repeat("4", 1025)}, "a value has 1025 bytes, and may have 1024"},
		"an unknown field":         {map[string]string{"stream": `{"more": 1, "architectures":{"x86_64":{"more": {}}}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := golden.Read(c.data)
			if c.want == "" && err == nil {
				return
			}
			if err == nil || g != nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestRead_takes_the_fixture_of_the_stream_library(t *testing.T) {
	data := map[string]string{"stream": fixture(t), "releaseVersion": "4.21.3", "MCOReleaseImageVersion": "4.21.2"}
	g, err := golden.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if g.Release() != "4.21.3" || g.MCORelease() != "4.21.2" {
		t.Errorf("%s and %s", g.Release(), g.MCORelease())
	}
	verdict := g.Judge(on("AWS"), golden.FromMachineSet(machineSet(`{"ami": {"id": "ami-old"}, "placement": {"region": "us-east-2"}}`)))
	if verdict.Outcome != golden.Outdated || verdict.Wanted != "ami-091b0dbc05fe2dc06" {
		t.Errorf("%+v", verdict)
	}
	fedora := on("GCP")
	fedora.GCPProject = "fedora-coreos-cloud"
	verdict = g.Judge(fedora, golden.FromMachineSet(machineSet(`{"disks": [{"boot": true, "image": "projects/fedora-coreos-cloud/global/images/older"}]}`)))
	if verdict.Outcome != golden.Outdated || verdict.Wanted != "projects/fedora-coreos-cloud/global/images/fedora-coreos-33-20201201-3-0-gcp-x86-64" {
		t.Errorf("%+v", verdict)
	}
}

func TestFingerprint_follows_the_content(t *testing.T) {
	of := func(data ...string) string {
		g, err := golden.Read(map[string]string{"stream": data[0], "releaseVersion": data[1], "MCOReleaseImageVersion": data[2]})
		if err != nil {
			t.Fatal(err)
		}
		return g.Fingerprint()
	}
	text := `{"architectures":{"x86_64":{}}}`
	seen := map[string]bool{}
	for _, data := range [][]string{{text, "4.21", ""}, {text, "", "4.21"}, {text + " ", "4.21", ""}, {text, "4.2", "1"}} {
		seen[of(data...)] = true
	}
	if len(seen) != 4 || !seen[of(text, "4.21", "")] {
		t.Error(seen)
	}
}

func TestAGoldenValueThatIsWrongFailsItsTargetsOnly(t *testing.T) {
	aws := func(id string) *stream.Stream {
		of := made()
		of.Architectures["x86_64"].Images.Aws.Regions["us-east-1"] = stream.SingleImage{Image: id}
		return of
	}
	for id, want := range map[string]golden.Outcome{
		"":                                 golden.Skipped,
		"ami-1\u00a0":                      golden.Invalid,
		"ami-":                             golden.Invalid,
		"arn:aws:ec2":                      golden.Invalid,
		"ami-\n":                           golden.Invalid,
		"ami-" + strings.Repeat("a", 1021): golden.Invalid,
		"ami-" + strings.Repeat("a", 1020): golden.Outdated,
	} {
		g := read(t, aws(id))
		if verdict := g.Judge(on("AWS"), golden.FromMachineSet(machineSet(`{"ami": {"id": "ami-old"}}`))); verdict.Outcome != want {
			t.Errorf("%q: %+v", id, verdict)
		}
		if verdict := g.Judge(on("AWS"), golden.FromMachineSet(machineSet(`{"ami": {"id": "ami-old"}, "placement": {"region": "eu-west-1"}}`))); verdict.Outcome != golden.Outdated {
			t.Errorf("%q: %+v", id, verdict)
		}
	}
	of := made()
	of.Architectures["x86_64"].Images.Gcp.Name = "a/b"
	of.Architectures["aarch64"].Images.Gcp.Project = "a/b"
	vmware := of.Architectures["x86_64"].Artifacts["vmware"]
	vmware.Release = "9 8"
	of.Architectures["x86_64"].Artifacts["vmware"] = vmware
	of.Architectures["x86_64"].RHELCoreOSExtensions.Marketplace.Azure.NoPurchasePlan.Gen1.SKU = "$(x)"
	g := read(t, of)
	for platform, spec := range map[string]string{
		"GCP":     `{"disks": [{"boot": true, "image": "projects/rhcos-cloud/global/images/a"}]}`,
		"Azure":   `{"image": {"resourceID": "/resourceGroups/r/providers/Microsoft.Compute/images/shop-x7k2p"}}`,
		"VSphere": `{"template": "a"}`,
	} {
		cluster := on(configv1.PlatformType(platform))
		cluster.Templates = templates{"9 8": "new"}
		if verdict := g.Judge(cluster, golden.FromMachineSet(machineSet(spec))); verdict.Outcome != golden.Invalid || !strings.Contains(verdict.Message, "the golden stream for ") {
			t.Errorf("%s: %+v", platform, verdict)
		}
	}
	set := machineSet(`{"disks": [{"boot": true, "image": "projects/rhcos-cloud/global/images/a"}]}`)
	set.Annotations = annotated(golden.ArchAnnotation, "kubernetes.io/arch=arm64")
	if verdict := g.Judge(on("GCP"), golden.FromMachineSet(set)); verdict.Outcome != golden.Invalid || !strings.Contains(verdict.Message, "is not a GCP project") {
		t.Errorf("%+v", verdict)
	}
}

func TestAStreamWithoutMarketplacesHasNoImageForAzure(t *testing.T) {
	g, err := golden.Read(map[string]string{"stream": fixture(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{`{"image": {"resourceID": "` + upload + infra + `"}}`, `{"image": {"publisher": "redhat", "offer": "rh-ocp-worker", "sku": "a", "version": "1", "type": "MarketplaceWithPlan"}}`} {
		if verdict := g.Judge(on(configv1.AzurePlatformType), golden.FromMachineSet(machineSet(spec))); verdict.Reason != golden.NoImageHere {
			t.Errorf("%+v", verdict)
		}
	}
}

// The generator of tests makes what the library reads, and nothing else.
func TestStreamsOfTestsAreKnownToTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := drawnStream(t)
		text, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		decoder, again := json.NewDecoder(bytes.NewReader(text)), &stream.Stream{}
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(of, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
