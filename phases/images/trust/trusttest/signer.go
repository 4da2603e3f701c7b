// Package trusttest signs images for tests, with keys, an authority and a log that it makes itself.
package trusttest

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
	"time"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

// MIMEType is that of signatures in an attachment.
const MIMEType = "application/vnd.dev.cosign.simplesigning.v1+json"

const (
	signatureKey   = "dev.cosignproject.cosign/signature"
	certificateKey = "dev.sigstore.cosign/certificate"
	logKey         = "dev.sigstore.cosign/bundle"
)

// Key is the key of somebody who signs, or of a log.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey makes a key.
func NewKey() Key {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return Key{private}
}

// Public is the public half in PEM.
func (k Key) Public() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// Sign says that a digest is that of an image under a name, host[:port]/path without tag and digest.
func (k Key) Sign(name, digest string) trust.Signature {
	payload, err := json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]string{"docker-reference": name},
			"image":    map[string]string{"docker-manifest-digest": digest},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
	must(err)
	return trust.Signature{
		MIMEType: MIMEType, Payload: payload,
		Annotations: map[string]string{signatureKey: base64.StdEncoding.EncodeToString(k.sign(payload))},
	}
}

func (k Key) sign(data []byte) []byte {
	sum := sha256.Sum256(data)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	must(err)
	return signature
}

// Record adds to a signature that the log has it, at a time. by is the key or the certificate of who has signed, in PEM.
func (k Key) Record(s trust.Signature, by []byte, at time.Time) trust.Signature {
	sum := sha256.Sum256(s.Payload)
	entry, err := json.Marshal(map[string]any{
		"apiVersion": "0.0.1", "kind": "hashedrekord",
		"spec": map[string]any{
			"data":      map[string]any{"hash": map[string]string{"algorithm": "sha256", "value": fmt.Sprintf("%x", sum)}},
			"signature": map[string]any{"content": s.Annotations[signatureKey], "publicKey": map[string][]byte{"content": by}},
		},
	})
	must(err)
	// Go writes the keys of a map in the order that the canonical form asks for.
	payload, err := json.Marshal(map[string]any{"body": entry, "integratedTime": at.Unix(), "logID": "log", "logIndex": 1})
	must(err)
	set, err := json.Marshal(map[string]any{"SignedEntryTimestamp": k.sign(payload), "Payload": json.RawMessage(payload)})
	must(err)
	return with(s, logKey, string(set))
}

func with(s trust.Signature, key, value string) trust.Signature {
	annotations := map[string]string{key: value}
	for key, value := range s.Annotations {
		annotations[key] = value
	}
	s.Annotations = annotations
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
