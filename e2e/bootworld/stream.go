package bootworld

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/coreos/stream-metadata-go/arch"
	"github.com/coreos/stream-metadata-go/stream"
	"github.com/coreos/stream-metadata-go/stream/rhcos"
)

const (
	// Region is the cluster's, where it is on AWS.
	Region = "us-east-1"
	// Project is where releases publish their images for GCP.
	Project = "rhcos-cloud"
)

// regions are made up, but for the first.
var regions = func() []string {
	all := []string{Region}
	for i := range 29 {
		all = append(all, fmt.Sprintf("made-up-%d", i+1))
	}
	return all
}()

// Nodes is the architecture of the cluster's only Node, as streams spell it.
var Nodes = arch.RpmArch(runtime.GOARCH)

// made is a made-up word that depends on what it is made of.
func made(length int, of ...any) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, of...)))[:length]
}

// AMI is the golden AMI of a release, for the cluster's Nodes and region.
func AMI(release int) string { return AMIOf(release, Nodes, Region) }

// AMIOf is that of an architecture and a region.
func AMIOf(release int, architecture, region string) string {
	return "ami-" + made(17, release, " ", architecture, " ", region)
}

// GCPImage is the golden image of a release in GCP.
func GCPImage(release int) string {
	return fmt.Sprintf("projects/%s/global/images/%s", Project, GCPName(release, Nodes))
}

// GCPName is how an image in GCP is called.
func GCPName(release int, architecture string) string {
	return fmt.Sprintf("rhcos-%d-gcp-%s", release, strings.ReplaceAll(architecture, "_", "-"))
}

// Marketplace is the golden image of a release in Azure's marketplace, by publisher and offer.
func Marketplace(release int, publisher, offer, sku string) *rhcos.AzureMarketplaceImage {
	return &rhcos.AzureMarketplaceImage{Publisher: publisher, Offer: offer, SKU: sku, Version: fmt.Sprintf("422.%d.20260101", release)}
}

// Golden is the stream of a release: every variant that the library knows, for all architectures of OpenShift.
func Golden(release int) (string, error) {
	made := &stream.Stream{
		Stream: "rhel-9", Metadata: stream.Metadata{LastModified: "2026-01-01T00:00:00Z", Generator: "made up"}, Architectures: map[string]stream.Arch{},
	}
	for _, architecture := range []string{"x86_64", "aarch64", "ppc64le", "s390x"} {
		made.Architectures[architecture] = goldenOf(release, architecture)
	}
	text, err := json.Marshal(made)
	if err != nil {
		return "", fmt.Errorf("encoding the boot images of release %d: %w", release, err)
	}
	return string(text), nil
}

func goldenOf(release int, architecture string) stream.Arch {
	version := fmt.Sprintf("9.8.2026010%d-0", release%10)
	images, windows := map[string]stream.SingleImage{}, map[string]rhcos.SingleImage{}
	objects := map[string]stream.SingleObject{}
	for _, r := range regions {
		images[r] = stream.SingleImage{Release: version, Image: AMIOf(release, architecture, r)}
		windows[r] = rhcos.SingleImage{Release: version, Image: AMIOf(release, architecture+" windows", r)}
		objects[r] = stream.SingleObject{Release: version, Object: "rhcos-" + architecture, Bucket: "rhcos-" + r, Url: "https://example.com/" + r}
	}
	return stream.Arch{
		Artifacts: artifacts(version, architecture),
		Images: stream.Images{
			Aliyun: &stream.ReplicatedImage{Regions: images}, Aws: &stream.AwsImage{Regions: images},
			Gcp:      &stream.GcpImage{Release: version, Project: Project, Name: GCPName(release, architecture)},
			Ibmcloud: &stream.ReplicatedObject{Regions: objects}, PowerVS: &stream.ReplicatedObject{Regions: objects},
			KubeVirt: &stream.ContainerImage{Release: version, Image: "example.com/rhcos:" + version, DigestRef: "example.com/rhcos@sha256:" + made(64, version)},
		},
		RHELCoreOSExtensions: &rhcos.Extensions{
			AwsWinLi:    &rhcos.AwsWinLi{Regions: windows},
			AzureDisk:   &rhcos.AzureDisk{Release: version, URL: "https://example.com/" + architecture + ".vhd"},
			Marketplace: &rhcos.Marketplace{Azure: azureMarketplace(release, architecture)},
		},
	}
}

func artifacts(version, architecture string) map[string]stream.PlatformArtifacts {
	all := map[string]stream.PlatformArtifacts{}
	for _, platform := range []string{"aws", "azure", "gcp", "metal", "openstack", "qemu", "vmware"} {
		file := func(kind string) *stream.Artifact {
			return &stream.Artifact{Location: fmt.Sprintf("https://example.com/%s/%s.%s", platform, architecture, kind), Sha256: made(64, platform, kind)}
		}
		all[platform] = stream.PlatformArtifacts{Release: version, Formats: map[string]stream.ImageFormat{
			"raw.gz": {Disk: file("raw.gz")}, "pxe": {Kernel: file("kernel"), Initramfs: file("initramfs"), Rootfs: file("rootfs")},
		}}
	}
	return all
}

// azureMarketplace has all plans; only x86_64 has machines of both generations.
func azureMarketplace(release int, architecture string) *rhcos.AzureMarketplace {
	images := func(publisher, offer, gen1, gen2 string) *rhcos.AzureMarketplaceImages {
		all := &rhcos.AzureMarketplaceImages{Gen2: Marketplace(release, publisher, offer, gen2)}
		if architecture == "x86_64" {
			all.Gen1 = Marketplace(release, publisher, offer, gen1)
		}
		return all
	}
	plan := func(publisher, offer string) *rhcos.AzureMarketplaceImages {
		return images(publisher, offer, offer+"-gen1", offer)
	}
	return &rhcos.AzureMarketplace{
		NoPurchasePlan: images("azureopenshift", "aro4", "aro_422", "422-v2"),
		OCP:            plan("redhat", "rh-ocp-worker"), OPP: plan("redhat", "rh-opp-worker"), OKE: plan("redhat", "rh-oke-worker"),
		OCPEMEA: plan("redhat-limited", "rh-ocp-worker"), OPPEMEA: plan("redhat-limited", "rh-opp-worker"), OKEEMEA: plan("redhat-limited", "rh-oke-worker"),
	}
}
