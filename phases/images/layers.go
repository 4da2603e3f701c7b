package images

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	whiteoutPrefix = ".wh."
	opaqueMark     = ".wh..wh..opq"
	zstdMemory     = 64 << 20
)

// unpack reads one layer into the tree as it arrives, and keeps only what lies under its folder. Layers come lowest
// first, numbered from 1. left is how many bytes may still be decompressed.
func unpack(r io.Reader, layer int, t *tree, left *int64) error {
	plain, done, err := decompress(r)
	if err != nil {
		return err
	}
	defer done()
	entries := tar.NewReader(&meter{r: plain, left: left, limit: t.limits.unpacked})
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackEntry(header, entries, layer, t)
		}
		if err != nil {
			if own, ok := errors.AsType[*Error](err); ok {
				return own
			}
			return fail(KindContent, "layer %d is not a tar archive that can be read: %w; rebuild the image", layer, err)
		}
	}
}

func unpackEntry(header *tar.Header, content io.Reader, layer int, t *tree) error {
	p := path.Clean("/" + header.Name)
	dir, base := path.Split(p)
	dir = path.Clean(dir)
	if strings.HasPrefix(base, whiteoutPrefix) {
		name := strings.TrimPrefix(base, whiteoutPrefix)
		hidden := path.Join(dir, name)
		switch {
		case t.inside(dir) && (name == "" || name == "." || name == ".."):
			return fail(KindContent, "the whiteout %s names no entry of its folder; rebuild the image", p)
		case base == opaqueMark && (dir == "/" || t.inside(dir)):
			t.opaque(dir, layer)
			return t.count(p)
		case !strings.HasPrefix(base, whiteoutPrefix+whiteoutPrefix) && t.inside(hidden):
			t.whiteout(hidden, layer)
			return t.count(p)
		}
		return nil
	}
	if !t.inside(p) {
		return nil
	}
	switch header.Typeflag {
	case tar.TypeReg:
		if err := t.admit(p, header.Size); err != nil {
			return err
		}
		data := make([]byte, header.Size)
		if _, err := io.ReadFull(content, data); err != nil {
			return err
		}
		return t.add(p, &node{kind: file, layer: layer, data: data})
	case tar.TypeDir:
		return t.add(p, &node{kind: folder, layer: layer})
	case tar.TypeSymlink:
		return t.add(p, &node{kind: link, layer: layer, target: header.Linkname})
	case tar.TypeLink:
		return t.add(p, hardLink(path.Clean("/"+header.Linkname), layer, t))
	default:
		return t.add(p, &node{kind: special, layer: layer})
	}
}

// hardLink shares the content that its target has now. A later layer that replaces the target does not change it.
func hardLink(target string, layer int, t *tree) *node {
	if t.inside(target) {
		if n := t.at(target); n != nil && n.kind != folder {
			same := *n
			same.layer = layer
			return &same
		}
	}
	return &node{kind: dangling, layer: layer, target: target}
}

// decompress looks at the first bytes rather than at the media type, which tools get wrong.
func decompress(r io.Reader) (io.Reader, func(), error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	magic, _ := buffered.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, fail(KindContent, "a layer is not gzip that can be read: %w; rebuild the image", err)
		}
		return z, func() {}, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdMemory))
		if err != nil {
			return nil, nil, fail(KindContent, "a layer is not zstd that can be read: %w; rebuild the image", err)
		}
		return z, z.Close, nil
	}
	return buffered, func() {}, nil
}

// meter stops a decompression that exceeds the limit of the image.
type meter struct {
	r     io.Reader
	left  *int64
	limit int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, fail(KindLimit, "its layers have more than the %d bytes allowed when decompressed; make the image smaller", m.limit)
	}
	return n, err
}
