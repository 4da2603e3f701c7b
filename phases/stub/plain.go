package stub

import (
	"reflect"
	"strconv"

	old "github.com/coreos/ignition/config/v2_4/types"
)

// plain is a config of spec 2.4 that has everything once, in words that spec 3.1 has, too: no deprecated fields; all nodes on
// root, under the paths that they have once all is mounted; entries of files that have a path in common follow each other.
type plain struct {
	old.Config
	// paths are where file systems are mounted, by their names, which are numbers: "1", "2". Empty is nowhere.
	paths map[string]string
}

// plainly leaves the config that it is given as it is.
func plainly(config old.Config) (plain, error) {
	if len(config.Networkd.Units) > 0 {
		return plain{}, unconvertible("networkd.units", "spec 3 has no such units")
	}
	once := plain{Config: config}
	once.Ignition.Version = "2.4.0"
	once.Networkd = old.Networkd{}
	if err := once.fetched(); err != nil {
		return plain{}, err
	}
	once.Passwd.Users = users(config.Passwd.Users)
	once.Passwd.Groups = overlaid(config.Passwd.Groups, func(g old.PasswdGroup) string { return g.Name })
	once.Systemd.Units = units(config.Systemd.Units)
	return once, once.stored(config.Storage)
}

// fetched are the sources of ignition itself.
func (once *plain) fetched() error {
	in := &once.Ignition
	in.Config.Append = last(in.Config.Append, func(c old.ConfigReference) string { return c.Source })
	in.Security.TLS.CertificateAuthorities = last(in.Security.TLS.CertificateAuthorities, func(c old.CaReference) string { return c.Source })
	in.Proxy.NoProxy = last(in.Proxy.NoProxy, itself)
	for _, c := range in.Config.Append {
		if err := headers("ignition.config.append", c.HTTPHeaders); err != nil {
			return err
		}
	}
	if in.Config.Replace != nil {
		if err := headers("ignition.config.replace", in.Config.Replace.HTTPHeaders); err != nil {
			return err
		}
	}
	for _, ca := range in.Security.TLS.CertificateAuthorities {
		if err := headers("ignition.security.tls.certificateAuthorities", ca.HTTPHeaders); err != nil {
			return err
		}
	}
	return nil
}

// headers refuses a header without value: spec 3 takes it for one that is to be left out.
func headers(of string, list old.HTTPHeaders) error {
	for _, header := range list {
		if header.Value == "" {
			return unconvertible(of+".httpHeaders", "spec 3 has no header without a value")
		}
	}
	return nil
}

// users are users once each. What is below create, deprecated in spec 2, is what a user has.
func users(list []old.PasswdUser) []old.PasswdUser {
	var all []old.PasswdUser
	for _, user := range list {
		if c := user.Create; c != nil {
			user.Create = nil
			user.Gecos, user.HomeDir, user.PrimaryGroup, user.Shell, user.UID = c.Gecos, c.HomeDir, c.PrimaryGroup, c.Shell, c.UID
			user.NoCreateHome, user.NoLogInit, user.NoUserGroup, user.System = c.NoCreateHome, c.NoLogInit, c.NoUserGroup, c.System
			user.Groups = nil
			for _, group := range c.Groups {
				user.Groups = append(user.Groups, old.Group(group))
			}
		}
		user.Groups = last(user.Groups, itself)
		user.SSHAuthorizedKeys = last(user.SSHAuthorizedKeys, itself)
		all = append(all, user)
	}
	return overlaid(all, func(u old.PasswdUser) string { return u.Name })
}

// units are units once each, with the drop-ins of all of one name. What writes no file leaves the file of an earlier one.
func units(list []old.Unit) []old.Unit {
	var all []old.Unit
	at := map[string]int{}
	for _, unit := range list {
		if unit.Enabled == nil && unit.Enable {
			unit.Enabled = new(true)
		}
		unit.Enable = false
		i, twice := at[unit.Name]
		if !twice {
			unit.Dropins = dropins(unit.Dropins)
			at[unit.Name] = len(all)
			all = append(all, unit)
			continue
		}
		before := &all[i]
		before.Dropins = dropins(append(before.Dropins[:len(before.Dropins):len(before.Dropins)], unit.Dropins...))
		before.Mask = unit.Mask || before.Mask && unit.Contents == ""
		if unit.Contents != "" {
			before.Contents = unit.Contents
		}
		if unit.Enabled != nil {
			before.Enabled = unit.Enabled
		}
	}
	return all
}

func dropins(list []old.SystemdDropin) []old.SystemdDropin {
	return overlaid(list, func(d old.SystemdDropin) string { return d.Name })
}

// stored is what is on disks.
func (once *plain) stored(config old.Storage) error {
	var err error
	if once.Storage.Disks, err = disks(config.Disks); err != nil {
		return err
	}
	once.Storage.Raid = last(config.Raid, func(r old.Raid) string { return r.Name })
	for i := range once.Storage.Raid {
		once.Storage.Raid[i].Devices = last(once.Storage.Raid[i].Devices, itself)
	}
	places, err := once.mount(config.Filesystems)
	if err != nil {
		return err
	}
	if err := once.place(config, places); err != nil {
		return err
	}
	once.unify()
	return nil
}

// last leaves of items with one key the last.
func last[T any, K comparable](list []T, key func(T) K) []T {
	at := map[K]int{}
	for i, one := range list {
		at[key(one)] = i
	}
	var all []T
	for i, one := range list {
		if at[key(one)] == i {
			all = append(all, one)
		}
	}
	return all
}

func itself[T any](one T) T { return one }

// overlaid leaves of items with one key one, at the first one's place: of each field what the last says that says anything.
func overlaid[T any](list []T, key func(T) string) []T {
	var all []T
	at := map[string]int{}
	for _, one := range list {
		i, twice := at[key(one)]
		if !twice {
			at[key(one)] = len(all)
			all = append(all, one)
			continue
		}
		onto, from := reflect.ValueOf(&all[i]).Elem(), reflect.ValueOf(one)
		for f := range from.NumField() {
			if !from.Field(f).IsZero() {
				onto.Field(f).Set(from.Field(f))
			}
		}
	}
	return all
}

// number is the name of a file system, as the way back from spec 3 names one without path.
func number(i int) string { return strconv.Itoa(i + 1) }
