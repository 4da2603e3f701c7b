package images

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

const (
	// signaturesMost is how many signatures an image may have, signatureBytes how large each may be, attachmentBytes how
	// large the manifest that names them.
	signaturesMost  = 64
	signatureBytes  = 64 << 10
	attachmentBytes = 512 << 10
)

// evidence returns a manifest with the signatures that are attached to it in its repository, if any: an image whose tag
// is made of the digest, with a layer for each.
func (r *repository) evidence(ctx context.Context, of *manifest) (*trust.Evidence, error) {
	found := &trust.Evidence{Manifest: of.text}
	tag := strings.Replace(of.digest, ":", "-", 1) + ".sig"
	attached, err := r.attachment(ctx, tag)
	if err != nil || attached == nil {
		return found, err
	}
	for _, layer := range attached.Layers {
		payload, err := r.signature(ctx, tag, layer)
		if err != nil {
			return nil, err
		}
		found.Signatures = append(found.Signatures, trust.Signature{MIMEType: string(layer.MediaType), Payload: payload, Annotations: layer.Annotations})
	}
	return found, nil
}

// attachment returns nil for a tag that is not there.
func (r *repository) attachment(ctx context.Context, tag string) (*manifest, error) {
	answer, err := r.get(ctx, manifestKind, tag)
	if failure, is := errors.AsType[*Error](err); is && failure.Kind == KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(&heard{io.LimitReader(answer.Body, attachmentBytes+1), r.activity})
	if err != nil {
		return nil, failure(ctx, r.host, manifestKind+" "+tag, &sentError{err})
	}
	return parseAttachment(tag, data)
}

func parseAttachment(tag string, data []byte) (*manifest, error) {
	if len(data) > attachmentBytes {
		return nil, fail(KindPolicy, "its attachment %s has more than the %d bytes that are read; repair it", tag, attachmentBytes)
	}
	attached, err := parseManifest(tag, data)
	if err != nil {
		return nil, mayChange(tag, err)
	}
	if attached.Manifests != nil {
		return nil, fail(KindPolicy, "its attachment %s is a list of manifests, not signatures; repair it", tag)
	}
	if len(attached.Layers) > signaturesMost {
		return nil, fail(KindPolicy, "its attachment %s has %d signatures, more than the %d that are read; remove some", tag, len(attached.Layers), signaturesMost)
	}
	for _, layer := range attached.Layers {
		if layer.Size < 0 || layer.Size > signatureBytes {
			return nil, fail(KindPolicy, "its attachment %s has a signature of %d bytes, and from 0 to %d are read; remove it", tag, layer.Size, signatureBytes)
		}
	}
	return attached, nil
}

func (r *repository) signature(ctx context.Context, tag string, layer v1.Descriptor) ([]byte, error) {
	answer, err := r.get(ctx, blobKind, layer.Digest.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	payload, err := io.ReadAll(r.verified(ctx, answer, blobKind, layer.Digest, layer.Size))
	if err != nil {
		return nil, mayChange(tag, err)
	}
	return payload, nil
}

// mayChange keeps what is wrong with an attachment from being final: a tag may lead to something else tomorrow.
func mayChange(tag string, err error) error {
	if failure, is := errors.AsType[*Error](err); is && failure.Terminal() {
		return fail(KindPolicy, "its attachment %s cannot be used: %w", tag, failure.Err)
	}
	return err
}

// heard counts what is read as heard from the registry.
type heard struct {
	io.Reader
	activity *activity
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.activity.seen(n)
	return n, err
}
