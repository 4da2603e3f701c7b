package stub

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/json"
)

// maxBytes is how large user data may be, as is what it is converted to: a Secret has room for no more.
const maxBytes = 1 << 20

// Version is the version of the Ignition spec that user data is written in.
type Version struct{ Major, Minor, Patch uint }

// Converted is the version that [Convert] writes.
var Converted = Version{Major: 3, Minor: 1}

// String is the version as Ignition writes it: "2.2.0".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// IsSpec3 says that user data of this version stays as it is.
func (v Version) IsSpec3() bool { return v.Major == 3 }

// Read finds out the version of user data: of an experimental one what it leads to. The error is an [UnconvertibleError]: no
// JSON object, too large, or without a version of three numbers in ignition.version.
func Read(userData []byte) (Version, error) {
	if why := noJSON(userData); why != "" {
		return Version{}, unconvertible("", why)
	}
	parsed, err := read(userData)
	if err != nil {
		return Version{}, err
	}
	return Version{Major: parsed.Major(), Minor: parsed.Minor(), Patch: parsed.Patch()}, nil
}

func read(userData []byte) (*version.Version, error) {
	var config struct {
		Ignition struct {
			Version *string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(userData, &config); err != nil {
		return nil, undecodable(err)
	}
	const at = "ignition.version"
	text := config.Ignition.Version
	if text == nil || *text == "" {
		return nil, unconvertible(at, "it is missing")
	}
	parsed, err := version.ParseSemantic(*text)
	if err != nil || strings.HasPrefix(strings.TrimSpace(*text), "v") || strings.TrimSpace(*text) != *text {
		return nil, unconvertible(at, "it is no version of three numbers")
	}
	return parsed, nil
}

// noJSON tells what user data is that cannot be JSON; nothing if it may be.
func noJSON(userData []byte) string {
	switch text := bytes.TrimSpace(userData); {
	case len(text) == 0:
		return "it is empty"
	case len(userData) > maxBytes:
		return fmt.Sprintf("it has %d bytes, and a Secret has room for %d", len(userData), maxBytes)
	case bytes.HasPrefix(userData, []byte{0x1f, 0x8b}):
		return "it is compressed with gzip"
	case bytes.HasPrefix(text, []byte("#cloud-config")):
		return "it is a cloud-config, and no Ignition config"
	case bytes.HasPrefix(text, []byte("#!")):
		return "it is a script, and no Ignition config"
	case !utf8.Valid(userData):
		return "it is not UTF-8"
	case text[0] != '{':
		return "it is no JSON object"
	}
	return ""
}
