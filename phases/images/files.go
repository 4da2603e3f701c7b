package images

import (
	"context"
	"path"
)

// Files pulls any image, from its source or a mirror of it, and returns what the files have that lie in one of its folders, a clean
// absolute path, by their names. Folders in it are left out; links that lead to none of its files are errors, as is an image
// without the folder. All files together, and all that are read, may have what those of a provider image may. It is tried once, as Use
// says, and is not cached.
func (p *Puller) Files(ctx context.Context, ref Ref, folder string) (map[string][]byte, error) {
	of := *p
	of.folder, of.take = folder, filed
	image, err := of.pulled(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	return image.files, nil
}

// filed is what is kept of an image for the files of a folder.
func filed(ctx context.Context, t *tree) (*Image, error) {
	root, err := t.resolve(ctx, t.folder)
	if err != nil {
		return nil, err
	}
	if root == nil || root.kind != folder {
		return nil, fail(KindContent, "it has no folder %s; check what the reference names", t.folder)
	}
	found := map[string][]byte{}
	for name := range root.children {
		at := path.Join(t.folder, name)
		n, err := t.resolve(ctx, at)
		if err != nil {
			return nil, err
		}
		if n != nil && n.kind == folder {
			continue
		}
		if found[name], err = t.content(ctx, at); err != nil {
			return nil, fail(KindContent, "reading %s: %w; rebuild the image", at, err)
		}
		// What several names share counts for each: whoever gets them does not know.
		if err := t.hold(at, int64(len(found[name]))); err != nil {
			return nil, err
		}
	}
	return &Image{files: found}, nil
}
