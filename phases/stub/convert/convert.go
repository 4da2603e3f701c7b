// Package convert brings an Ignition config of spec 2 to spec 3.1, with every customization and all of each. It is pure: bytes in,
// bytes out; no client, no clock, no machine.
//
// What it reads is secret and hostile: an error names fields and reasons and never quotes a value, size and number of values are
// bounded, and a panic of a library is an error.
//
// The order of a conversion: decode reads spec 2 and refuses what Ignition would ignore; plainly says the same once, in words
// that spec 3 has, too; translate has the library convert that, and mends what it loses; prove reads the result again, converts
// it back, and compares.
package convert

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/coreos/ignition/v2/config/v3_1/types"

	"github.com/capstan-capi/capstan/phases/stub"
)

// Convert brings user data of spec 2 to [stub.Converted]; user data of spec 3 it gives back as it is. The same bytes give the same
// bytes. The error is a [stub.UnconvertibleError].
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
	version, err := stub.Read(userData)
	if err != nil {
		return nil, err
	}
	if version.IsSpec3() {
		return userData, nil
	}
	if version.Major != 2 || version.Minor > 4 || version.Patch > 0 || version.Unreleased {
		return nil, unconvertible("ignition.version", "only 2.0.0 to 2.4.0 can be converted to "+stub.Converted.String())
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

// encode writes a config as small as JSON allows: a unit's redirections stay one byte each.
func encode(config types.Config) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(config); err != nil {
		return nil, unconvertible("", "what it converts to cannot be written as JSON")
	}
	if text.Len() > stub.MaxBytes {
		return nil, unconvertible("", fmt.Sprintf("it converts to %d bytes, and a Secret has room for %d", text.Len(), stub.MaxBytes))
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
