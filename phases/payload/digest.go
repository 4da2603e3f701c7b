package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Digest is the same for inputs that mean the same, in whatever order and form they were given: sha256 in 64 hex digits.
func (in *Inputs) Digest() (string, error) {
	var state any
	if in.State != nil {
		if err := json.Unmarshal(in.State, &state); err != nil {
			return "", fmt.Errorf("reading the installer's state for the digest of the inputs: it is no JSON")
		}
	}
	files, err := Files(in.Manifests)
	if err != nil {
		return "", err
	}
	// Maps are written with their keys sorted.
	text, err := json.Marshal(map[string]any{"config": in.Raw, "state": state, "manifests": files})
	if err != nil {
		return "", fmt.Errorf("writing the inputs for their digest: they are no JSON")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
