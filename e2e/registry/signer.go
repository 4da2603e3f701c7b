package registry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
)

// Signer signs images as cosign does with a key: it attaches the signature to
// the image by a tag.
type Signer struct {
	// Public is the public half of its key in PEM.
	Public []byte

	key *ecdsa.PrivateKey
}

// NewSigner makes a key.
func NewSigner() (*Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return &Signer{Public: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), key: key}, nil
}

// Sign signs an image, by digest, as what it is called, and replaces the
// signatures that it has.
func (s *Signer) Sign(reference string) error {
	image, err := name.NewDigest(reference)
	if err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{"critical": map[string]any{
		"identity": map[string]string{"docker-reference": image.Context().Name()},
		"image":    map[string]string{"docker-manifest-digest": image.DigestStr()},
		"type":     "cosign container image signature",
	}, "optional": nil})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, s.key, sum[:])
	if err != nil {
		return err
	}
	const kind = "application/vnd.dev.cosign.simplesigning.v1+json"
	attached, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer: static.NewLayer(payload, kind), MediaType: kind,
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	})
	if err != nil {
		return err
	}
	tag := image.Context().Tag(strings.Replace(image.DigestStr(), ":", "-", 1) + ".sig")
	if err := remote.Write(tag, attached); err != nil {
		return fmt.Errorf("attaching a signature to %s: %w", reference, err)
	}
	return nil
}
