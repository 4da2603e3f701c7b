package stub

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/coreos/ignition/v2/config/v3_1/types"
)

// Convert brings user data of spec 2 to [Converted]; user data of spec 3 it gives back as it is. The same bytes give the same
// bytes. The error is an [UnconvertibleError].
//
// What is there twice, as spec 2 allows, is there once: the last counts, and of units and users for each of their fields, as
// with the Ignition that boots spec 2. A file system that has a name gets the path at which a mount unit of the config mounts its
// device; root is mounted already. What spec 2 says by the way is said: a file or directory without mode has mode 0.
func Convert(userData []byte) ([]byte, error) { return guarded(convert, userData) }

// guarded makes an error of a panic. What a library panics with may quote user data.
func guarded(convert func([]byte) ([]byte, error), userData []byte) (converted []byte, err error) {
	defer func() {
		if recover() != nil {
			converted, err = nil, unconvertible("", "the converter cannot cope with it")
		}
	}()
	return convert(userData)
}

func convert(userData []byte) ([]byte, error) {
	version, err := Read(userData)
	if err != nil {
		return nil, err
	}
	if version.IsSpec3() {
		return userData, nil
	}
	if err := convertible(userData); err != nil {
		return nil, err
	}
	config, err := decode(userData)
	if err != nil {
		return nil, err
	}
	once, err := plainly(config)
	if err != nil {
		return nil, err
	}
	result, err := translate(once)
	if err != nil {
		return nil, err
	}
	text, err := encode(result)
	if err != nil {
		return nil, err
	}
	if err := prove(once, text); err != nil {
		return nil, err
	}
	return text, nil
}

// convertible refuses versions that are no released ones of spec 2.
func convertible(userData []byte) error {
	version, err := read(userData)
	if err != nil {
		return err
	}
	if version.Major() != 2 || version.Minor() > 4 || version.Patch() > 0 || version.PreRelease() != "" || version.BuildMetadata() != "" {
		return unconvertible("ignition.version", "only 2.0.0 to 2.4.0 can be converted to "+Converted.String())
	}
	return nil
}

// encode writes a config as small as JSON allows: a unit's redirections stay one byte each.
func encode(config types.Config) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(config); err != nil {
		return nil, unconvertible("", "what it converts to cannot be written as JSON")
	}
	if text.Len() > maxBytes {
		return nil, unconvertible("", fmt.Sprintf("it converts to %d bytes, and a Secret has room for %d", text.Len(), maxBytes))
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
