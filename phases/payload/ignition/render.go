package ignition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
)

// Version is the spec of every config that is given out.
const Version = "3.2.0"

// MaxBytes is how large a config may be, so that it fits into the Secret that a machine is given.
const MaxBytes = 1<<20 - len("ignition")

// File is one file of a machine, of user root. It replaces what the operating system has there.
type File struct {
	Path string
	// Mode has the permission bits, such as 0o600.
	Mode int
	Data []byte
}

// Unit is one unit of systemd.
type Unit struct {
	Name, Contents string
	Enabled        bool
}

// Content is what a full config says. The order of its lists has no meaning.
type Content struct {
	Files []File
	Units []Unit
	// SSHKeys may log in as user core.
	SSHKeys []string
}

// TooLargeError is a config that no Secret can hold.
type TooLargeError struct{ Bytes int }

func (e TooLargeError) Error() string {
	return fmt.Sprintf("the Ignition config has %d bytes, more than the %d that fit into a Secret; take manifests away, or set "+
		"spec.ignition.delivery to Stub, so that machines fetch it from a URL", e.Bytes, MaxBytes)
}

// Terminal is true: the same inputs always make the same config.
func (TooLargeError) Terminal() bool { return true }

// Fits is a TooLargeError if a config cannot be delivered by a Secret.
func Fits(config []byte) error {
	if len(config) > MaxBytes {
		return TooLargeError{Bytes: len(config)}
	}
	return nil
}

// Render returns the config of a content: the same bytes for the same content.
func Render(c Content) ([]byte, error) {
	config := types.Config{Ignition: types.Ignition{Version: Version}}
	for _, file := range c.Files {
		config.Storage.Files = append(config.Storage.Files, types.File{
			Node: types.Node{
				Path:      file.Path,
				User:      types.NodeUser{Name: util.StrToPtr("root")},
				Overwrite: util.BoolToPtr(true),
			},
			FileEmbedded1: types.FileEmbedded1{
				Mode:     util.IntToPtr(file.Mode),
				Contents: types.Resource{Source: util.StrToPtr(inline(file.Data))},
			},
		})
	}
	slices.SortFunc(config.Storage.Files, func(a, b types.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, unit := range c.Units {
		config.Systemd.Units = append(config.Systemd.Units, types.Unit{
			Name: unit.Name, Contents: util.StrToPtr(unit.Contents), Enabled: util.BoolToPtr(unit.Enabled),
		})
	}
	slices.SortFunc(config.Systemd.Units, func(a, b types.Unit) int { return cmp.Compare(a.Name, b.Name) })
	if len(c.SSHKeys) > 0 {
		user := types.PasswdUser{Name: "core"}
		for _, key := range slices.Sorted(slices.Values(c.SSHKeys)) {
			user.SSHAuthorizedKeys = append(user.SSHAuthorizedKeys, types.SSHAuthorizedKey(key))
		}
		config.Passwd.Users = []types.PasswdUser{user}
	}
	return written(config)
}

// inline is data as a URL in base64: other bytes than text survive in it.
func inline(data []byte) string {
	return dataurl.New(data, "text/plain", "charset", "utf-8").String()
}

// written returns a config as text once Ignition has parsed it.
func written(config types.Config) ([]byte, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, InvalidError{Why: "it cannot be written as JSON"}
	}
	if _, err := parsed(text); err != nil {
		return nil, err
	}
	return text, nil
}
