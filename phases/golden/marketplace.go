package golden

import (
	"fmt"
	"strings"

	"github.com/coreos/stream-metadata-go/stream"
	"github.com/coreos/stream-metadata-go/stream/rhcos"
)

// marketplaceOf is what the golden stream has in Azure's marketplace for an architecture.
func marketplaceOf(golden *stream.Arch) *rhcos.AzureMarketplace {
	if golden.RHELCoreOSExtensions == nil || golden.RHELCoreOSExtensions.Marketplace == nil {
		return nil
	}
	return golden.RHELCoreOSExtensions.Marketplace.Azure
}

// plans are the images that are paid for.
func plans(market *rhcos.AzureMarketplace) []*rhcos.AzureMarketplaceImages {
	return []*rhcos.AzureMarketplaceImages{market.OCP, market.OPP, market.OKE, market.OCPEMEA, market.OPPEMEA, market.OKEEMEA}
}

// ofGeneration is the image of a generation, or nil.
func ofGeneration(images *rhcos.AzureMarketplaceImages, g generation) *rhcos.AzureMarketplaceImage {
	switch {
	case images == nil:
		return nil
	case g == gen1:
		return images.Gen1
	}
	return images.Gen2
}

// sameOffer says that two images are of one publisher and offer. Azure takes both in large or small letters.
func sameOffer(image azureImage, golden *rhcos.AzureMarketplaceImage) bool {
	return golden != nil && golden.Publisher != "" && golden.Offer != "" &&
		strings.EqualFold(image.Publisher, golden.Publisher) && strings.EqualFold(image.Offer, golden.Offer)
}

// marketplace is the golden image for a present one: of the same generation, and with the same plan if there is one.
func (l *look) marketplace(image azureImage) (*rhcos.AzureMarketplaceImage, error) {
	golden, err := l.golden.stream.GetArchitecture(l.arch)
	if err != nil || marketplaceOf(golden) == nil {
		return nil, noImageHere("image of architecture %s in Azure's marketplace", l.arch)
	}
	market, wanted := marketplaceOf(golden), image.generation()
	found := ofGeneration(market.NoPurchasePlan, wanted)
	if image.withPlan() {
		found = nil
		for _, plan := range plans(market) {
			if candidate := ofGeneration(plan, wanted); sameOffer(image, candidate) {
				found = candidate
				break
			}
		}
		if found == nil {
			return nil, noImageHere("%s image of architecture %s with the plan of %s:%s", wanted, l.arch, image.Publisher, image.Offer)
		}
	}
	if found == nil {
		return nil, noImageHere("%s image of architecture %s without a plan", wanted, l.arch)
	}
	if err := checkMarketplace(found); err != nil {
		return nil, fmt.Errorf("the golden stream for %s in Azure's marketplace: %w", l.arch, err)
	}
	return found, nil
}

func checkMarketplace(image *rhcos.AzureMarketplaceImage) error {
	for _, value := range []string{image.Publisher, image.Offer, image.SKU, image.Version} {
		if err := imageForm.check(value); err != nil {
			return err
		}
	}
	return nil
}

// ownAzure says that an image is a release's own: uploaded by the installer, or of a publisher and offer of releases.
func (l *look) ownAzure(image azureImage) bool {
	if image.uploaded() {
		name := strings.ToLower(l.cluster.InfrastructureName)
		return name != "" && (image.uploadName() == name || image.uploadName() == name+gen2Suffix)
	}
	for _, golden := range l.golden.stream.Architectures {
		market := marketplaceOf(&golden)
		if market == nil {
			continue
		}
		for _, images := range append(plans(market), market.NoPurchasePlan) {
			if images != nil && (sameOffer(image, images.Gen1) || sameOffer(image, images.Gen2)) {
				return true
			}
		}
	}
	return false
}
