// Package images brings provider images to the operator: it pulls them by digest from a registry, or reads folders that
// the kubelet mounted, and keeps of each image only the profiles under /capi-operator-manifests.
// It refuses references by tag, bytes that do not match their digest, links that lead out of that folder and images
// larger than its limits; it never blocks its caller and it knows nothing of what the manifests mean.
package images

import (
	"context"
	"time"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

const (
	// ManifestsFolder is the folder of an image that holds one folder per profile.
	ManifestsFolder = "/capi-operator-manifests"
	// MetadataFile is the file of a profile that describes its component.
	MetadataFile = "metadata.yaml"
	// ManifestsFile is the file of a profile that holds its objects.
	ManifestsFile = "manifests.yaml"
	// MaxImages is how many images a cluster may ask for at the same time; a source itself does not count.
	MaxImages = 32
)

// Profile is one folder of ManifestsFolder with the unparsed content of its two files. The bytes are shared by all
// users of the image and must not be changed.
type Profile struct {
	Name                string
	Metadata, Manifests []byte
}

// Image is what is kept of a provider image: its profiles, sorted by name; none if it was pulled and has no ManifestsFolder.
type Image struct {
	Ref      Ref
	Profiles []Profile

	cached   bool              // it is in the cache as it is here
	evidence *trust.Evidence   // what it was judged by; nil if nothing was asked of it
	proof    string            // the ID of the rule that it met; empty for none
	mounted  bool              // the container runtime has let it in
	files    map[string][]byte // those of a folder, if that is what was asked for
	labels   map[string]string // those of its config, if those are what was asked for
}

// Phase says how far an image has come.
type Phase string

const (
	// Waiting images have not been tried yet: the source is not started or all its slots are busy.
	Waiting Phase = "Waiting"
	// Fetching images are being read now; State.Err still says why the last attempt failed.
	Fetching Phase = "Fetching"
	// Ready images are in memory.
	Ready Phase = "Ready"
	// Failed images are tried again at State.NextTry, or not by themselves when that is zero.
	Failed Phase = "Failed"
)

// State is what is known of one image.
type State struct {
	Phase Phase
	// Image is set exactly when Phase is Ready.
	Image *Image
	// Err is an *Error: why the last attempt failed. It stays while the next attempt runs, so that messages do not
	// change with every attempt.
	Err error
	// Since is when the present phase began.
	Since time.Time
	// NextTry is when a failed image is tried again; it is zero if only a changed image or Retry can help. Like Err, it
	// stays while that attempt runs.
	NextTry time.Time

	attempts int // since the image is wanted, for the log
}

// Source is where provider images come from. No method but Start and Recall blocks, reads a disk or talks to a registry.
type Source interface {
	// Start fetches what is wanted until the context ends; when it returns, it has left nothing running. A source is
	// started once.
	Start(ctx context.Context) error
	// Want replaces the set of wanted images: new ones are fetched, the others are stopped and forgotten.
	Want(refs []Ref)
	// Recall reads those of the images that are on disk, so that they are ready as soon as they are wanted. It blocks,
	// and sends no request.
	Recall(refs []Ref)
	// State returns what is known of a wanted image, and the zero State for any other.
	State(ref Ref) State
	// Retry tries all failed images now, terminal failures included. An image that is being fetched is tried once more
	// at once if that attempt fails.
	Retry()
	// Warning says what is wrong without failing an image, and is empty if nothing is.
	Warning() string
}
