package packaging

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
)

// DefaultProfile is the profile name that providers with a single profile use.
const DefaultProfile = "default"

const (
	// maxComponentName is the limit for the value of a label, which a component's name becomes.
	maxComponentName = 63
	// maxProfileName is the limit of the ClusterAPI type.
	maxProfileName = 255
)

var (
	componentName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	profileName   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

var platforms = []configv1.PlatformType{
	configv1.AWSPlatformType,
	configv1.AlibabaCloudPlatformType,
	configv1.AzurePlatformType,
	configv1.BareMetalPlatformType,
	configv1.EquinixMetalPlatformType,
	configv1.ExternalPlatformType,
	configv1.GCPPlatformType,
	configv1.IBMCloudPlatformType,
	configv1.KubevirtPlatformType,
	configv1.LibvirtPlatformType,
	configv1.NonePlatformType,
	configv1.NutanixPlatformType,
	configv1.OpenStackPlatformType,
	configv1.OvirtPlatformType,
	configv1.PowerVSPlatformType,
	configv1.VSpherePlatformType,
}

// Options say what to package and how the profile presents itself.
type Options struct {
	// ManifestsPath is the folder that holds one folder per profile.
	ManifestsPath string
	// ProfileName is the profile's folder below ManifestsPath.
	ProfileName string
	// KustomizeDir is the folder whose kustomization is packaged.
	KustomizeDir string
	// Name is the component's name in revisions and labels.
	Name string
	// Platform restricts the profile to one platform; empty means all.
	Platform configv1.PlatformType
	// InstallOrder sorts components: lower numbers are complete before higher ones start.
	InstallOrder int
	// SelfImageRef is the image in the manifests that stands for the provider image.
	SelfImageRef string
	// Attributes are informative pairs such as type and version.
	Attributes map[string]string
	// ProtectClusterResource is the singular name of the infrastructure cluster
	// resource to protect from deletion; empty means none.
	ProtectClusterResource string
	// ManifestsSummary adds SummaryFile to the profile.
	ManifestsSummary bool
}

// Validate reports the first option that could not give a usable profile, by the name of its flag.
func (o Options) Validate() error {
	switch {
	case o.ManifestsPath == "":
		return fmt.Errorf("--manifests-path is empty: name the folder that receives the profile")
	case o.KustomizeDir == "":
		return fmt.Errorf("--kustomize-dir is empty: name the folder with the kustomization.yaml")
	case !componentName.MatchString(o.Name) || len(o.Name) > maxComponentName:
		return fmt.Errorf("--name %q: a component name is 1 to %d letters, digits and '-', and neither begins nor ends with '-'", o.Name, maxComponentName)
	case !profileName.MatchString(o.ProfileName) || len(o.ProfileName) > maxProfileName:
		return fmt.Errorf("--profile-name %q: a profile name is 1 to %d letters, digits, '-' and '_'", o.ProfileName, maxProfileName)
	case o.InstallOrder < math.MinInt32 || o.InstallOrder > math.MaxInt32:
		return fmt.Errorf("--install-order %d does not fit into 32 bits", o.InstallOrder)
	case o.Platform != "" && !slices.Contains(platforms, o.Platform):
		return fmt.Errorf("--platform %q is not a platform of OpenShift: use one of %s, or leave it out for all", o.Platform, strings.Join(platformNames(), ", "))
	}
	return nil
}

func platformNames() []string {
	names := make([]string, len(platforms))
	for i, platform := range platforms {
		names[i] = string(platform)
	}
	return names
}
