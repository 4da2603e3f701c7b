package wire

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"
)

// span is a part of a text.
type span struct{ from, to int }

// without is a text in which fields are null; it is not changed itself.
func without(text []byte, fields []string) []byte {
	var cut []span
	for _, field := range fields {
		found := gjson.GetBytes(text, field)
		switch {
		case len(found.Indexes) > 0: // of each element of a list
			for i, one := range found.Array() {
				cut = append(cut, span{found.Indexes[i], found.Indexes[i] + len(one.Raw)})
			}
		case found.Index > 0:
			cut = append(cut, span{found.Index, found.Index + len(found.Raw)})
		}
	}
	if len(cut) == 0 {
		return text
	}
	slices.SortFunc(cut, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	left, at := make([]byte, 0, len(text)), 0
	for _, c := range cut {
		left = append(append(left, text[at:c.from]...), "null"...)
		at = c.to
	}
	return append(left, text[at:]...)
}
