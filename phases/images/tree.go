package images

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// limits bound what one image may cost.
type limits struct {
	file     int64 // bytes of one file
	image    int64 // bytes of all files, names and link targets under the folder that is read, in all layers
	entries  int   // files, folders, links and whiteouts under it, in all layers
	unpacked int64 // bytes of all layers, decompressed, needed or not
}

var standardLimits = limits{file: 32 << 20, image: 128 << 20, entries: 10_000, unpacked: 4 << 30}

type kind int

const (
	folder kind = iota
	file
	link     // symbolic
	dangling // a hard link to something that is not in the tree
	special  // a device, a socket, a pipe
)

// node is one name in the tree. Only nodes of lower layers are hidden by a whiteout, so each knows its own layer.
type node struct {
	kind     kind
	layer    int
	data     []byte
	target   string // of a link, as written; of a dangling one, as a path
	children map[string]*node
}

// tree is an image's file system in memory, as far as it lies under one folder, a clean absolute path.
type tree struct {
	folder  string
	root    *node
	limits  limits
	bytes   int64
	entries int
}

const (
	maxLinks = 40
	// maxName is how long a name or the target of a link may be: as long as Linux lets a path be.
	maxName = 4096
)

func newTree(folder string, l limits) *tree {
	return &tree{folder: folder, root: &node{children: map[string]*node{}}, limits: l}
}

// inside reports whether a clean absolute path is the tree's folder or lies under it.
func (t *tree) inside(p string) bool {
	return p == t.folder || strings.HasPrefix(p, t.folder+"/")
}

// admit must be called with the size of a file before it is read.
func (t *tree) admit(p string, size int64) error {
	if size > t.limits.file {
		return fail(KindLimit, "file %s has %d bytes, more than the %d allowed for a file; make it smaller", p, size, t.limits.file)
	}
	return t.hold(p, size)
}

func (t *tree) hold(p string, size int64) error {
	if t.bytes += size; t.bytes > t.limits.image {
		return fail(KindLimit, "the files under %s have more than the %d bytes allowed for an image (reached at %s); "+
			"move what is not a manifest out of that folder", t.folder, t.limits.image, p)
	}
	return nil
}

// add puts a node at a clean path, replacing what lower layers or earlier entries have there. A folder over a folder
// keeps its children.
func (t *tree) add(p string, n *node) error {
	if length := max(len(p), len(n.target)); length > maxName {
		return fail(KindLimit, "the name or the link target of %s has %d bytes, more than the %d allowed; make it shorter",
			message.Shorten(p, 160), length, maxName)
	}
	if err := t.hold(p, int64(len(p)+len(n.target))); err != nil {
		return err
	}
	if err := t.count(p); err != nil {
		return err
	}
	// A target may be a piece of a much longer text.
	n.target = strings.Clone(n.target)
	parent, name, err := t.parent(p, n.layer)
	if err != nil {
		return err
	}
	if old := parent.children[name]; old != nil && old.kind == folder && n.kind == folder {
		old.layer = n.layer
		return nil
	}
	if n.kind == folder {
		n.children = map[string]*node{}
	}
	parent.children[name] = n
	return nil
}

func (t *tree) count(p string) error {
	if t.entries++; t.entries > t.limits.entries {
		return fail(KindLimit, "there are more than the %d entries allowed under %s (reached at %s); "+
			"move what is not a manifest out of that folder", t.limits.entries, t.folder, p)
	}
	return nil
}

// parent returns the folder of a path and its last name, and makes the folders that no entry has made.
func (t *tree) parent(p string, layer int) (*node, string, error) {
	names := strings.Split(p[1:], "/")
	dir := t.root
	for i, name := range names[:len(names)-1] {
		next := dir.children[name]
		switch {
		case next == nil || next.kind == file || next.kind == special || next.kind == dangling:
			if err := t.count(p); err != nil {
				return nil, "", err
			}
			next = &node{layer: layer, children: map[string]*node{}}
			dir.children[name] = next
		case next.kind == link:
			return nil, "", fail(KindContent, "entry %s lies behind the link /%s, so where it belongs is not certain; "+
				"give its real path in the image", p, strings.Join(names[:i+1], "/"))
		}
		next.layer = max(next.layer, layer)
		dir = next
	}
	return dir, names[len(names)-1], nil
}

// at finds the node with exactly this path, following no link.
func (t *tree) at(p string) *node {
	n := t.root
	for _, name := range strings.Split(p[1:], "/") {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// whiteout hides what layers below the given one have at a path.
func (t *tree) whiteout(p string, layer int) {
	dir := t.root
	if up := path.Dir(p); up != "/" {
		dir = t.at(up)
	}
	if dir == nil {
		return
	}
	if n := dir.children[path.Base(p)]; n != nil && hide(n, layer) {
		delete(dir.children, path.Base(p))
	}
}

// opaque hides what layers below the given one have inside a folder.
func (t *tree) opaque(dir string, layer int) {
	n := t.root
	if dir != "/" {
		n = t.at(dir)
	}
	if n != nil {
		hideChildren(n, layer)
	}
}

// hide reports whether nothing of the node is left. A folder in which the layer itself has entries stays.
func hide(n *node, layer int) bool {
	if n.layer < layer {
		return true
	}
	hideChildren(n, layer)
	return false
}

func hideChildren(n *node, layer int) {
	for name, child := range n.children {
		if hide(child, layer) {
			delete(n.children, name)
		}
	}
}

// resolve follows a path and all links on it, as a process with the image as its root would. It returns no node if the
// path leads nowhere, and an error if it leads out of the tree's folder or in circles.
func (t *tree) resolve(ctx context.Context, p string) (*node, error) {
	todo := strings.Split(p, "/")
	var at []*node
	var names []string
	last := p
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(at) > 0 {
				at, names = at[:len(at)-1], names[:len(names)-1]
			}
			continue
		}
		dir := t.root
		if len(at) > 0 {
			dir = at[len(at)-1]
		}
		full := "/" + strings.Join(append(names[:len(names):len(names)], name), "/")
		if !t.inside(full) {
			return nil, t.outside(last)
		}
		n := dir.children[name]
		if n == nil {
			return nil, nil
		}
		if n.kind != link {
			at, names = append(at, n), append(names, name)
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if links++; links > maxLinks {
			return nil, fail(KindContent, "%s leads in circles through links", p)
		}
		last = fmt.Sprintf("link %s to %s", full, n.target)
		if strings.HasPrefix(n.target, "/") {
			at, names = nil, nil
		}
		todo = append(strings.Split(n.target, "/"), todo...)
	}
	if len(at) == 0 {
		return nil, t.outside(last)
	}
	return at[len(at)-1], nil
}

func (t *tree) outside(what string) error {
	return fail(KindContent, "%s leads out of %s, and only what lies in that folder is read; put the file itself there", what, t.folder)
}
