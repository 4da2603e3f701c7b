package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// refFile is the file beside capi-operator-manifests in which a folder says which image it stands for.
const refFile = "image-ref"

// sources are the provider images that a command works on.
type sources struct {
	images, dirs []string
	insecure     []string
	clear        bool
	credentials  string
	extraCAs     string
	cacheDir     string

	// sets are those of the images that stand for a set: of what manifests of a provider it has, or else, if it is the image of a
	// release, of what that lists. asRelease is how such an image is read.
	sets      []images.Ref
	asRelease func(images.Ref) *phases.Payload

	// folders maps each reference that was made up to the folder it stands for.
	folders map[string]string
}

// credentialFiles returns where container tools keep credentials; the first file that exists is used.
func credentialFiles() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	files := []string{os.Getenv("REGISTRY_AUTH_FILE")}
	// Without it the path would be one in the working directory, which may be anybody's checkout.
	if runtimeDir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtimeDir) {
		files = append(files, filepath.Join(runtimeDir, "containers", "auth.json"))
	}
	return append(files, filepath.Join(home, ".docker", "config.json"))
}

// registryFlags adds the flags that all commands that pull images have.
func (s *sources) registryFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.insecure, "insecure-registry", nil, "`host[:port]` of a registry to speak plain HTTP with if it does not speak TLS; loopback addresses need no flag (repeatable)")
	flags.BoolVar(&s.clear, "insecure-credentials", false, "send credentials without TLS too, to the registries of --insecure-registry")
	flags.StringVar(&s.credentials, "registry-config", "", "`file` with credentials in the form of a pull secret; without it REGISTRY_AUTH_FILE, then the file of podman, then that of docker")
	flags.StringVar(&s.extraCAs, "extra-ca-file", "", "PEM `file` of certificates to trust besides the system's")
}

// access reads the credentials. A missing file is an error only if it was named by a flag.
func (s *sources) access() (images.Access, error) {
	candidates := []string{s.credentials}
	if s.credentials == "" {
		candidates = credentialFiles()
	}
	for _, file := range candidates {
		data, err := os.ReadFile(file)
		if err == nil {
			return images.Access{Credentials: []images.Document{{From: "file " + file, Data: data}}}, nil
		}
		if s.credentials != "" || !errors.Is(err, os.ErrNotExist) {
			return images.Access{}, fmt.Errorf("reading credentials for registries: %w", err)
		}
	}
	return images.Access{}, nil
}

// load returns the profiles of all images and folders, and a problem for each that cannot be read.
func (s *sources) load(ctx context.Context) ([]render.Profile, []render.Problem) {
	s.folders = map[string]string{}
	profiles, problems := s.pull(ctx)
	for _, dir := range s.dirs {
		found, wrong := s.read(dir)
		profiles, problems = append(profiles, found...), append(problems, wrong...)
	}
	return profiles, problems
}

// pull fetches all images at the same time, and tries each once.
func (s *sources) pull(ctx context.Context) ([]render.Profile, []render.Problem) {
	refs, problems := s.refs()
	if len(refs) == 0 {
		return nil, problems
	}
	access, err := s.access()
	if err != nil {
		return nil, append(problems, render.Problem{Cause: err.Error()})
	}
	p := s.fetching(ctx, access)
	defer p.stop()
	p.fetch(ctx, refs)
	if more, wrong := s.unfold(ctx, p.Puller, refs); more != nil || wrong != nil {
		refs, problems = more, append(problems, wrong...)
		p.fetch(ctx, refs)
	}
	profiles, broken := pulled(ctx, p, refs)
	if warning := p.Warning(); warning != "" && len(broken) > 0 {
		broken = append(broken, render.Problem{Cause: warning})
	}
	return profiles, append(problems, broken...)
}

// fetching is a puller that runs until it is stopped.
type fetching struct {
	*images.Puller
	changed chan struct{}
	stop    func()
}

func (s *sources) fetching(ctx context.Context, access images.Access) *fetching {
	ctx, cancel := context.WithCancel(ctx)
	p, ended := &fetching{changed: make(chan struct{}, 1)}, make(chan struct{})
	p.Puller = images.NewPuller(images.Options{
		CacheDir: s.cacheDir, InsecureRegistries: s.insecure, InsecureCredentials: s.clear, ExtraCAFile: s.extraCAs, Log: logr.Discard(),
		Notify: func() {
			select {
			case p.changed <- struct{}{}:
			default:
			}
		},
	})
	p.Use(access)
	go func() {
		defer close(ended)
		// It returns an error only for the end of the context.
		_ = p.Start(ctx)
	}()
	p.stop = func() {
		cancel()
		<-ended
	}
	return p
}

// fetch returns when each of the images was tried.
func (p *fetching) fetch(ctx context.Context, refs []images.Ref) {
	p.Want(refs)
	for !settled(p, refs) && ctx.Err() == nil {
		select {
		case <-p.changed:
		case <-ctx.Done():
		}
	}
}

