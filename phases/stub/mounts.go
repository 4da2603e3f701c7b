package stub

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
	old "github.com/coreos/ignition/config/v2_4/types"
)

// mount names the file systems by number, once for each device, and finds out where they are mounted: the paths that nodes on
// them begin with, by the names of the config.
func (once *plain) mount(list []old.Filesystem) (places map[string]string, err error) {
	places = map[string]string{"root": "/"}
	devices, taken := map[string]string{}, map[string]string{}
	var mounts []old.Mount
	for i, fs := range list {
		at := item("storage.filesystems", i)
		if fs.Mount == nil {
			return nil, unconvertible(at, "it is a path of the system that Ignition runs in, and spec 3 has no such file systems")
		}
		mount := created(*fs.Mount)
		where := mountPoint(once.Systemd.Units, mount)
		switch {
		case fs.Name == "root":
			where = "/"
		case where == "" && fs.Name != "":
			return nil, unconvertible(at, "no mount unit of this config mounts its device, so its path is not known")
		}
		if before, twice := devices[mount.Device]; twice && before != where {
			return nil, unconvertible(at, "its device is mounted at two paths")
		}
		if other, twice := taken[where]; twice && where != "" && other != mount.Device {
			return nil, unconvertible(at, "another one is mounted at its path")
		}
		devices[mount.Device], taken[where] = where, mount.Device
		if fs.Name != "" {
			places[fs.Name] = where
		}
		mounts = append(mounts, mount)
	}
	once.Storage.Filesystems, once.paths = nil, map[string]string{}
	for i, mount := range last(mounts, func(m old.Mount) string { return m.Device }) {
		once.Storage.Filesystems = append(once.Storage.Filesystems, old.Filesystem{Name: number(i), Mount: &mount})
		once.paths[number(i)] = devices[mount.Device]
	}
	return places, nil
}

// created says what is below create, deprecated in spec 2, in the words that took its place. Paths of devices are cleaned, as
// spec 3 asks for.
func created(mount old.Mount) old.Mount {
	mount.Device = path.Clean(mount.Device)
	if mount.Create == nil {
		return mount
	}
	mount.WipeFilesystem = mount.Create.Force
	mount.Options = nil
	for _, option := range mount.Create.Options {
		mount.Options = append(mount.Options, old.MountOption(option))
	}
	mount.Create = nil
	return mount
}

// mountPoint is where a mount unit mounts a device, by the first of their paths; empty if none does. A unit that is masked, or
// whose name is not that of its path, mounts nothing.
func mountPoint(units []old.Unit, mount old.Mount) string {
	names := []string{mount.Device}
	if mount.Label != nil && *mount.Label != "" {
		names = append(names, "/dev/disk/by-label/"+*mount.Label)
	}
	if mount.UUID != nil && *mount.UUID != "" {
		names = append(names, "/dev/disk/by-uuid/"+*mount.UUID)
	}
	var found []string
	for _, u := range units {
		what, where := mounting(u)
		if where != "" && slices.Contains(names, what) {
			found = append(found, where)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// mounting is which device a unit mounts, and where; empty if it mounts none.
func mounting(u old.Unit) (what, where string) {
	if u.Mask || !strings.HasSuffix(u.Name, ".mount") {
		return "", ""
	}
	texts := []string{u.Contents}
	for _, dropin := range slices.SortedFunc(slices.Values(u.Dropins), func(a, b old.SystemdDropin) int { return cmp.Compare(a.Name, b.Name) }) {
		texts = append(texts, dropin.Contents)
	}
	for _, text := range texts {
		options, err := unit.DeserializeOptions(strings.NewReader(text))
		if err != nil {
			return "", ""
		}
		for _, option := range options {
			switch option.Section + "." + option.Name {
			case "Mount.What":
				what = device(option.Value)
			case "Mount.Where":
				where = path.Clean(option.Value)
			}
		}
	}
	if !path.IsAbs(where) || unit.UnitNamePathEscape(where)+".mount" != u.Name {
		return "", ""
	}
	return what, where
}

// device is the path of a device that is named as in fstab: LABEL=data is /dev/disk/by-label/data.
func device(what string) string {
	if tag, value, found := strings.Cut(what, "="); found {
		switch tag {
		case "LABEL", "UUID", "PARTLABEL", "PARTUUID":
			return "/dev/disk/by-" + strings.ToLower(tag) + "/" + value
		}
	}
	return path.Clean(what)
}
