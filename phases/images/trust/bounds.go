package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// annotationBytes is how much the annotations of one signature may have, evidenceBytes those of all.
	annotationBytes = 32 << 10
	evidenceBytes   = 256 << 10
	// A bundle of a log has 6 keys in 2 levels.
	bundleKeys  = 16
	bundleDepth = 8
	bundleKey   = "dev.sigstore.cosign/bundle"
)

// bounded refuses what the library takes long to judge: it works on annotations before it knows who has written them.
func (e Evidence) bounded() error {
	total := 0
	for i, s := range e.Signatures {
		size := 0
		for name, value := range s.Annotations {
			size += len(name) + len(value)
		}
		if total += size; size > annotationBytes || total > evidenceBytes {
			return refused("the annotations of its signatures have more bytes than are read, which are %d for one and %d for all (reached at signature %d); "+
				"remove some", annotationBytes, evidenceBytes, i+1)
		}
		if err := boundedBundle(s.Annotations[bundleKey]); err != nil {
			return refused("the bundle of its signature %d (annotation %s) is none of a log: %w; remove that signature", i+1, bundleKey, err)
		}
	}
	return nil
}

// boundedBundle leaves it to the library to refuse what is no JSON.
func boundedBundle(text string) error {
	tokens := json.NewDecoder(strings.NewReader(text))
	keys := 0
	for depth := 0; ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return nil //nolint:nilerr // What follows is not read either.
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			keys++
		}
		if depth > bundleDepth {
			return fmt.Errorf("it is more than %d levels deep", bundleDepth)
		}
		if keys > 2*bundleKeys {
			return fmt.Errorf("it has more than %d keys", bundleKeys)
		}
	}
}
