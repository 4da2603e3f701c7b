package rewrite_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

var shapes = []string{"object", "list", "watch"}

// classAt is one of the classes of objects, and a shape.
func classAt(n uint8) (rewrite.Class, string) {
	first, last := int(rewrite.MappedKinds), int(rewrite.Autoscalers)
	return rewrite.Class(first + int(n)%(last-first+1)), shapes[int(n/16)%len(shapes)]
}

// isRefused says whether text is refused for the group that it addresses.
func isRefused(err error) bool {
	var refused *rewrite.Error
	return errors.As(err, &refused) && strings.Contains(refused.Text, "cannot be addressed")
}

// deepest is how deep a body may be.
func deepest(d rewrite.Direction) int {
	if d == rewrite.ToServer {
		return 1000
	}
	return 10_000
}

// checkTurn rewrites one text, also in small pieces, and compares with the oracle
// that decodes.
func checkTurn(t *testing.T, d rewrite.Direction, class rewrite.Class, shape string, text []byte) (out []byte, fine bool) {
	t.Helper()
	out, err := io.ReadAll(rewrite.NewReader(bytes.NewReader(text), d, class, shape))
	pieces, pieceErr := io.ReadAll(rewrite.NewReader(iotest.OneByteReader(bytes.NewReader(text)), d, class, shape))
	if !bytes.Equal(out, pieces) || (err == nil) != (pieceErr == nil) {
		t.Fatalf("%s %s %s of %q: whole %q (%v), in pieces %q (%v)", class, shape, d, text, out, err, pieces, pieceErr)
	}
	before, invalid := decodeAll(text)
	if invalid == nil && shape != "watch" && len(before) != 1 {
		invalid = errors.New("not one document")
	}
	switch {
	case isRefused(err):
		return nil, false
	case (err != nil) != (invalid != nil || depth(text) > deepest(d)):
		t.Fatalf("%s %s %s of %q: %v, but %v", class, shape, d, text, err, invalid)
	case err != nil:
		return nil, false
	}
	// What says that it is a Status or a Table, first or last, is not what the class says.
	if d == rewrite.ToClient && saysOneOf(text, "Status", "Table") {
		return nil, false
	}
	after, err := decodeAll(out)
	if err != nil {
		t.Fatalf("%s %s %s of %q is no JSON: %q", class, shape, d, text, out)
	}
	for i, value := range before {
		want := newOracle(d, class, shape).value("", "", "", value, nil)
		if !reflect.DeepEqual(want, after[i]) {
			t.Fatalf("%s %s %s of %q: %q, not %v", class, shape, d, text, out, want)
		}
	}
	return out, true
}

// saysOneOf says whether a text has one of some words as a key or a string, also where a later member of the same key takes its place.
func saysOneOf(text []byte, words ...string) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if said, is := token.(string); is && slices.Contains(words, said) {
			return true
		}
	}
}

