package bootgate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// edition is one state of an object.
type edition struct {
	uid     types.UID
	version string
}

func editionOf(o client.Object) edition { return edition{o.GetUID(), o.GetResourceVersion()} }

// goldenRead is what one edition of the golden ConfigMap holds.
type goldenRead struct {
	of      edition
	golden  *golden.Golden
	problem string
}

// imagesRead is what one edition of a list of images holds.
type imagesRead struct {
	of     edition
	images golden.Images
	// fingerprint is the same for the same content.
	fingerprint string
	// remembers says that the images of a golden edition are among them.
	remembers edition
}

// readGolden reads the golden ConfigMap, once for each edition.
func (p *Phases) readGolden(from *corev1.ConfigMap) goldenRead {
	if from == nil {
		return goldenRead{}
	}
	if of := editionOf(from); p.memory.golden.of != of {
		p.memory.golden = goldenRead{of: of}
		read, err := golden.Read(from.Data)
		if p.memory.golden.golden = read; err != nil {
			p.memory.golden.golden, p.memory.golden.problem = nil, err.Error()
		}
	}
	return p.memory.golden
}

// readImages reads a list of images, once for each edition.
func (p *Phases) readImages(name string, from *corev1.ConfigMap) imagesRead {
	if from == nil {
		return imagesRead{}
	}
	if of := editionOf(from); p.memory.images[name].of != of {
		if p.memory.images == nil {
			p.memory.images = map[string]imagesRead{}
		}
		p.memory.images[name] = imagesRead{of: of, images: golden.Listed(from.Data), fingerprint: fingerprint(from.Data)}
	}
	return p.memory.images[name]
}

// isRemembered says that the golden images are among those that were ever golden.
func (p *Pass) isRemembered() bool {
	known := p.world.known
	if p.golden == nil {
		return false
	}
	var data map[string]string
	if known != nil {
		data = known.Data
		if p.readImages(KnownConfigMap, known).remembers == editionOf(p.world.golden) {
			return true
		}
	}
	if _, changes := golden.Remember(data, p.golden); changes {
		return false
	}
	if known != nil {
		read := p.memory.images[KnownConfigMap]
		read.remembers = editionOf(p.world.golden)
		p.memory.images[KnownConfigMap] = read
	}
	return true
}

// content is what the golden ConfigMap says, for guards.
func (p *Pass) content() guards.Content {
	from := p.world.golden
	c := guards.Content{Seen: true, Absent: from == nil}
	if from == nil {
		return c
	}
	c.Problem, c.Known, c.Vouchers = p.readGolden(from).problem, p.isRemembered(), map[string]string{}
	for _, key := range []string{golden.ReleaseKey, golden.MCOReleaseKey} {
		if says, is := from.Data[key]; is {
			c.Vouchers[key] = says
		}
	}
	return c
}

// fingerprint is the same for the same values only.
func fingerprint(of any) string {
	text, err := json.Marshal(of)
	if err != nil {
		return err.Error() // what is told here is made of texts and can always be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