// refs are the images that are asked for, each once.
func (s *sources) refs() (refs []images.Ref, problems []render.Problem) {
	for _, text := range s.images {
		ref, err := images.ParseRef(text)
		if err != nil {
			problems = append(problems, render.Problem{Cause: err.Error()})
		} else if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs, problems
}

// pulled are the profiles of the images that are ready, and what is wrong with the others.
func pulled(ctx context.Context, puller images.Source, refs []images.Ref) (profiles []render.Profile, problems []render.Problem) {
	for _, ref := range refs {
		if state := puller.State(ref); state.Phase == images.Ready {
			if len(state.Image.Profiles) == 0 {
				problems = append(problems, render.Problem{Image: string(ref), Cause: "it has no folder " + images.ManifestsFolder +
					", so a cluster ignores it; check the reference, or rebuild the image with its profiles there"})
			}
			for _, p := range state.Image.Profiles {
				profiles = append(profiles, render.Profile{Image: string(ref), Name: p.Name, Metadata: p.Metadata, Manifests: p.Manifests})
			}
		} else {
			problems = append(problems, render.Problem{Image: string(ref), Cause: cause(ctx, state.Err)})
		}
	}
	return profiles, problems
}

// settled reports whether every image is ready or has failed once.
func settled(source images.Source, refs []images.Ref) bool {
	return !slices.ContainsFunc(refs, func(ref images.Ref) bool {
		state := source.State(ref)
		return state.Phase != images.Ready && state.Err == nil
	})
}

func cause(ctx context.Context, err error) string {
	if imageErr, ok := errors.AsType[*images.Error](err); ok {
		return imageErr.Err.Error() // the problem names the image
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return fmt.Sprintf("fetching it: %v", err)
}

// read returns the profiles of a folder that is laid out as an image is, or as
// manifests-gen writes it: with the folders of the profiles directly in it.
func (s *sources) read(dir string) ([]render.Profile, []render.Problem) {
	fail := func(format string, args ...any) []render.Problem {
		return []render.Problem{{Image: dir, Cause: fmt.Sprintf(format, args...)}}
	}
	root := dir
	if info, err := os.Stat(filepath.Join(dir, images.ManifestsFolder)); err == nil && info.IsDir() {
		root = filepath.Join(dir, images.ManifestsFolder)
	}
	entries, err := os.ReadDir(root)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fail("there is no such folder; an image is named by its digest, as host[:port]/path@sha256:<64 hex digits>")
	case err != nil:
		return nil, fail("reading the folder of an image: %v", err)
	}
	var profiles []render.Profile
	var problems []render.Problem
	for _, entry := range entries {
		profile, err := readProfile(root, entry.Name())
		switch {
		case err != nil:
			problems = append(problems, fail("%v", err)...)
		case profile != nil:
			profiles = append(profiles, *profile)
		}
	}
	if len(profiles) == 0 && len(problems) == 0 {
		return nil, fail("it has no profile: a profile is a folder with %s and %s; name the folder that has %s or the folders of profiles in it",
			images.MetadataFile, images.ManifestsFile, images.ManifestsFolder[1:])
	}
	ref, err := s.reference(dir, profiles)
	if err != nil {
		return nil, append(problems, fail("%v", err)...)
	}
	for i := range profiles {
		profiles[i].Image = ref
	}
	return profiles, problems
}

// readProfile returns nil for what is not a profile.
func readProfile(root, name string) (*render.Profile, error) {
	profile := &render.Profile{Name: name}
	missing := []string{}
	for file, content := range map[string]*[]byte{images.MetadataFile: &profile.Metadata, images.ManifestsFile: &profile.Manifests} {
		var err error
		*content, err = os.ReadFile(filepath.Join(root, name, file))
		switch {
		case errors.Is(err, os.ErrNotExist) || isFile(filepath.Join(root, name)):
			missing = append(missing, file)
		case err != nil:
			return nil, fmt.Errorf("reading profile %s: %w", name, err)
		}
	}
	switch len(missing) {
	case 0:
		return profile, nil
	case 1:
		return nil, fmt.Errorf("profile %s has no %s: a profile has both %s and %s", name, missing[0], images.MetadataFile, images.ManifestsFile)
	}
	return nil, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// reference returns the content of the file image-ref beside the profiles.
// Without that file it makes a reference from the folder's name and content, so
// that the same folder has the same one everywhere.
func (s *sources) reference(dir string, profiles []render.Profile) (string, error) {
	written, err := os.ReadFile(filepath.Join(dir, refFile))
	if err == nil {
		ref, err := images.ParseRef(strings.TrimSpace(string(written)))
		if err != nil {
			return "", fmt.Errorf("its file %s: %w", refFile, err)
		}
		return string(ref), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading its reference: %w", err)
	}
	hash := sha256.New()
	for _, p := range profiles {
		fmt.Fprintf(hash, "%q %q %q\n", p.Name, p.Metadata, p.Manifests)
	}
	ref := fmt.Sprintf("localhost/%s@sha256:%x", repository(dir), hash.Sum(nil))
	s.folders[ref] = dir
	return ref, nil
}

var notInRepository = regexp.MustCompile(`[^a-z0-9]+`)

// repository turns the name of a folder into a valid name of a repository.
func repository(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	name := strings.Trim(notInRepository.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "folder"
	}
	return name
}

// named replaces references that were made up by their folders, which are what
// the reader knows.
func (s *sources) named(problem render.Problem) render.Problem {
	for ref, dir := range s.folders {
		problem.Image = strings.ReplaceAll(problem.Image, ref, dir)
		problem.Cause = strings.ReplaceAll(problem.Cause, ref, dir)
	}
	return problem
}
