//go:build goexperiment.jsonv2

package rewrite_test

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// What the scanner is instead of: `GOEXPERIMENT=jsonv2 go test -vet=off -bench JSONText`.
// It reads the same event by encoding/json/jsontext, raw token by raw token, and
// does no more with it than to write it: keys are looked at, no place is known.
func BenchmarkJSONText(b *testing.B) {
	event := []byte(`{"type":"MODIFIED","object":` + machine("m") + "}\n")
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)}
	reader := bytes.NewReader(event)
	decoder := jsontext.NewDecoder(reader, options...)
	encoder := jsontext.NewEncoder(io.Discard, options...)
	perSecond(b, len(event))
	for range b.N {
		reader.Reset(event)
		decoder.Reset(reader, options...)
		encoder.Reset(io.Discard, options...)
		for {
			token, err := decoder.ReadToken()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if token.Kind() == '"' && token.String() == rewrite.Private {
				token = jsontext.String(rewrite.Standard)
			}
			if err := encoder.WriteToken(token); err != nil {
				b.Fatal(err)
			}
		}
	}
}
