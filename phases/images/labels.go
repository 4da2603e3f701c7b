package images

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1"

	"github.com/capstan-capi/capstan/message"
)

// Labels returns what any image says of itself, from its source or a mirror of it: the labels of its config, for the architecture
// of the puller. No layer is read. Policies let the image in or not, as with any other. It is tried once, as Use says, and is
// not cached.
func (p *Puller) Labels(ctx context.Context, ref Ref) (map[string]string, error) {
	of := *p
	of.labelled = true
	image, err := of.pulled(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	return image.labels, nil
}

// labelled is what is kept of an image for its labels.
func (r *repository) labelled(ctx context.Context, m *manifest) (*Image, error) {
	var d v1.Descriptor
	if err := json.Unmarshal(m.Config, &d); err != nil || d.Size < 0 || d.Digest.Hex == "" {
		return nil, fail(KindContent, "its manifest %s names no config that can be asked for; check what was pushed", m.digest)
	}
	if d.Size > manifestBytes {
		return nil, fail(KindLimit, "its config has %d bytes, more than the %d allowed; make it smaller", d.Size, manifestBytes)
	}
	answer, err := r.get(ctx, blobKind, d.Digest.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(r.verified(ctx, answer, blobKind, d.Digest, d.Size))
	if err != nil {
		return nil, err
	}
	var config v1.ConfigFile
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, fail(KindContent, "its config %s cannot be read: it is no JSON of one; check what was pushed", d.Digest)
	}
	return &Image{labels: config.Config.Labels}, nil
}

// Tagged returns the reference by digest that a reference by tag, host[:port]/path:tag, stands for now. The source alone is asked,
// since mirrors are for digests; it has to be allowed, as with any other image. It is tried once, as Use says.
func (p *Puller) Tagged(ctx context.Context, tagged string) (Ref, error) {
	tag := tagForm.FindString(tagged[strings.LastIndex(tagged, "/")+1:])
	if _, err := name.NewTag(tagged, name.StrictValidation); err != nil || tag == "" {
		return "", fail(KindReference, "image reference %q is not by tag; write it as host[:port]/path:tag, or as %s", message.Shorten(tagged, 160), refForm)
	}
	repository := strings.TrimSuffix(tagged, tag)
	// Whether a place may be asked follows from its name alone.
	anyOfIt, err := ParseRef(repository + "@sha256:" + strings.Repeat("0", 64))
	if err != nil {
		return "", err
	}
	access, credentials, carriers := p.access.now()
	places, excluded, refusal := access.allowed(anyOfIt)
	if refusal != nil {
		return "", refusal
	}
	if excluded || len(places) == 0 || places[len(places)-1] != anyOfIt {
		return "", fail(KindPolicy, "the source of %s may not be asked, and its mirrors are for digests only; name the image by digest", message.Shorten(tagged, 160))
	}
	digest, err := p.digestOf(ctx, anyOfIt, tag[1:], p.registries.with(credentials, carriers.to(anyOfIt.Host())))
	if err != nil {
		if own, is := errors.AsType[*Error](err); is {
			return "", fail(own.Kind, "image %s: %w", message.Shorten(tagged, 160), own.Err)
		}
		return "", fail(KindRegistry, "image %s: %w", message.Shorten(tagged, 160), err)
	}
	return ParseRef(repository + "@" + digest)
}

func (p *Puller) digestOf(ctx context.Context, place Ref, tag string, registries *registries) (string, error) {
	ctx, activity, end := watchActivity(ctx, p.clock, alone(p.crowded))
	defer end()
	repo, err := registries.open(ctx, place, activity)
	if err != nil {
		return "", err
	}
	answer, err := repo.get(ctx, manifestKind, tag)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(answer.Body, manifestBytes+1))
	if err != nil {
		return "", failure(ctx, repo.host, manifestKind+" "+tag, &sentError{err})
	}
	if len(data) > manifestBytes {
		return "", fail(KindLimit, "its manifest has more than the %d bytes allowed; check what was pushed", manifestBytes)
	}
	// Its bytes are what it is called by from now on, whatever the registry says of them.
	digest, _, err := v1.SHA256(strings.NewReader(string(data)))
	if err != nil {
		return "", err
	}
	if _, err := parseManifest(digest.String(), data); err != nil {
		return "", err
	}
	return digest.String(), nil
}
