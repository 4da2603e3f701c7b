// Package image writes the operator's image, or that of the provider of OpenShift clusters, as an OCI layout, with an SBOM and a provenance that refer to it. Every byte
// follows from the binaries, the payload and the commit: it knows no time and no machine.
package image

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// repository is where the source of the image is.
	repository = "https://github.com/capstan-capi/capstan"
	// binaries is the folder of binaries in the image: the operator finds what it runs beside itself.
	binaries = "/usr/bin/"
	// user is nobody's; OpenShift gives a pod one of its namespace instead.
	user = "65532:65532"
)

// Written are the digests of what was written.
type Written struct {
	Image, SBOM, Provenance v1.Hash
}

// kind is what an image is beside its programs.
type kind struct {
	// title and says are for people, at is the folder in the image of what is applied, and isPayload has a release apply it.
	title, name, says, at string
	isPayload             bool
	files                 func(folder, at string) ([]file, error)
}

var (
	operator = kind{"capstan", "Capstan", "Installs and keeps Cluster API on OpenShift clusters", "manifests", true, payloadFiles}
	provider = kind{"capstan-provider", "Capstan's provider of OpenShift clusters", "Has OpenShift clusters made through Cluster API", "capi-operator-manifests", false, profileFiles}
)

// Write makes the operator's image of programs, of which it starts the first, and of the folder that becomes /manifests, and what
// refers to it, and puts them into a folder in place of an OCI layout that is there.
func Write(payload string, programs []Program, folder string) (Written, error) {
	return operator.write(payload, programs, folder)
}

// WriteProvider is Write of a provider image, in which the folder becomes /capi-operator-manifests: it has a folder for each profile.
func WriteProvider(profiles string, programs []Program, folder string) (Written, error) {
	return provider.write(profiles, programs, folder)
}

func (k kind) write(payload string, programs []Program, folder string) (Written, error) {
	b := programs[0].Build
	made, err := k.assemble(programs, payload, b)
	if err != nil {
		return Written{}, err
	}
	subject, err := describe(made, b)
	if err != nil {
		return Written{}, err
	}
	bom, err := sbom(programs)
	if err != nil {
		return Written{}, fmt.Errorf("writing the SBOM: %w", err)
	}
	origin, err := provenance(subject.Digest, b)
	if err != nil {
		return Written{}, fmt.Errorf("writing the provenance: %w", err)
	}
	w := &writer{created: created(b), subject: subject}
	if err := w.begin(folder, made); err != nil {
		return Written{}, fmt.Errorf("writing the image to %s: %w", folder, err)
	}
	written := Written{Image: subject.Digest}
	if written.SBOM, err = w.refer("application/spdx+json", bom); err != nil {
		return Written{}, fmt.Errorf("writing the SBOM to %s: %w", folder, err)
	}
	if written.Provenance, err = w.refer("application/vnd.in-toto+json", origin); err != nil {
		return Written{}, fmt.Errorf("writing the provenance to %s: %w", folder, err)
	}
	return written, w.end(folder)
}

// assemble makes the image of programs and a payload.
func (k kind) assemble(programs []Program, payload string, b *Build) (v1.Image, error) {
	var run []file
	for _, p := range programs {
		run = append(run, file{name: p.place()[1:], mode: 0o755, content: p.Content})
	}
	program, err := layer(b.Time, run)
	if err != nil {
		return nil, fmt.Errorf("packing the binaries: %w", err)
	}
	manifests, err := k.files(payload, k.at)
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	applied, err := layer(b.Time, manifests)
	if err != nil {
		return nil, fmt.Errorf("packing the payload: %w", err)
	}
	base, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: b.OS, Architecture: b.Arch, Created: v1.Time{Time: b.Time}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{programs[0].place()}, User: user, WorkingDir: "/",
			Env: []string{"PATH=/usr/bin"}, Labels: k.labels(b),
		},
	})
	if err != nil {
		return nil, err
	}
	by := func(what string) v1.History { return v1.History{Created: v1.Time{Time: b.Time}, CreatedBy: what} }
	img, err := mutate.Append(base,
		mutate.Addendum{Layer: program, History: by("make image: " + binaries)},
		mutate.Addendum{Layer: applied, History: by("make image: /" + k.at)},
	)
	if err != nil {
		return nil, fmt.Errorf("putting the layers together: %w", err)
	}
	annotated, ok := mutate.Annotations(img, map[string]string{
		"org.opencontainers.image.created": created(b), "org.opencontainers.image.revision": b.String(),
		"org.opencontainers.image.source": repository, "org.opencontainers.image.title": k.title,
	}).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("annotating the image: it is none any more")
	}
	return annotated, nil
}

// place is where a program is in the image.
func (p Program) place() string { return binaries + p.Name }

// labels are what oc adm release reads: a release applies what is in an image with the last one.
func (k kind) labels(b *Build) map[string]string {
	all := map[string]string{
		"io.openshift.build.source-location":   repository,
		"io.openshift.build.commit.id":         b.String(),
		"io.k8s.display-name":                  k.name,
		"io.k8s.description":                   k.says,
		"org.opencontainers.image.revision":    b.String(),
		"org.opencontainers.image.source":      repository,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.description": k.says,
	}
	if k.isPayload {
		all["io.openshift.release.operator"] = "true"
	}
	return all
}

func created(b *Build) string { return b.Time.Format("2006-01-02T15:04:05Z") }

func describe(img v1.Image, b *Build) (v1.Descriptor, error) {
	digest, err := img.Digest()
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("computing the digest: %w", err)
	}
	size, err := img.Size()
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("computing the size: %w", err)
	}
	return v1.Descriptor{
		MediaType: types.OCIManifestSchema1, Digest: digest, Size: size,
		Platform: &v1.Platform{OS: b.OS, Architecture: b.Arch},
	}, nil
}
