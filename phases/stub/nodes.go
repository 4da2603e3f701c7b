package stub

import (
	"path"

	old "github.com/coreos/ignition/config/v2_4/types"
)

// place brings files, directories and links to root, with the path of their file system before theirs.
func (once *plain) place(config old.Storage, places map[string]string) error {
	from := map[string]string{}
	node := func(n *old.Node, at string) error {
		where, known := places[n.Filesystem]
		if !known {
			return unconvertible(at, "its file system is not one of this config, so its path is not known")
		}
		n.Path, n.Filesystem = path.Join(where, n.Path), "root"
		if other, twice := from[n.Path]; twice && other != where {
			return unconvertible(at, "its path is on two file systems, and spec 3 has one for each path")
		}
		from[n.Path] = where
		n.User, n.Group = said(n.User), said(n.Group)
		return nil
	}
	once.Storage.Directories, once.Storage.Files, once.Storage.Links = nil, nil, nil
	for i, d := range config.Directories {
		if err := node(&d.Node, item("storage.directories", i)); err != nil {
			return err
		}
		if d.Mode == nil {
			d.Mode = new(0)
		}
		once.Storage.Directories = append(once.Storage.Directories, d)
	}
	for i, f := range config.Files {
		at := item("storage.files", i)
		if err := headers(at+".contents", f.Contents.HTTPHeaders); err != nil {
			return err
		}
		if err := node(&f.Node, at); err != nil {
			return err
		}
		once.Storage.Files = append(once.Storage.Files, f)
	}
	for i, l := range config.Links {
		if l.Hard {
			l.Target = path.Join("/", places[l.Filesystem], l.Target)
		}
		if err := node(&l.Node, item("storage.links", i)); err != nil {
			return err
		}
		once.Storage.Links = append(once.Storage.Links, l)
	}
	return nil
}

// said is an owner that says anything; nil if it does not.
func said[T comparable](owner *T) *T {
	if owner == nil || *owner == *new(T) {
		return nil
	}
	return owner
}

// unify leaves of nodes with one path the one that is written last: Ignition writes directories, then files, links and units.
func (once *plain) unify() {
	later := map[string]bool{}
	for _, u := range once.Systemd.Units {
		const folder = "/etc/systemd/system"
		if u.Contents != "" {
			later[path.Join(folder, u.Name)] = true
		}
		for _, d := range u.Dropins {
			if d.Contents != "" {
				later[path.Join(folder, u.Name+".d", d.Name)] = true
			}
		}
	}
	var links []old.Link
	for _, l := range last(once.Storage.Links, func(l old.Link) string { return l.Path }) {
		if !later[l.Path] {
			links = append(links, l)
		}
	}
	for _, l := range links {
		later[l.Path] = true
	}
	var all []old.File
	for _, f := range files(once.Storage.Files) {
		if !later[f.Path] {
			all = append(all, f)
		}
	}
	for _, f := range all {
		later[f.Path] = true
	}
	var directories []old.Directory
	for _, d := range last(once.Storage.Directories, func(d old.Directory) string { return d.Path }) {
		if !later[d.Path] {
			directories = append(directories, d)
		}
	}
	once.Storage.Links, once.Storage.Files, once.Storage.Directories = links, all, directories
}

// files brings entries of one path together: what is written last, then what is appended to it. Owner and mode are those of the
// last entry that says them, since in spec 3 it is one file.
func files(list []old.File) []old.File {
	chains := map[string][]old.File{}
	var paths []string
	for _, f := range list {
		chain := chains[f.Path]
		if chain == nil {
			paths = append(paths, f.Path)
		}
		switch {
		case !f.Append:
			chain = nil
			if f.Mode == nil {
				f.Mode = new(0)
			}
			if f.Overwrite == nil {
				f.Overwrite = new(true)
			}
		default:
			f.Overwrite = new(false)
		}
		chains[f.Path] = joined(chain, f)
	}
	var all []old.File
	for _, p := range paths {
		all = append(all, chains[p]...)
	}
	return all
}

// joined appends an entry to those before it, and gives all of them one owner and mode.
func joined(chain []old.File, f old.File) []old.File {
	if n := len(chain); n > 0 {
		before := chain[n-1]
		if f.Mode == nil {
			f.Mode = before.Mode
		}
		if f.User == nil {
			f.User = before.User
		}
		if f.Group == nil {
			f.Group = before.Group
		}
	}
	chain = append(chain, f)
	for i := range chain {
		chain[i].Mode, chain[i].User, chain[i].Group = f.Mode, f.User, f.Group
	}
	return chain
}
