package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.podman.io/image/v5/directory"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/image"
	"go.podman.io/image/v5/signature"
	"go.podman.io/image/v5/types"

	"github.com/capstan-capi/capstan/message"
)

// Evidence is what an image is judged by. Its digests must have been verified.
type Evidence struct {
	// Manifest is that of the image for the platform, never a list of manifests.
	Manifest   []byte      `json:"manifest"`
	Signatures []Signature `json:"signatures"`
}

// Signature is one layer of the image's attachment.
type Signature struct {
	MIMEType    string            `json:"mimeType"`
	Payload     []byte            `json:"payload"`
	Annotations map[string]string `json:"annotations"`
}

const (
	manifestFile = "manifest.json"
	// signatureHead marks a signature of sigstore among those in a folder.
	signatureHead = "\x00sigstore-json\n"
)

// Judge returns a *RefusedError for an image that the rule does not let in, and another error if it could not be asked.
// Of the transports of the library that hand signatures of sigstore on, one reads a folder: an empty one, which the
// caller removes.
func (r *Rule) Judge(ctx context.Context, folder string, e Evidence) (err error) {
	if err := e.bounded(); err != nil {
		return err
	}
	policy := &signature.Policy{}
	for _, p := range r.policies {
		asked, err := requirement(p.Asks)
		if err != nil {
			return refused("%s cannot be evaluated: %w; correct that policy", p.From, err)
		}
		policy.Default = append(policy.Default, asked)
	}
	judge, err := signature.NewPolicyContext(policy)
	if err != nil {
		return fmt.Errorf("reading %s: %w", r, err)
	}
	defer func() { err = errors.Join(err, judge.Destroy()) }()
	if err := e.write(folder); err != nil {
		return err
	}
	source, err := open(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	unparsed := image.UnparsedInstanceWithReference(image.UnparsedInstance(source, nil), pulled{r.image})
	if allowed, err := judge.IsRunningImageAllowed(ctx, unparsed); !allowed {
		return r.refusal(e, err)
	}
	return nil
}

func (r *Rule) refusal(e Evidence, err error) error {
	if len(e.Signatures) == 0 {
		return refused("%s asks for a signature, and none is attached to it; attach one by its tag (bundles by referrer are not read), or change that policy", r)
	}
	// Names and annotations are quoted, and whoever writes to the registry writes them.
	return refused("%s does not let it in: %s; sign it as that policy asks, or change the policy", r, message.Shorten(err.Error(), 1<<10))
}

// write lays the evidence out as the transport wants it.
func (e Evidence) write(folder string) error {
	if err := os.WriteFile(filepath.Join(folder, manifestFile), e.Manifest, 0o600); err != nil {
		return err
	}
	for i, s := range e.Signatures {
		content, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("writing signature %d: %w", i+1, err)
		}
		file := filepath.Join(folder, fmt.Sprintf("signature-%d", i+1))
		if err := os.WriteFile(file, append([]byte(signatureHead), content...), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func open(ctx context.Context, folder string) (types.ImageSource, error) {
	reference, err := directory.NewReference(folder)
	if err != nil {
		return nil, err
	}
	return reference.NewImageSource(ctx, nil)
}

// pulled is the name that an image was asked for by, which is what signatures and policies speak of: wherever it came
// from. Nothing can be opened by it.
type pulled struct{ named reference.Named }

var _ types.ImageReference = pulled{}

var errName = errors.New("it is a name only")

func (p pulled) Transport() types.ImageTransport                         { return docker{} }
func (p pulled) StringWithinTransport() string                           { return "//" + p.named.String() }
func (p pulled) DockerReference() reference.Named                        { return p.named }
func (p pulled) PolicyConfigurationIdentity() string                     { return "" }
func (p pulled) PolicyConfigurationNamespaces() []string                 { return nil }
func (p pulled) DeleteImage(context.Context, *types.SystemContext) error { return errName }

func (p pulled) NewImage(context.Context, *types.SystemContext) (types.ImageCloser, error) {
	return nil, errName
}

func (p pulled) NewImageSource(context.Context, *types.SystemContext) (types.ImageSource, error) {
	return nil, errName
}

func (p pulled) NewImageDestination(context.Context, *types.SystemContext) (types.ImageDestination, error) {
	return nil, errName
}

// docker names the transport of registries.
type docker struct{}

func (docker) Name() string                                        { return "docker" }
func (docker) ParseReference(string) (types.ImageReference, error) { return nil, errName }
func (docker) ValidatePolicyConfigurationScope(string) error       { return errName }
