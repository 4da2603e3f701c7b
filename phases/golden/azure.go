package golden

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coreos/stream-metadata-go/stream/rhcos"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"

	"github.com/capstan-capi/capstan/message"
)

// azureImage is an image reference of Azure with what its generation follows from.
type azureImage struct {
	machinev1beta1.Image
	arch string
}

// generation is the generation of Hyper-V machines that an image starts on. A machine cannot start from one of the other.
type generation string

const (
	gen1 generation = "Gen1"
	gen2 generation = "Gen2"
)

type generationRule struct {
	fits func(azureImage) bool
	of   generation
}

// generations is all that is known of which generation an image is of. The first row that fits counts; the last one fits always.
var generations = []generationRule{
	// Azure has no other machines of this architecture.
	{func(i azureImage) bool { return i.arch == "aarch64" }, gen2},
	// The installer uploads the same image for both, and says in the name for which.
	{func(i azureImage) bool { return i.uploaded() && strings.HasSuffix(i.uploadName(), gen2Suffix) }, gen2},
	{azureImage.uploaded, gen1},
	// Plan-less SKUs are aro_421 and 421-v2.
	{func(i azureImage) bool { return strings.HasPrefix(i.SKU, "aro_") }, gen1},
	// SKUs with a plan are rh-ocp-worker-gen1 and rh-ocp-worker.
	{func(i azureImage) bool { return strings.HasSuffix(i.SKU, "-gen1") }, gen1},
	{func(azureImage) bool { return true }, gen2},
}

const gen2Suffix = "-gen2"

func (i azureImage) generation() generation {
	fits := slices.IndexFunc(generations, func(row generationRule) bool { return row.fits(i) })
	return generations[fits].of
}

// uploaded says that the image is one of the cluster's own subscription. A resource ID counts whatever else is there, as it does
// for the provider.
func (i azureImage) uploaded() bool {
	return i.ResourceID != "" || i.Type == machinev1beta1.AzureImageTypeID
}

// withPlan says that the image is paid for. An image without a type has none.
func (i azureImage) withPlan() bool {
	return !i.uploaded() && i.Type == machinev1beta1.AzureImageTypeMarketplaceWithPlan
}

// uploadPattern is the ID of an image, alone or in a gallery. Azure takes all of it in large or small letters.
var uploadPattern = regexp.MustCompile(`(?i)^(?:/subscriptions/[^/]+)?/resourceGroups/[^/]+/providers/Microsoft\.Compute/(?:galleries/[^/]+/)?images/([^/]+)(?:/versions/[^/]+)?/?$`)

// uploadName is the name of an uploaded image, or all of its ID if it has another form.
func (i azureImage) uploadName() string {
	if found := uploadPattern.FindStringSubmatch(i.ResourceID); found != nil {
		return strings.ToLower(found[1])
	}
	return strings.ToLower(i.ResourceID)
}

// text is the image as people write it.
func (i azureImage) text() string {
	if i.uploaded() {
		return i.ResourceID
	}
	urn := rhcos.AzureMarketplaceImage{Publisher: i.Publisher, Offer: i.Offer, SKU: i.SKU, Version: i.Version}
	return urn.URN()
}

// azure looks at a provider spec of Azure.
func (l *look) azure(spec providerSpec) (sight, error) {
	image := azureImage{arch: l.arch}
	var security *machinev1beta1.SecurityProfile
	if err := errors.Join(spec.read("image", &image.Image), spec.read("securityProfile", &security)); err != nil {
		return sight{}, err
	}
	if err := azureType(image.Type); err != nil {
		return sight{}, err
	}
	if image.uploaded() && image.ResourceID == "" || !image.uploaded() && (image.Publisher == "" || image.Offer == "") {
		return sight{}, &skipError{
			reason: NoImageID, text: "the image has neither a resource ID nor publisher and offer", remedy: "name an image",
		}
	}
	seen := sight{slots: []slot{{present: image.text()}}}
	if security != nil && security.Settings.SecurityType != "" {
		text := fmt.Sprintf("there are no golden images for security type %q", message.Shorten(string(security.Settings.SecurityType), maxTold))
		return seen, &skipError{reason: SecurityType, text: text}
	}
	if l.archErr != nil {
		return seen, l.archErr
	}
	if l.arch == "ppc64le" || l.arch == "s390x" {
		return seen, &skipError{reason: UnsupportedArch, text: "Azure has no machines of architecture " + l.arch}
	}
	golden, err := l.marketplace(image)
	if err != nil {
		return seen, err
	}
	seen.wanted = golden.URN()
	s := &seen.slots[0]
	s.own = l.ownAzure(image)
	s.edits = l.azureEdits(image, golden)
	s.right = len(s.edits) == 0
	s.tests = []Operation{test(l.target.path("image"), spec["image"])}
	return seen, nil
}

// azureType refuses a type that is not known: which fields count depends on it.
func azureType(kind machinev1beta1.AzureImageType) error {
	switch kind {
	case "", machinev1beta1.AzureImageTypeID, machinev1beta1.AzureImageTypeMarketplaceNoPlan, machinev1beta1.AzureImageTypeMarketplaceWithPlan:
		return nil
	}
	return fmt.Errorf("the image is of type %q, which is not known", message.Shorten(string(kind), maxTold))
}

// azureEdits writes the fields in which the image differs from the golden one, and no others.
func (l *look) azureEdits(image azureImage, golden *rhcos.AzureMarketplaceImage) (edits []Operation) {
	kind := machinev1beta1.AzureImageTypeMarketplaceNoPlan
	if image.withPlan() {
		kind = machinev1beta1.AzureImageTypeMarketplaceWithPlan
	}
	present := image.Type
	if present == "" && !image.uploaded() {
		present = machinev1beta1.AzureImageTypeMarketplaceNoPlan // what no type means
	}
	for _, field := range []struct{ name, present, wanted string }{
		{"publisher", image.Publisher, golden.Publisher},
		{"offer", image.Offer, golden.Offer},
		{"sku", image.SKU, golden.SKU},
		{"version", image.Version, golden.Version},
		{"type", string(present), string(kind)},
		{"resourceID", image.ResourceID, ""},
	} {
		if field.present != field.wanted {
			edits = append(edits, set(l.target.path("image", field.name), field.wanted))
		}
	}
	return edits
}
