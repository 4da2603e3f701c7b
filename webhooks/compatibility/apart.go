package compatibility

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// objects are those of a review: the one that is written, and the one that is stored; either may be missing.
type objects struct{ written, stored []byte }

type objectsKey struct{}

// apart has the next handler decode a review without its objects, which [objects.into] gives back to the request. Its decoder
// would go over them five times, and nearly all of a review are they.
func apart(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the request does not come to its end", http.StatusRequestTimeout)
			return
		}
		rest, taken := split(body)
		r = r.WithContext(context.WithValue(r.Context(), objectsKey{}, taken))
		r.Body = io.NopCloser(bytes.NewReader(rest))
		next.ServeHTTP(w, r)
	})
}

// into gives the objects of a review back.
func (o objects) into(request *admission.Request) {
	if o.written != nil {
		request.Object.Raw = o.written
	}
	if o.stored != nil {
		request.OldObject.Raw = o.stored
	}
}

// maxDepth is how many maps and lists may be inside each other, as many as the decoder of reviews takes.
const maxDepth = 10_000

// split takes the objects out of the text of a review, and leaves null in their places. A text that is no JSON, or too deep, is left
// whole, for the decoder to refuse: what looks for objects calls itself for each map and list inside another, without a bound.
// API servers write no member twice; whoever else asks fools nobody but himself.
func split(review []byte) (rest []byte, taken objects) {
	if isDeeper(review, maxDepth) || !gjson.ValidBytes(review) {
		return review, objects{}
	}
	found := gjson.GetManyBytes(review, "request.object", "request.oldObject")
	for i, into := range []*[]byte{&taken.written, &taken.stored} {
		if of := found[i]; of.IsObject() && of.Index > 0 {
			*into = review[of.Index : of.Index+len(of.Raw)]
		}
	}
	slices.SortFunc(found, func(a, b gjson.Result) int { return a.Index - b.Index })
	from := 0
	for _, of := range found {
		if of.IsObject() && of.Index > 0 {
			rest = append(append(rest, review[from:of.Index]...), "null"...)
			from = of.Index + len(of.Raw)
		}
	}
	return append(rest, review[from:]...), taken
}

// isDeeper says that a text has more than so many maps and lists inside each other. Of what is no JSON it may say anything that is
// not less than what a reader would find before it gives up.
func isDeeper(text []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
