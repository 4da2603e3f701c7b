package stub_test

import (
	"strings"

	"pgregory.net/rapid"
)

// drawnConfig makes up a legal config of spec 2.2, with few names, so that much is there twice.
func drawnConfig(t *rapid.T) object {
	config := object{"ignition": drawnIgnition(t)}
	optional(t, config, "passwd", func() any {
		return object{"users": drawnList(t, "users", drawnUser), "groups": drawnList(t, "groups", func(t *rapid.T) object {
			group := object{"name": oneOf(t, "group", "g", "h")}
			optional(t, group, "gid", func() any { return rapid.IntRange(0, 9).Draw(t, "gid") })
			optional(t, group, "passwordHash", func() any { return oneOf(t, "hash", "x", "y") })
			optional(t, group, "system", func() any { return true })
			return group
		})}
	})
	optional(t, config, "systemd", func() any { return object{"units": drawnList(t, "units", drawnUnit)} })
	storage := object{
		"directories": drawnList(t, "directories", drawnDirectory),
		"files":       drawnList(t, "files", drawnFile),
		"links":       drawnList(t, "links", drawnLink),
		"disks":       drawnList(t, "disks", drawnDisk),
		"raid": drawnList(t, "raid", func(t *rapid.T) object {
			return object{"name": oneOf(t, "array", "md0", "md1"), "level": "raid1", "devices": list{"/dev/x", "/dev/y"}, "spares": rapid.IntRange(0, 1).Draw(t, "spares"), "options": list{"-v", "-v"}}
		}),
	}
	config["storage"] = storage
	if rapid.Bool().Draw(t, "var") {
		storage["filesystems"] = list{drawnFilesystem(t)}
		units := list{object{"name": "var.mount", "contents": "[Mount]\nWhat=/dev/disk/by-partlabel/var\nWhere=/var"}}
		if systemd, ok := config["systemd"].(object); ok {
			units = append(units, systemd["units"].(list)...)
		}
		config["systemd"] = object{"units": units}
		storage["files"] = append(storage["files"].(list), onVarToo(drawnList(t, "files of var", drawnFile))...)
	}
	return config
}

// onVarToo brings files to the other file system, under names that root has none of.
func onVarToo(files list) list {
	for _, file := range files {
		file.(object)["filesystem"] = "var"
	}
	return files
}

func drawnIgnition(t *rapid.T) object {
	ignition := object{"version": "2.2.0"}
	source := func(t *rapid.T) object {
		reference := object{"source": oneOf(t, "source", "https://a/1", "https://b/2", "data:,c", "tftp://d/3")}
		optional(t, reference, "verification", func() any { return object{"hash": hash(oneOf(t, "digit", "1", "2")[0])} })
		return reference
	}
	config := object{"append": drawnList(t, "append", source)}
	optional(t, config, "replace", func() any { return source(t) })
	ignition["config"] = config
	ignition["security"] = object{"tls": object{"certificateAuthorities": drawnList(t, "authorities", source)}}
	optional(t, ignition, "timeouts", func() any {
		return object{"httpTotal": rapid.IntRange(0, 90).Draw(t, "total"), "httpResponseHeaders": rapid.IntRange(0, 90).Draw(t, "headers")}
	})
	return ignition
}

func drawnUser(t *rapid.T) object {
	user := object{"name": oneOf(t, "user", "core", "root")}
	optional(t, user, "passwordHash", func() any { return oneOf(t, "hash", "", "x", "y") })
	optional(t, user, "sshAuthorizedKeys", func() any {
		return rapid.SliceOfN(rapid.SampledFrom([]any{"key a", "key b", "key c"}), 1, 3).Draw(t, "keys")
	})
	facts := object{}
	optional(t, facts, "uid", func() any { return rapid.IntRange(0, 9).Draw(t, "uid") })
	for _, text := range []string{"gecos", "homeDir", "primaryGroup", "shell"} {
		optional(t, facts, text, func() any { return oneOf(t, text, "/a", "/b") })
	}
	for _, flag := range []string{"noCreateHome", "noUserGroup", "noLogInit", "system"} {
		optional(t, facts, flag, func() any { return true })
	}
	optional(t, facts, "groups", func() any {
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"wheel", "sudo"}), 1, 2, rapid.ID).Draw(t, "groups")
	})
	if rapid.Bool().Draw(t, "create") {
		user["create"] = facts
		return user
	}
	for name, value := range facts {
		user[name] = value
	}
	return user
}

