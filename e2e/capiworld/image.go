package capiworld

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/e2e/providers"
)

// pushOwn pushes the image of the provider that is proved here, and returns its reference.
func (w *World) pushOwn(ctx context.Context, layout string) (reference string, err error) {
	if layout != "" {
		w.image, reference, err = providers.PushLayout(ctx, w.Registry.Host(), "providers/"+providers.OpenShiftInstall, layout)
		return reference, err
	}
	o := providers.Options{Dir: w.Cluster.Dir(), ManifestsGen: filepath.Join(w.bin, "manifests-gen")}
	profile, err := providers.Own(ctx, o, filepath.Join(filepath.Dir(w.bin), "config", "default"))
	if err != nil {
		return "", err
	}
	pushed, err := providers.Push(ctx, w.Registry.Host(), []providers.Profile{profile})
	return pushed[profile.Component], err
}

// program is the file of what a container of a Deployment runs: that of the folder of binaries, or, where the provider's image is a whole
// one, that which the container would start in it.
func (w *World) program(deployment string, of corev1.Container) (string, error) {
	if deployment != Provider || w.image == nil {
		return filepath.Join(w.bin, programs[deployment].binary), nil
	}
	command := of.Command
	if len(command) == 0 {
		config, err := w.image.ConfigFile()
		if err != nil {
			return "", fmt.Errorf("reading what the provider's image starts: %w", err)
		}
		command = config.Config.Entrypoint
	}
	if len(command) == 0 {
		return "", errors.New("neither the provider's image nor its Deployment says what is started")
	}
	to := filepath.Join(w.Cluster.Dir(), "image", filepath.Base(command[0]))
	if err := unpack(w.image, command[0], to); err != nil {
		return "", fmt.Errorf("taking %s out of the provider's image: %w", command[0], err)
	}
	return to, nil
}

// unpack writes a file of an image, with its own mode, to where a process can be started from it.
func unpack(image v1.Image, path, to string) error {
	stream := mutate.Extract(image)
	defer stream.Close()
	for archive := tar.NewReader(stream); ; {
		header, err := archive.Next()
		if err != nil {
			return err // io.EOF, too: it is not there
		}
		if strings.TrimPrefix(header.Name, "/") != strings.TrimPrefix(path, "/") {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, content, header.FileInfo().Mode().Perm())
	}
}
