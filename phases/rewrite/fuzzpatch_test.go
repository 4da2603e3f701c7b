package rewrite_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func FuzzJSONPatch(f *testing.F) {
	for _, text := range patchSeeds {
		f.Add(uint8(0), []byte(text))
		f.Add(uint8(1), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		class, _ := classAt(which)
		checkPatch(t, class, text)
	})
}

func checkPatch(t *testing.T, class rewrite.Class, text []byte) {
	t.Helper()
	seen, err := io.ReadAll(rewrite.NewReader(bytes.NewReader(text), rewrite.ToClient, class, "patch"))
	pieces, pieceErr := io.ReadAll(rewrite.NewReader(iotest.OneByteReader(bytes.NewReader(text)), rewrite.ToClient, class, "patch"))
	if (err == nil) != (pieceErr == nil) || err == nil && !bytes.Equal(seen, pieces) {
		t.Fatalf("%q: whole %q (%v), in pieces %q (%v)", text, seen, err, pieces, pieceErr)
	}
	if err == nil != json.Valid(text) && err == nil {
		t.Fatalf("%q passes as %q", text, seen)
	}
	if err != nil || depth(text) > deepest(rewrite.ToServer) {
		return
	}
	var before, after []any
	if json.Unmarshal(text, &before) != nil {
		return
	}
	if err := json.Unmarshal(seen, &after); err != nil || len(after) != len(before) {
		t.Fatalf("%q becomes %q: %v", text, seen, err)
	}
	for i := range before {
		one, is := before[i].(map[string]any)
		if !is {
			continue
		}
		if path, _ := one["path"].(string); one["value"] != nil {
			one["value"] = atPointer(rewrite.ToClient, class, path, one["value"])
		}
		if !reflect.DeepEqual(any(one), after[i]) {
			t.Fatalf("%s: %q becomes %q, not %v", class, text, seen, one)
		}
	}
	back, err := io.ReadAll(rewrite.NewReader(bytes.NewReader(seen), rewrite.ToServer, class, "patch"))
	if err == nil && bytes.IndexByte(text, '\\') < 0 && !bytes.Equal(back, text) {
		t.Fatalf("%q is %q for the client, and comes back as %q", text, seen, back)
	}
	if err != nil && !isRefused(err) {
		t.Fatal(err)
	}
}

// atPointer is the oracle's value at a pointer: it is rewritten as part of an object
// that has nothing else.
func atPointer(d rewrite.Direction, class rewrite.Class, pointer string, value any) any {
	path, trail, key := "", "", ""
	if pointer != "" {
		for _, token := range strings.Split(pointer, "/")[1:] {
			token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
			key = token
			inArray := strings.HasSuffix(path, ".ownerReferences") || strings.HasSuffix(path, ".managedFields")
			switch {
			case inArray && isOracleIndex(token):
				path, trail, key = path+"#", trail+"\x00#", ""
			case strings.ContainsAny(token, ".#\n"):
				path, trail = path+".strange", trail+"\x00."+strings.ReplaceAll(token, "\x00", "0")
			default:
				path, trail = path+"."+token, trail+"\x00."+strings.ReplaceAll(token, "\x00", "0")
			}
		}
	}
	return newOracle(d, class, "object").value(path, trail, key, value, nil)
}

// isOracleIndex says whether a token is what an API server takes for an index: a number that fits, or the end of the array.
func isOracleIndex(token string) bool {
	number, is := new(big.Int).SetString(token, 10)
	return token == "-" || is && number.IsInt64()
}