func checkLaw(t *testing.T, class rewrite.Class, shape string, text []byte) {
	t.Helper()
	checkTurn(t, rewrite.ToServer, class, shape, text)
	seen, fine := checkTurn(t, rewrite.ToClient, class, shape, text)
	if !fine || depth(seen) > deepest(rewrite.ToServer) {
		return
	}
	back, err := io.ReadAll(rewrite.NewReader(bytes.NewReader(seen), rewrite.ToServer, class, shape))
	if isRefused(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	// How a group was escaped is lost; what it says is not.
	if bytes.IndexByte(text, '\\') < 0 {
		if !bytes.Equal(back, text) {
			t.Fatalf("%s %s: %q is %q for the client, and comes back as %q", class, shape, text, seen, back)
		}
		return
	}
	one, _ := decodeAll(text)
	two, _ := decodeAll(back)
	if !reflect.DeepEqual(one, two) {
		t.Fatalf("%s %s: %q is %q for the client, and comes back as %q", class, shape, text, seen, back)
	}
}

func FuzzJSON(f *testing.F) {
	for class := range uint8(10) {
		for _, text := range seeds {
			for shape := range uint8(3) {
				f.Add(shape*16+class, []byte(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		class, shape := classAt(which)
		checkLaw(t, class, shape, text)
	})
}

func FuzzYAML(f *testing.F) {
	for _, text := range yamlSeeds {
		f.Add([]byte(text))
	}
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkYAML(t, "application/yaml", text)
		checkYAML(t, "application/apply-patch+yaml", text)
	})
}

func checkYAML(t *testing.T, media string, text []byte) {
	t.Helper()
	request, err := rewrite.ParseRequest(http.MethodPatch, &url.URL{Path: "/apis/" + rewrite.Standard + "/v1beta2/namespaces/a/machines/m"})
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := request.Body(media, bytes.NewReader(text), boundless)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(body)
	if err != nil {
		return
	}
	after, err := decodeAll(out)
	if err != nil || len(after) != 1 {
		t.Fatalf("%q becomes %q: %v", text, out, err)
	}
	plain := text
	if media == "application/yaml" || !json.Valid(text) || !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		if plain, err = yaml.YAMLToJSONStrict(text); err != nil {
			t.Fatalf("%q passes as %q: %v", text, out, err)
		}
	}
	before, err := decodeAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	want := newOracle(rewrite.ToServer, rewrite.MappedKinds, "object").value("", "", "", before[0], nil)
	if !reflect.DeepEqual(want, after[0]) {
		t.Fatalf("%q becomes %q, not %v", text, out, want)
	}
}

func FuzzMessage(f *testing.F) {
	for _, text := range messageSeeds {
		f.Add(text)
	}
	f.Fuzz(checkMessage)
}

func checkMessage(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		return
	}
	want := oracleMessage(text)
	if got := rewrite.Message(text); got != want {
		t.Fatalf("%q becomes %q, not %q", text, got, want)
	}
	plain, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	escaped := strings.NewReplacer(".", `\u002e`, "h", `\u0068`).Replace(string(plain))
	if strings.Contains(string(plain), `\`) {
		escaped = string(plain)
	}
	for _, written := range []string{string(plain), escaped} {
		for _, chunked := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			status := `{"kind":"Status","apiVersion":"v1","message":` + written + `}`
			out, err := io.ReadAll(chunked(rewrite.NewReader(chunked(strings.NewReader(status)), rewrite.ToClient, rewrite.OtherKinds, "object")))
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Message string }
			if err := json.Unmarshal(out, &got); err != nil || got.Message != want {
				t.Fatalf("%s becomes %s, not %q: %v", status, out, want, err)
			}
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, target := range pathSeeds {
		f.Add(http.MethodGet, target)
	}
	f.Fuzz(func(t *testing.T, method, target string) { checkPath(t, method, target) })
}

// checkPath compares what was understood of a path with what the server makes of
// what is sent.
func checkPath(t *testing.T, method, target string) {
	t.Helper()
	asked, err := url.ParseRequestURI(target)
	if err != nil || asked.Host != "" || asked.Opaque != "" || asked.Scheme != "" {
		return
	}
	parsed, err := rewrite.ParseRequest(method, asked)
	if err != nil {
		return
	}
	sent, err := url.ParseRequestURI(parsed.URL.RequestURI())
	if err != nil {
		t.Fatalf("%q is sent as %q: %v", target, parsed.URL.RequestURI(), err)
	}
	factory := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	server, err := factory.NewRequestInfo(&http.Request{Method: method, URL: sent})
	if err != nil {
		t.Fatalf("%q is sent as %q: %v", target, parsed.URL.RequestURI(), err)
	}
	want := *parsed.Info
	want.APIGroup, _ = rewrite.ToServer.Group(want.APIGroup)
	if server.APIGroup != want.APIGroup || server.APIVersion != want.APIVersion || server.Verb != want.Verb || server.Resource != want.Resource ||
		server.Subresource != want.Subresource || server.Namespace != want.Namespace || server.IsResourceRequest != want.IsResourceRequest {
		t.Fatalf("%q is sent as %q: %+v, not %+v", target, parsed.URL.RequestURI(), server, want)
	}
	if parsed.Class != rewrite.Definitions && server.Name != want.Name {
		t.Fatalf("%q is sent as %q: %+v, not %+v", target, parsed.URL.RequestURI(), server, want)
	}
	if server.APIGroup == rewrite.Standard || server.APIGroup == rewrite.Native {
		t.Fatalf("%q leads to the platform's own group: %q", target, parsed.URL.RequestURI())
	}
}
