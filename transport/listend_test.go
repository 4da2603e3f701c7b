package transport

import (
	"encoding/binary"
	"strings"
	"testing"
)

// frame is an event of a watch in protobuf.
func frame(kind, object string) string {
	event := "\x0a" + string(rune(len(kind))) + kind + "\x12\x7f" + object
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(event)))) + event
}

func TestListEnd(t *testing.T) {
	const (
		asJSON     = "application/json"
		asProtobuf = "application/vnd.kubernetes.protobuf;stream=watch"
		added      = `{"type":"ADDED","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
		nested     = `{"type":"ADDED","object":{"spec":{"type":"BOOKMARK","k8s.io/initial-events-end":"true"}}}` + "\n"
		progress   = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}` + "\n"
		end        = `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	)
	framed := frame("ADDED", words) + frame("ADDED", "\x0a\x08BOOKMARK"+words) + frame("BOOKMARK", "k8s") + strings.Repeat("\x00", 4) + frame("ADDED", words)
	for name, row := range map[string]struct {
		in, text string
		want     bool
	}{
		"objects that have the words":                  {asJSON, added + nested + progress + added, false},
		"the bookmark after them":                      {asJSON, added + nested + progress + end, true},
		"the bookmark alone":                           {asJSON, end, true},
		"a bookmark, and then an object with the rest": {asJSON, `{"type":"BOOKMARK","object":"k8s.io/init` + "\n" + `ial-events-end"`, false},
		"objects that have the words, in frames":       {asProtobuf, framed, false},
		"the bookmark after them, in frames":           {asProtobuf, framed + frame("BOOKMARK", words), true},
		"the words in an encoding that is not known":   {"application/cbor-seq", "\xff" + words, true},
		"no words in an encoding that is not known":    {"", "BOOKMARK", false},
	} {
		for _, size := range []int{1, 3, 7, 64, len(row.text)} {
			e, got := listEndIn(row.in), false
			for rest := row.text; rest != "" && !got; {
				n := min(size, len(rest))
				got, rest = e.in([]byte(rest[:n])), rest[n:]
			}
			if got != row.want {
				t.Errorf("%s, read by %d: %v", name, size, got)
			}
			if !got && len(e.head)+len(e.tail) > 2*len(words) {
				t.Errorf("%s, read by %d: %d bytes are kept", name, size, len(e.head)+len(e.tail))
			}
		}
	}
}
