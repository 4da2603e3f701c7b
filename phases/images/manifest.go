package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capstan-capi/capstan/message"
)

const (
	// tokensMost is how many keys, values, lists and objects a manifest may have, depthMost how deep they may lie in each
	// other: far more than any real one has, so that what is read of it takes little more memory than its text.
	tokensMost = 1 << 15
	depthMost  = 16
)

// manifest is the part of an image manifest or of an index that matters here.
type manifest struct {
	SchemaVersion int             `json:"schemaVersion"`
	MediaType     types.MediaType `json:"mediaType"`
	Manifests     []v1.Descriptor `json:"manifests"`
	Layers        []v1.Descriptor `json:"layers"`
	Config        json.RawMessage `json:"config"`

	digest string
	text   []byte
}

// parseManifest refuses what another reader could take for another image, which would have the same digest:
// https://github.com/opencontainers/distribution-spec/security/advisories/GHSA-mc8v-mgrf-8f4m.
func parseManifest(digest string, data []byte) (*manifest, error) {
	m := manifest{digest: digest, text: data}
	err := oneReading(data)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return nil, fail(KindContent, "manifest %s cannot be read: %w; check what was pushed", digest, err)
	}
	isImage, isList := m.Layers != nil, m.Manifests != nil
	if isImage == isList || m.SchemaVersion != 2 ||
		m.MediaType != "" && (m.MediaType.IsImage() != isImage || m.MediaType.IsIndex() != isList) {
		return nil, fail(KindContent, "manifest %s (mediaType %q, schemaVersion %d) is neither an image of layers nor a list of manifests; "+
			"check what was pushed", digest, message.Shorten(string(m.MediaType), 100), m.SchemaVersion)
	}
	return &m, nil
}

// fields are those of manifests, of descriptors and of platforms that are read here. Go finds them in any case of their
// letters, other readers do not.
var fields = []string{"schemaVersion", "mediaType", "manifests", "layers", "config", "digest", "size", "platform", "os", "architecture"}

// oneReading refuses JSON in which an object has a key twice, or a field in other letters, and what is larger or deeper
// than a manifest may be. The keys of annotations may be any.
func oneReading(data []byte) error {
	tokens := json.NewDecoder(bytes.NewReader(data))
	type object struct {
		seen  map[string]bool // nil: a list
		free  bool
		isKey bool
	}
	inside := []object{{}}
	var key string // that the next value belongs to
	for read := 0; ; read++ {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if read > tokensMost || len(inside) > depthMost {
			return fmt.Errorf("it has more than %d keys and values, or they lie more than %d levels deep", tokensMost, depthMost)
		}
		now := &inside[len(inside)-1]
		wasKey := now.isKey
		now.isKey = now.seen != nil && !wasKey
		switch token {
		case json.Delim('{'):
			inside = append(inside, object{seen: map[string]bool{}, free: now.free || key == "annotations", isKey: true})
			key = ""
			continue
		case json.Delim('['):
			inside = append(inside, object{free: now.free})
			key = ""
			continue
		case json.Delim('}'), json.Delim(']'):
			inside = inside[:len(inside)-1]
			continue
		}
		if !wasKey {
			key = ""
			continue
		}
		key, _ = token.(string)
		switch same := slices.IndexFunc(fields, func(field string) bool { return strings.EqualFold(field, key) }); {
		case now.seen[key]:
			return fmt.Errorf("it has the key %q twice in one object", message.Shorten(key, 100))
		case same >= 0 && fields[same] != key && !now.free:
			return fmt.Errorf("it has the key %q, which some readers take for %q", message.Shorten(key, 100), fields[same])
		}
		now.seen[key] = true
	}
}
