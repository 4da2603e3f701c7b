package payload

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

// Role is what a machine is started as.
type Role string

// The roles, in the order in which their configs are stored.
const (
	Bootstrap Role = "bootstrap"
	Master    Role = "master"
	Worker    Role = "worker"
)

// Roles are all of them.
var Roles = []Role{Bootstrap, Master, Worker}

const (
	// ValueKey is the key of a config in a Secret.
	ValueKey = "value"
	// FormatKey is the key of its format, which is Format.
	FormatKey = "format"
	// Format is that of all configs.
	Format = "ignition"
	// PackedKey is the key of a config that is too large for a Secret as it is, compressed by gzip.
	PackedKey = "value.gz"

	// packedMost is how large a compressed config may be, configMost how large a config, in bytes.
	packedMost = 1<<20 - 1024
	configMost = 16 << 20
)

// SecretName is the name of the Secret that a config of an OpenShiftControlPlane is kept in.
func SecretName(controlPlane string, role Role) string {
	return controlPlane + "-ignition-" + string(role)
}

// KeysName is the name of the Secret with what the payload of an OpenShiftControlPlane is sealed with. It dies with the bootstrap's.
func KeysName(controlPlane string) string { return controlPlane + "-ignition-keys" }

// Sum tells configs apart, in hex: it is noted beside each, so that one that was altered is known.
func Sum(config []byte) string {
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:])
}

// Of is the config of a role.
func (p Payload) Of(role Role) []byte {
	return map[Role][]byte{Bootstrap: p.Bootstrap, Master: p.Master, Worker: p.Worker}[role]
}

// Packed returns a config as the data of a Secret: as it is where that fits, compressed otherwise, or a TooLargeError.
func Packed(config []byte) (map[string][]byte, error) {
	if ignition.Fits(config) == nil {
		return map[string][]byte{ValueKey: config, FormatKey: []byte(Format)}, nil
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(config)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compressing an Ignition config: %w", err)
	}
	if b.Len() > packedMost {
		return nil, ignition.TooLargeError{Bytes: len(config)}
	}
	return map[string][]byte{PackedKey: b.Bytes(), FormatKey: []byte(Format)}, nil
}

// Unpacked returns the config of a Secret, once Ignition has parsed it.
func Unpacked(data map[string][]byte) ([]byte, error) {
	config := data[ValueKey]
	if packed, is := data[PackedKey]; is {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err == nil {
			config, err = io.ReadAll(io.LimitReader(r, configMost+1))
		}
		if err != nil || len(config) > configMost {
			return nil, fmt.Errorf("%s is not compressed, or holds more than the %d bytes allowed", PackedKey, configMost)
		}
	}
	if len(config) == 0 {
		return nil, fmt.Errorf("it has no key %s", ValueKey)
	}
	if err := ignition.Check(config); err != nil {
		return nil, err
	}
	return config, nil
}
