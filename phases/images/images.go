// Package images brings provider images to the operator: it pulls them by digest from a registry (Puller) or reads
// folders that the kubelet mounted (Mounted), and keeps of each image only the profiles under /capi-operator-manifests.
// It refuses references by tag, bytes that do not match their digest, links that lead out of that folder and images
// larger than its limits; it never blocks its caller and it knows nothing of what the manifests mean.
package images

import (
	"context"
	"time"
)

const (
	// ManifestsFolder is the folder of an image that holds one folder per profile.
	ManifestsFolder = "/capi-operator-manifests"
	// MetadataFile is the one of the two files of a profile that says for whom it is.
	MetadataFile = "metadata.yaml"
	// ManifestsFile is the one that holds the objects.
	ManifestsFile = "manifests.yaml"
	// MaxImages is how many images a cluster may ask for at the same time; a source itself does not count.
	MaxImages = 32
)

// Profile is one folder of ManifestsFolder with the unparsed content of its two files. The bytes are shared by all
// who ask for the image and must not be changed.
type Profile struct {
	Name                string
	Metadata, Manifests []byte
}

// Image is what is kept of a provider image: its profiles, sorted by name, at least one.
type Image struct {
	Ref      Ref
	Profiles []Profile

	cached bool // it came from the disk
}

// Phase says how far an image has come.
type Phase string

const (
	// Waiting images have not been tried yet: the source is not started or all its slots are busy.
	Waiting Phase = "Waiting"
	// Fetching images are being read now; State.Err still tells why the attempt before failed.
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
	// Err is an *Error: why the last attempt failed. It stays while the next attempt runs, so that a message made
	// of it does not flicker.
	Err error
	// Since is when the present phase began; FailingSince is when the first of the failures in a row happened.
	Since, FailingSince time.Time
	// NextTry is when a failed image is tried again; it is zero if only a changed image or Retry can help. Like Err, it
	// stays while that attempt runs.
	NextTry time.Time
	// Attempts counts the attempts since the image is wanted.
	Attempts int
}

// Source gives provider images. No method but Start and Recall blocks, reads a disk or talks to a registry.
type Source interface {
	// Start fetches what is wanted, in the background of everything else, until the context ends; when it returns,
	// nothing of it is left running. A source is started once.
	Start(ctx context.Context) error
	// Want replaces the set of wanted images: new ones are fetched, the others are stopped and forgotten.
	Want(refs []Ref)
	// Recall reads those of the images that are on the disk, so that they are ready once they are wanted. It alone blocks,
	// and asks no registry.
	Recall(refs []Ref)
	// State of a wanted image; of any other the zero State.
	State(ref Ref) State
	// Retry tries all failed images now, also those that would not be tried by themselves, and those that are being
	// fetched once more at once if that fails.
	Retry()
	// Warning is a sentence about something that works worse than it should without failing, or empty.
	Warning() string
}
