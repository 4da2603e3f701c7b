package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
)

// mounts are the images that the kubelet has mounted, for as long as the process runs. It was the container runtime that
// let them in, and verified them.
type mounts struct {
	look func(context.Context) (map[Ref]string, error) // nil for none

	mu    sync.Mutex
	known map[Ref]string // nil until a look has told
}

// folderOf is empty for an image that is not mounted.
func (m *mounts) folderOf(ctx context.Context, ref Ref) (string, *Error) {
	if m.look == nil {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		known, err := m.look(ctx)
		if err != nil {
			return "", fail(KindDisk, "finding out which images are mounted: %w; it is tried again by itself", err)
		}
		m.known = known
		if known == nil {
			m.known = map[Ref]string{}
		}
	}
	return m.known[ref], nil
}

// mounted reads an image from the folder that it is mounted at.
func (p *Puller) mounted(ctx context.Context, ref Ref, folder string) (*Image, error) {
	t := newTree(ManifestsFolder, p.limits)
	if err := t.read(folder); err != nil {
		if _, ok := errors.AsType[*Error](err); ok {
			return nil, err
		}
		return nil, fail(KindDisk, "reading the folder %s that it is mounted at: %w; look at the volumes of the operator's Pod", folder, err)
	}
	profiles, err := t.profiles(ctx)
	if err != nil {
		return nil, err
	}
	return &Image{Ref: ref, Profiles: profiles, mounted: true}, nil
}

// openRegular does not wait for the other end of a pipe, which a name may have become since it was looked at.
func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// read fills the tree from a folder that holds what an image has at its root. Links are stored as they are written, and
// followed later, within the tree only, as for a pulled image.
func (t *tree) read(where string) error {
	root, err := os.OpenRoot(where)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	// If the folder itself were a link, the walk would follow it.
	info, err := root.Lstat(ManifestsFolder[1:])
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the kubelet mounts all of an image, or starts no container
	}
	if err == nil && !info.IsDir() {
		return t.add(ManifestsFolder, &node{kind: special})
	}
	return fs.WalkDir(root.FS(), ManifestsFolder[1:], func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n, err := t.nodeOf(root, name, e)
		if err != nil {
			return err
		}
		return t.add(path.Join("/", name), n)
	})
}

func (t *tree) nodeOf(root *os.Root, name string, e fs.DirEntry) (*node, error) {
	switch {
	case e.IsDir():
		return &node{kind: folder}, nil
	case e.Type()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		return &node{kind: link, target: target}, err
	case !e.Type().IsRegular():
		return &node{kind: special}, nil
	}
	f, info, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := t.admit(path.Join("/", name), info.Size()); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return &node{kind: file, data: data}, err
}
