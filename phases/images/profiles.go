package images

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The same expression and length as for the field profile of github.com/openshift/api's ClusterAPI.
var profileForm = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,255}$`)

// profiled is what is kept of a provider image.
func profiled(ctx context.Context, t *tree) (*Image, error) {
	profiles, err := t.profiles(ctx)
	return &Image{Profiles: profiles}, err
}

// profiles returns the profiles of a complete tree, none for one without the folder, or an error that names every
// incomplete one.
func (t *tree) profiles(ctx context.Context) ([]Profile, error) {
	root := t.at(ManifestsFolder)
	if root == nil {
		return []Profile{}, nil // not nil, which stands for an image that is not at hand
	}
	if root.kind != folder {
		return nil, fail(KindContent, "%s is not a folder; make it one, with a folder per profile", ManifestsFolder)
	}
	var found []Profile
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(root.children)) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		profile, err := t.profile(ctx, name)
		if err != nil {
			problems = append(problems, err.Error())
		} else if profile != nil {
			found = append(found, *profile)
		}
	}
	if len(problems) > 0 {
		return nil, fail(KindContent, "%s; rebuild the image", strings.Join(problems, "; "))
	}
	if len(found) == 0 {
		return nil, fail(KindContent, "it has %s but no profile in it: a profile is a folder with %s and %s; rebuild the image",
			ManifestsFolder, MetadataFile, ManifestsFile)
	}
	return found, nil
}

// profile returns nil for what is not a profile: no folder, or a folder with neither file.
func (t *tree) profile(ctx context.Context, name string) (*Profile, error) {
	where := path.Join(ManifestsFolder, name)
	dir, err := t.resolve(ctx, where)
	if err != nil || dir == nil || dir.kind != folder {
		return nil, err
	}
	hasMetadata, hasManifests := dir.children[MetadataFile] != nil, dir.children[ManifestsFile] != nil
	switch {
	case !hasMetadata && !hasManifests:
		return nil, nil
	case !hasMetadata:
		return nil, fmt.Errorf("profile %s has %s but no %s", where, ManifestsFile, MetadataFile)
	case !hasManifests:
		return nil, fmt.Errorf("profile %s has %s but no %s", where, MetadataFile, ManifestsFile)
	case !profileForm.MatchString(name):
		return nil, fmt.Errorf("profile folder %q must be named with letters, digits, - and _ only, at most 255 of them", where)
	}
	metadata, err := t.content(ctx, path.Join(where, MetadataFile))
	if err != nil {
		return nil, err
	}
	manifests, err := t.content(ctx, path.Join(where, ManifestsFile))
	if err != nil {
		return nil, err
	}
	return &Profile{Name: name, Metadata: metadata, Manifests: manifests}, nil
}

func (t *tree) content(ctx context.Context, p string) ([]byte, error) {
	n, err := t.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	switch {
	case n == nil:
		return nil, fmt.Errorf("link %s leads to nothing that the image has", p)
	case n.kind == folder:
		return nil, fmt.Errorf("%s is a folder, not a file", p)
	case n.kind == dangling:
		return nil, fmt.Errorf("hard link %s leads to %s, but no earlier entry of the image under %s has that path", p, n.target, t.folder)
	case n.kind != file:
		return nil, fmt.Errorf("%s is a device, pipe or socket, not a file", p)
	}
	return n.data, nil
}
