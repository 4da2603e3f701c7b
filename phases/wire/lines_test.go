package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// readAll are the frames of a text, and how reading it ends. Each is read with as little room as a reader has to expect.
func readAll(text string, room int) (frames []string, err error) {
	r := framer.NewFrameReader(io.NopCloser(iotest.OneByteReader(strings.NewReader(text))))
	for {
		var frame []byte
		for into := make([]byte, room); ; {
			var n int
			n, err = r.Read(into)
			frame = append(frame, into[:n]...)
			if !errors.Is(err, io.ErrShortBuffer) {
				break
			}
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, string(frame))
	}
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		frames string
		end    error // nil for another one than of reading
	}{
		"each line is an event":            {"{\"a\":1}\n{\"b\":2}\n", `{"a":1} {"b":2}`, io.EOF},
		"empty lines are none":             {"\n{\"a\":1}\r\n\n", `{"a":1}`, io.EOF},
		"the last may have no end":         {"{\"a\":1}\n{\"b\":2}", `{"a":1} {"b":2}`, io.EOF},
		"one that breaks off":              {"{\"a\":1}\n{\"b\":", `{"a":1}`, io.ErrUnexpectedEOF},
		"what is no JSON ends it":          {"{\"a\":1}\nhello\n{\"b\":2}\n", `{"a":1}`, nil},
		"two in a line are two":            {"{\"a\":1} {\"b\":2}\n", `{"a":1} {"b":2}`, io.EOF},
		"an escaped end of a line is none": {"{\"a\":\"x\\ny\"}\n", `{"a":"x\ny"}`, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := readAll(c.text, 3)
			if strings.Join(frames, " ") != c.frames || c.end != nil && !errors.Is(err, c.end) || c.end == nil && (err == nil || errors.Is(err, io.EOF)) {
				t.Errorf("%q, %v", frames, err)
			}
		})
	}
}

func TestLines_that_are_too_long_end_a_watch(t *testing.T) {
	r := framer.NewFrameReader(io.NopCloser(strings.NewReader(`"` + strings.Repeat("x", maxLine) + "\"\n")))
	if _, err := r.Read(make([]byte, 8)); err == nil || errors.Is(err, io.ErrShortBuffer) {
		t.Error(err)
	}
}

func TestLines_lose_nothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SliceOf(rapid.SampledFrom([]string{`{}`, `{"a":"b"}`, `[1,2]`, `{"type":"ADDED","object":{"x":"` + strings.Repeat("y", 5000) + `"}}`})).Draw(t, "events")
		frames, err := readAll(strings.Join(append(sent, ""), "\n"), rapid.IntRange(1, 6000).Draw(t, "room"))
		if !errors.Is(err, io.EOF) || strings.Join(frames, "\n") != strings.Join(sent, "\n") {
			t.Fatalf("%q, %v", frames, err)
		}
	})
}