func drawnUnit(t *rapid.T) object {
	unit := object{"name": oneOf(t, "unit", "a.service", "b.timer")}
	optional(t, unit, "contents", func() any { return oneOf(t, "contents", "[Unit]\nA=1", "[Unit]\nA=<&>") })
	optional(t, unit, "enabled", func() any { return rapid.Bool().Draw(t, "enabled") })
	if unit["enabled"] == nil {
		optional(t, unit, "enable", func() any { return true })
	}
	optional(t, unit, "dropins", func() any {
		return drawnList(t, "dropins", func(t *rapid.T) object {
			return object{"name": oneOf(t, "drop-in", "1.conf", "2.conf"), "contents": oneOf(t, "contents", "[Unit]\nB=1", "[Unit]\nB=2")}
		})
	})
	return unit
}

func drawnDisk(t *rapid.T) object {
	disk := object{"device": oneOf(t, "device", "/dev/sda", "/dev/sdb")}
	start := 2048
	var partitions list
	for number := range rapid.IntRange(0, 3).Draw(t, "partitions") {
		size := rapid.IntRange(1, 50).Draw(t, "size") * 2048
		partition := object{"number": number + 1, "start": start, "size": size}
		optional(t, partition, "label", func() any { return oneOf(t, "label", "a", "b") + strings.Repeat("x", number) })
		optional(t, partition, "typeGuid", func() any { return "4D21B016-B534-45C2-A9FB-5C16E091FD2D" })
		optional(t, partition, "guid", func() any { return "4D21B016-B534-45C2-A9FB-5C16E091FD2E" })
		partitions = append(partitions, partition)
		start += size
	}
	disk["partitions"] = partitions
	// A second disk of one device begins anew, or its partitions would lie on those of the first.
	disk["wipeTable"] = true
	return disk
}

func drawnFilesystem(t *rapid.T) object {
	mount := object{"device": "/dev/disk/by-partlabel/var", "format": oneOf(t, "format", "xfs", "ext4", "btrfs")}
	optional(t, mount, "label", func() any { return "var" })
	optional(t, mount, "uuid", func() any { return "6b0c1e2c-0000-0000-0000-000000000000" })
	options := rapid.SliceOfN(rapid.SampledFrom([]any{"-m", "-i", "x"}), 1, 4).Draw(t, "options")
	if rapid.Bool().Draw(t, "create") {
		mount["create"] = object{"force": rapid.Bool().Draw(t, "force"), "options": options}
	} else {
		mount["options"] = options
		optional(t, mount, "wipeFilesystem", func() any { return true })
	}
	return object{"name": "var", "mount": mount}
}

func drawnNode(t *rapid.T, paths ...string) object {
	node := object{"filesystem": "root", "path": oneOf(t, "path", paths...)}
	for _, owner := range []string{"user", "group"} {
		switch rapid.IntRange(0, 3).Draw(t, owner) {
		case 1:
			node[owner] = object{"id": rapid.IntRange(0, 9).Draw(t, "id")}
		case 2:
			node[owner] = object{"name": oneOf(t, "name", "core", "root")}
		case 3:
			node[owner] = object{}
		}
	}
	return node
}

func drawnFile(t *rapid.T) object {
	file := drawnNode(t, "/etc/a", "/etc/b", "/etc/ab", "/etc/../etc//b")
	optional(t, file, "mode", func() any { return rapid.IntRange(0, 0o777).Draw(t, "mode") })
	contents := object{"source": oneOf(t, "source", "", "data:,a%20b", "https://a/1")}
	optional(t, contents, "compression", func() any { return "gzip" })
	optional(t, contents, "verification", func() any { return object{"hash": hash('a')} })
	file["contents"] = contents
	if rapid.Bool().Draw(t, "append") {
		file["append"] = true
	} else {
		optional(t, file, "overwrite", func() any { return rapid.Bool().Draw(t, "overwrite") })
	}
	return file
}

func drawnDirectory(t *rapid.T) object {
	directory := drawnNode(t, "/srv", "/srv/d", "/opt/")
	optional(t, directory, "mode", func() any { return rapid.IntRange(0, 0o777).Draw(t, "mode") })
	optional(t, directory, "overwrite", func() any { return rapid.Bool().Draw(t, "overwrite") })
	return directory
}

func drawnLink(t *rapid.T) object {
	link := drawnNode(t, "/etc/l", "/etc/la", "/run/l")
	link["target"] = oneOf(t, "target", "/x", "../y")
	if rapid.Bool().Draw(t, "hard") {
		link["hard"], link["target"] = true, "/x"
	}
	return link
}

func drawnList(t *rapid.T, name string, draw func(*rapid.T) object) list {
	all := list{}
	for range rapid.IntRange(0, 3).Draw(t, name) {
		all = append(all, draw(t))
	}
	return all
}

func optional(t *rapid.T, of object, name string, draw func() any) {
	if rapid.Bool().Draw(t, "with "+name) {
		of[name] = draw()
	}
}

func oneOf(t *rapid.T, name string, values ...string) string {
	return rapid.SampledFrom(values).Draw(t, name)
}
