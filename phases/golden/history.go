package golden

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coreos/stream-metadata-go/stream"
	"github.com/coreos/stream-metadata-go/stream/rhcos"
)

const (
	// maxReleases is how many releases' images are remembered.
	maxReleases = 64
	// maxRemembered is how many bytes they may have together: a ConfigMap holds one MiB.
	maxRemembered = 900 << 10
)

// Images are all images that the golden stream names, sorted and spelt as in [Verdict.Wanted].
func (g *Golden) Images() []string {
	all := Images{}
	for _, golden := range g.stream.Architectures {
		for _, image := range imagesOf(&golden) {
			all[image] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// imagesOf leaves out what could not be written into a target either.
func imagesOf(golden *stream.Arch) (all []string) {
	if aws := golden.Images.Aws; aws != nil {
		for _, region := range aws.Regions {
			if amiForm.check(region.Image) == nil {
				all = append(all, region.Image)
			}
		}
	}
	if gcp := golden.Images.Gcp; gcp != nil && projectForm.check(gcp.Project) == nil && imageForm.check(gcp.Name) == nil {
		all = append(all, gcpImage(gcp.Project, gcp.Name))
	}
	market := marketplaceOf(golden)
	if market == nil {
		return all
	}
	for _, images := range append(plans(market), market.NoPurchasePlan) {
		for _, image := range []*rhcos.AzureMarketplaceImage{ofGeneration(images, gen1), ofGeneration(images, gen2)} {
			if image != nil && checkMarketplace(image) == nil {
				all = append(all, image.URN())
			}
		}
	}
	return all
}

// remembered is the key of what one release had: a number that grows, and a digest of the images.
var remembered = regexp.MustCompile(`^([0-9]{1,18})-([0-9a-f]{16})$`)

// Remember adds the golden images to the data of the ConfigMap of images that were golden, which [Listed] reads, and says
// whether that changes it. The data itself is not changed. What was golden least recently is forgotten first; keys of others
// stay as they are.
func Remember(data map[string]string, g *Golden) (map[string]string, bool) {
	images, digest := g.digest()
	if images == "" || len(images) > maxRemembered {
		return data, false
	}
	entries := entriesOf(data)
	if last := len(entries) - 1; last >= 0 && entries[last].digest == digest && data[entries[last].key] == images {
		return data, false
	}
	next := uint64(1)
	kept := maps.Clone(data)
	if kept == nil {
		kept = map[string]string{}
	}
	size := len(images)
	for count := 1; len(entries) > 0; entries = entries[:len(entries)-1] {
		entry := entries[len(entries)-1]
		next = max(next, entry.number+1)
		if size += len(data[entry.key]); entry.digest == digest || count == maxReleases || size > maxRemembered {
			size -= len(data[entry.key])
			delete(kept, entry.key)
			continue
		}
		count++
	}
	kept[fmt.Sprintf("%d-%s", next, digest)] = images
	return kept, true
}

// Returns says that the golden images were golden once, and others since: an older release's have come back.
func Returns(data map[string]string, g *Golden) bool {
	_, digest := g.digest()
	entries := entriesOf(data)
	is := func(e entry) bool { return e.digest == digest }
	return slices.ContainsFunc(entries, is) && !is(entries[len(entries)-1])
}

// digest are all images as they are remembered, and what they are known by.
func (g *Golden) digest() (images, digest string) {
	images = strings.Join(g.Images(), "\n")
	sum := sha256.Sum256([]byte(images))
	return images, hex.EncodeToString(sum[:8])
}

type entry struct {
	key, digest string
	number      uint64
}

// entriesOf are the keys of ours, the newest last.
func entriesOf(data map[string]string) (entries []entry) {
	for key := range data {
		found := remembered.FindStringSubmatch(key)
		if found == nil {
			continue
		}
		if number, err := strconv.ParseUint(found[1], 10, 64); err == nil {
			entries = append(entries, entry{key: key, digest: found[2], number: number})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.key, b.key))
	})
	return entries
}
