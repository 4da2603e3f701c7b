package stub

import (
	"bytes"
	gojson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/json"
)

// MaxBytes is how large user data may be, as is what it is converted to: a Secret has room for no more.
const MaxBytes = 1 << 20

// field is where a config has its version.
const field = "ignition.version"

// Version is the version of the Ignition spec that user data is written in.
type Version struct {
	Major, Minor, Patch uint
	// Unreleased says that more than three numbers are written, such as 3.6.0-experimental.
	Unreleased bool
}

// Converted is the version that spec 2 is converted to.
var Converted = Version{Major: 3, Minor: 1}

// String is the version as Ignition writes it: "2.2.0".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// IsSpec3 says that user data of this version stays as it is.
func (v Version) IsSpec3() bool { return v.Major == 3 }

// Read finds out the version of user data: of an experimental one what it leads to. The error is an [UnconvertibleError]: no
// JSON object, too large, or without a version of three numbers in ignition.version.
func Read(userData []byte) (Version, error) {
	if why := noJSON(userData); why != "" {
		return Version{}, UnconvertibleError{Why: why}
	}
	var config struct {
		Ignition struct {
			Version *string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(userData, &config); err != nil {
		return Version{}, undecodable(err)
	}
	text := config.Ignition.Version
	if text == nil || *text == "" {
		return Version{}, UnconvertibleError{At: field, Why: "it is missing"}
	}
	parsed, err := version.ParseSemantic(*text)
	if err != nil || strings.HasPrefix(strings.TrimSpace(*text), "v") || strings.TrimSpace(*text) != *text {
		return Version{}, UnconvertibleError{At: field, Why: "it is no version of three numbers"}
	}
	return Version{
		Major: parsed.Major(), Minor: parsed.Minor(), Patch: parsed.Patch(), Unreleased: parsed.PreRelease() != "" || parsed.BuildMetadata() != "",
	}, nil
}

// undecodable tells where JSON cannot be read, and of a wrong kind which field. The library's error would quote the value.
func undecodable(err error) error {
	if syntax, offset := json.SyntaxErrorOffset(err); syntax {
		return UnconvertibleError{Why: fmt.Sprintf("it is no JSON at byte %d", offset)}
	}
	var kind *gojson.UnmarshalTypeError
	if errors.As(err, &kind) && strings.HasPrefix(field, kind.Field) {
		return UnconvertibleError{At: kind.Field, Why: "its value is of a wrong kind"}
	}
	return UnconvertibleError{Why: "it cannot be read as JSON"}
}

// noJSON tells what user data is that cannot be JSON; nothing if it may be.
func noJSON(userData []byte) string {
	switch text := bytes.TrimSpace(userData); {
	case len(text) == 0:
		return "it is empty"
	case len(userData) > MaxBytes:
		return fmt.Sprintf("it has %d bytes, and a Secret has room for %d", len(userData), MaxBytes)
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
