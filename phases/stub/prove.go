package stub

import (
	gojson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreos/ign-converter/translate/v31tov24"
	old "github.com/coreos/ignition/config/v2_4/types"
	"github.com/coreos/ignition/v2/config/v3_1/types"
	"github.com/coreos/ignition/v2/config/validate"
	"sigs.k8s.io/json"
)

// prove reads what was converted, as the machine's Ignition will, converts it back, and compares that with what it was made of.
func prove(once plain, converted []byte) error {
	var config types.Config
	if problems, err := json.UnmarshalStrict(converted, &config); err != nil || len(problems) > 0 {
		return unconvertible("", "what it converts to cannot be read again")
	}
	if report := validate.ValidateWithContext(config, nil); report.IsFatal() {
		return refused(report.String())
	}
	paths := map[string]string{}
	for i := range config.Storage.Filesystems {
		fs := &config.Storage.Filesystems[i]
		paths[number(i)] = ""
		if fs.Path != nil {
			paths[number(i)] = *fs.Path
		}
		// The way back would bring nodes to the file systems whose paths theirs begin with, and takes /variable for one on /var.
		fs.Path = nil
	}
	for _, disk := range config.Storage.Disks {
		for i := range disk.Partitions {
			// The way back reads it without asking whether it is there.
			if disk.Partitions[i].WipePartitionEntry == nil {
				disk.Partitions[i].WipePartitionEntry = new(false)
			}
		}
	}
	back, err := v31tov24.Translate(config)
	if err != nil {
		return unconvertible("", "what it converts to cannot be converted back")
	}
	lost, err := differing(fields(once.Config, once.paths), fields(back, paths))
	if err != nil {
		return unconvertible("", "what it converts to cannot be compared with it")
	}
	if len(lost) > 0 {
		return unconvertible(strings.Join(lost, ", "), "something of it would be lost")
	}
	return nil
}

// fields are what a config consists of, by names that can be told.
func fields(config old.Config, paths map[string]string) map[string]any {
	return map[string]any{
		"ignition":            config.Ignition,
		"networkd":            config.Networkd,
		"passwd.users":        config.Passwd.Users,
		"passwd.groups":       config.Passwd.Groups,
		"systemd.units":       config.Systemd.Units,
		"storage.disks":       config.Storage.Disks,
		"storage.raid":        config.Storage.Raid,
		"storage.filesystems": map[string]any{"of": config.Storage.Filesystems, "paths": paths},
		"storage.files":       config.Storage.Files,
		"storage.directories": config.Storage.Directories,
		"storage.links":       config.Storage.Links,
	}
}

// differing are the fields of two values that are not the same once they are written as JSON.
func differing(a, b map[string]any) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		one, err := gojson.Marshal(a[name])
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", name, err)
		}
		other, err := gojson.Marshal(b[name])
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", name, err)
		}
		if string(one) != string(other) {
			names = append(names, name)
		}
	}
	return names, nil
}
