package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/coreos/stream-metadata-go/stream"
	kjson "sigs.k8s.io/json"

	"github.com/capstan-capi/capstan/message"
)

// Keys of the golden ConfigMap.
const (
	StreamKey     = "stream"
	ReleaseKey    = "releaseVersion"
	MCOReleaseKey = "MCOReleaseImageVersion"
)

// maxStream is how many bytes a ConfigMap can hold.
const maxStream = 1 << 20

// Golden is what the golden ConfigMap holds. It never changes.
type Golden struct {
	stream              stream.Stream
	release, mcoRelease string
	fingerprint         string
}

// Read reads the data of the golden ConfigMap. Fields of the stream that are not known are left out of account. Values are
// checked where they are used, so that one that is wrong fails the targets that need it, and no others.
func Read(data map[string]string) (*Golden, error) {
	text, found := data[StreamKey]
	switch {
	case !found:
		return nil, fmt.Errorf("the golden ConfigMap has no key %q", StreamKey)
	case len(text) > maxStream:
		return nil, fmt.Errorf("key %q of the golden ConfigMap has %d bytes, and may have %d", StreamKey, len(text), maxStream)
	}
	g := &Golden{release: data[ReleaseKey], mcoRelease: data[MCOReleaseKey]}
	for _, key := range []string{ReleaseKey, MCOReleaseKey} {
		if err := checkRelease(key, data[key]); err != nil {
			return nil, err
		}
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &g.stream); err != nil {
		return nil, fmt.Errorf("reading key %q of the golden ConfigMap as JSON: %s", StreamKey, message.Shorten(err.Error(), maxTold))
	}
	if len(g.stream.Architectures) == 0 {
		return nil, fmt.Errorf("key %q of the golden ConfigMap names no architecture", StreamKey)
	}
	var err error
	g.fingerprint, err = fingerprint(text, g.release, g.mcoRelease)
	return g, err
}

// Release is the release that the golden images belong to; empty if the ConfigMap does not say.
func (g *Golden) Release() string { return g.release }

// MCORelease is the release of the machine-config operator that vouches for the golden images; empty if there is none yet.
func (g *Golden) MCORelease() string { return g.mcoRelease }

// Fingerprint is the same for the same content only.
func (g *Golden) Fingerprint() string { return g.fingerprint }

func fingerprint(parts ...string) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("encoding what the golden ConfigMap holds: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// checkRelease refuses a release that could not be told.
func checkRelease(key, value string) error {
	if value == "" {
		return nil
	}
	if err := releaseForm.check(value); err != nil {
		return fmt.Errorf("key %q of the golden ConfigMap: %w", key, err)
	}
	return nil
}
