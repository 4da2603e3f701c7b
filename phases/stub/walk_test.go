package stub_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
)

// facts are what a config says, each under a name that both specs have: "user core shell" is "/bin/sh". They are read from JSON,
// without a type or a function of what is tested.
type facts map[string]string

func (f facts) say(value any, format string, name ...any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	f[fmt.Sprintf(format, name...)] = string(text)
}

// fields says all fields of an object but some, and of those that mean nothing nothing.
func (f facts) fields(of object, what string, but ...string) {
	for name, value := range of {
		if text, err := json.Marshal(value); err != nil {
			panic(err)
		} else if !slices.Contains(but, name) && !slices.Contains([]string{"null", "{}", "[]", `""`, "false", "0"}, string(text)) || name == "passwordHash" || name == "uid" || name == "gid" {
			f.say(value, "%s %s", what, name)
		}
	}
}

func (f facts) forget(prefix string) {
	for name := range f {
		if len(name) > len(prefix) && name[:len(prefix)+1] == prefix+" " {
			delete(f, name)
		}
	}
}

func in(of any, names ...string) any {
	for _, name := range names {
		inner, _ := of.(object)
		of = inner[name]
	}
	return of
}

func items(of any, names ...string) []object {
	all, _ := in(of, names...).(list)
	var found []object
	for _, one := range all {
		found = append(found, one.(object))
	}
	return found
}

// lasts are values once each, at the place of the last of them.
func lasts(values any) list {
	all, _ := values.(list)
	var once list
	for i, value := range all {
		if !slices.Contains(all[i+1:], value) {
			once = append(once, value)
		}
	}
	return once
}

// sources says what is fetched, and in which order.
func (f facts) sources(what string, references []object) {
	var order list
	for _, reference := range references {
		order = append(order, reference["source"])
		f.say(in(reference, "verification", "hash"), "%s %v", what, reference["source"])
	}
	f.say(lasts(order), "%s", what)
}

// said2 is what a config of spec 2.2 says, by the rules of Ignition 0.35.
func said2(config object) facts {
	f := facts{}
	f.both(config, "append")
	if replace, ok := in(config, "ignition", "config", "replace").(object); ok {
		f.sources("replace", []object{replace})
	}
	for _, user := range items(config, "passwd", "users") {
		what := fmt.Sprintf("user %v", user["name"])
		f.fields(user, what, "name", "create", "sshAuthorizedKeys")
		if keys := lasts(user["sshAuthorizedKeys"]); keys != nil {
			f.say(keys, "%s sshAuthorizedKeys", what)
		}
		if create, ok := user["create"].(object); ok {
			f.fields(create, what)
		}
	}
	for _, unit := range items(config, "systemd", "units") {
		f.fields(unit, fmt.Sprintf("unit %v", unit["name"]), "name", "dropins", "enable", "enabled")
		if unit["enable"] == true || unit["enabled"] != nil {
			f.say(unit["enable"] == true || unit["enabled"] == true, "unit %v enabled", unit["name"])
		}
	}
	for _, disk := range items(config, "storage", "disks") {
		f.forget(fmt.Sprintf("disk %v", disk["device"]))
		for _, p := range items(disk, "partitions") {
			what := fmt.Sprintf("disk %v partition %v", disk["device"], p["number"])
			f.fields(p, what, "size", "start")
			f.say(p["size"].(float64)/2048, "%s sizeMiB", what)
			f.say(p["start"].(float64)/2048, "%s startMiB", what)
		}
	}
	for _, fs := range items(config, "storage", "filesystems") {
		mount := fs["mount"].(object)
		what := fmt.Sprintf("filesystem %v", mount["device"])
		f.fields(mount, what, "create")
		f.say("/var", "%s path", what)
		if create, ok := mount["create"].(object); ok {
			f.say(create["options"], "%s options", what)
			if create["force"] == true {
				f.say(true, "%s wipeFilesystem", what)
			}
		}
	}
	f.nodes2(config)
	return f
}

