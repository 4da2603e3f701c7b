package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/message"
)

// RefFile is the file beside capi-operator-manifests that holds the reference of a mounted image.
const RefFile = "image-ref"

// Mounted is the Source that reads images from the sub-folders of a folder, each with the image's reference in RefFile
// and the image's folder capi-operator-manifests. It does not verify digests: whoever mounted them did.
type Mounted struct {
	*background
	dir    string
	limits limits
}

var _ Source = (*Mounted)(nil)

// NewMounted makes a source that does nothing until it is started; notify is as in Options.
func NewMounted(dir string, notify func(), clk clock.Clock, log logr.Logger) *Mounted {
	m := &Mounted{background: newBackground(notify, clk, log), dir: dir, limits: standardLimits}
	// Only another look shows that a folder was repaired.
	m.fetch, m.terminalRetry = m.load, lastRetry
	return m
}

// Warning is described at Source; a mounted source has none.
func (m *Mounted) Warning() string { return "" }

func (m *Mounted) load(ctx context.Context, ref Ref) (*Image, error) {
	where, err := m.find(ref)
	if err != nil {
		return nil, err
	}
	t := newTree(m.limits)
	if err := t.read(where); err != nil {
		if _, ok := errors.AsType[*Error](err); ok {
			return nil, err
		}
		return nil, fail(KindDisk, "reading its mounted folder: %w; check the volume %s", err, where)
	}
	profiles, err := t.profiles(ctx)
	if err != nil {
		return nil, err
	}
	return &Image{Ref: ref, Profiles: profiles}, nil
}

// find returns the sub-folder of a reference. If there are several, they have the same content, and it is the first by
// name.
func (m *Mounted) find(ref Ref) (string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return "", fail(KindDisk, "reading the folder of mounted images: %w; check that the volume is mounted there", err)
	}
	var others []string
	for _, e := range entries {
		where := filepath.Join(m.dir, e.Name())
		written, err := readStart(where, RefFile, 2*refLength)
		switch {
		case err != nil && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && !strings.HasPrefix(e.Name(), ".."):
			others = append(others, e.Name()+" (no "+RefFile+" that can be read)")
		case err != nil:
		case strings.TrimSpace(written) == string(ref):
			return where, nil
		default:
			others = append(others, e.Name())
		}
	}
	return "", fail(KindNotFound, "no sub-folder of %s has this reference in its file %s; mount the image there "+
		"(sub-folders with other content: %s)", m.dir, RefFile, message.Shorten(strings.Join(others, ", "), 160))
}

// readStart follows links within the folder only, as volumes have them.
func readStart(where, name string, most int64) (string, error) {
	root, err := os.OpenRoot(where)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	f, _, err := openRegular(root, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most))
	return string(data), err
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
		// No image that brings nothing: the volume may be filled later.
		return fmt.Errorf("it has no folder %s, or not yet (if it is no provider image, take this sub-folder and its key in the list of images out)", ManifestsFolder)
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