// both says what is the same in both specs.
func (f facts) both(config object, appended string) {
	f.sources("append", items(config, "ignition", "config", appended))
	f.sources("authorities", items(config, "ignition", "security", "tls", "certificateAuthorities"))
	timeouts, _ := in(config, "ignition", "timeouts").(object)
	for name, value := range timeouts {
		f.say(value, "timeout %s", name)
	}
	for _, group := range items(config, "passwd", "groups") {
		f.fields(group, fmt.Sprintf("group %v", group["name"]), "name")
	}
	for _, unit := range items(config, "systemd", "units") {
		for _, dropin := range items(unit, "dropins") {
			f.say(dropin["contents"], "unit %v drop-in %v", unit["name"], dropin["name"])
		}
		f.say(true, "unit %v is there", unit["name"])
	}
	for _, disk := range items(config, "storage", "disks") {
		f.say(disk["wipeTable"], "disk %v", disk["device"])
	}
	for _, array := range items(config, "storage", "raid") {
		what := fmt.Sprintf("array %v", array["name"])
		f.forget(what)
		f.fields(array, what)
	}
}

func (f facts) nodes2(config object) {
	owned := func(node object, what string) {
		for _, owner := range []string{"user", "group"} {
			if who, ok := node[owner].(object); ok && len(who) > 0 {
				f.say(who, "%s %s", what, owner)
			}
		}
	}
	for _, kind := range []string{"directories", "links"} {
		for _, node := range items(config, "storage", kind) {
			what := fmt.Sprintf("%s %v", kind, path.Clean(node["path"].(string)))
			f.forget(what)
			f.fields(node, what, "filesystem", "path", "mode", "user", "group", "overwrite")
			f.say(node["overwrite"], "%s overwrite", what)
			owned(node, what)
			if kind == "directories" {
				f.say(max(0, number(node["mode"])), "%s mode", what)
			}
		}
	}
	written := map[string]list{}
	for _, file := range items(config, "storage", "files") {
		where := map[any]string{"root": "/", "var": "/var"}[file["filesystem"]]
		what := "file " + path.Join(where, file["path"].(string))
		if file["append"] != true {
			f.forget(what)
			delete(written, what)
			f.say(max(0, number(file["mode"])), "%s mode", what)
			f.say(file["overwrite"] != false, "%s overwrite", what)
		} else if file["mode"] != nil {
			f.say(file["mode"], "%s mode", what)
		}
		if written[what] == nil && file["append"] == true {
			f.say(false, "%s overwrite", what)
			written[what] = list{nil}
		}
		owned(file, what)
		written[what] = append(written[what], source(file["contents"]))
		f.say(written[what], "%s sources", what)
	}
}

func number(value any) float64 {
	n, _ := value.(float64)
	return n
}

// source is where contents come from.
func source(contents any) any {
	from := in(contents, "source")
	if from == nil {
		from = ""
	}
	return list{from, in(contents, "compression"), in(contents, "verification", "hash")}
}

// said3 is what a config of spec 3.1 says.
func said3(config object) facts {
	f := facts{}
	f.both(config, "merge")
	if replace, ok := in(config, "ignition", "config", "replace").(object); ok && replace["source"] != nil {
		f.sources("replace", []object{replace})
	}
	for _, user := range items(config, "passwd", "users") {
		f.fields(user, fmt.Sprintf("user %v", user["name"]), "name")
	}
	for _, unit := range items(config, "systemd", "units") {
		f.fields(unit, fmt.Sprintf("unit %v", unit["name"]), "name", "dropins", "enabled")
		if unit["enabled"] != nil {
			f.say(unit["enabled"], "unit %v enabled", unit["name"])
		}
	}
	for _, disk := range items(config, "storage", "disks") {
		for _, p := range items(disk, "partitions") {
			f.fields(p, fmt.Sprintf("disk %v partition %v", disk["device"], p["number"]))
		}
	}
	for _, fs := range items(config, "storage", "filesystems") {
		f.fields(fs, fmt.Sprintf("filesystem %v", fs["device"]))
	}
	for _, kind := range []string{"directories", "links"} {
		for _, node := range items(config, "storage", kind) {
			what := fmt.Sprintf("%s %v", kind, node["path"])
			f.fields(node, what, "path", "mode", "overwrite")
			f.say(node["overwrite"], "%s overwrite", what)
			if kind == "directories" {
				f.say(node["mode"], "%s mode", what)
			}
		}
	}
	for _, file := range items(config, "storage", "files") {
		what := fmt.Sprintf("file %v", file["path"])
		f.fields(file, what, "path", "mode", "overwrite", "append", "contents")
		f.say(file["overwrite"], "%s overwrite", what)
		if file["mode"] != nil {
			f.say(file["mode"], "%s mode", what)
		}
		all := list{nil}
		if in(file, "contents", "source") != nil {
			all[0] = source(file["contents"])
		}
		for _, more := range items(file, "append") {
			all = append(all, source(more))
		}
		f.say(all, "%s sources", what)
	}
	return f
}
