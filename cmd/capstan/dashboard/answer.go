package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/message"
)

// writeWithin is how long an answer may take to be written, and each line of a stream.
const writeWithin = 10 * time.Second

// answer writes a value as JSON.
func (s *Server) answer(w http.ResponseWriter, value any) {
	text, err := encoded(value)
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, Problem{Error: "the answer cannot be written down: " + message.Line(err.Error())})
		return
	}
	send(w, http.StatusOK, text)
}

// refuse writes why there is no answer.
func (s *Server) refuse(w http.ResponseWriter, status int, why Problem) {
	text, err := encoded(why)
	if err != nil {
		text = []byte(`{"error":"refused"}`)
	}
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, text []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin)) // a recorder of tests has none
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever has gone needs no answer
}

// problemOf tells of an error.
func problemOf(err error) Problem {
	var told *inspect.Error
	if errors.As(err, &told) {
		return Problem{Error: told.What, Next: told.Next}
	}
	return Problem{Error: err.Error()}
}

// encoded is a value as JSON on one line, in which texts have nothing that is not printed, but for ends of lines: what API servers,
// operators and people write would otherwise control what is shown.
func encoded(value any) ([]byte, error) {
	text, err := json.Marshal(value) // which escapes what could end a script, too
	if err != nil {
		return nil, err
	}
	return plain(text), nil
}

// plain replaces in JSON what a text has that is not printed, however it is written there.
func plain(text []byte) []byte {
	if !bytes.ContainsRune(text, '\\') && printable(text) {
		return text
	}
	kept := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := runeIn(text)
		switch {
		case r == '\n' || unicode.IsPrint(r) && r != utf8.RuneError:
			kept = append(kept, text[:size]...)
		case unicode.IsSpace(r):
			kept = append(kept, ' ')
		default:
			kept = append(kept, string(utf8.RuneError)...)
		}
		text = text[size:]
	}
	return kept
}

func printable(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !unicode.IsPrint(r) {
			return false
		}
		text = text[size:]
	}
	return true
}

// runeIn is the first rune that JSON has, and how many bytes it takes there.
func runeIn(text []byte) (rune, int) {
	if text[0] != '\\' || len(text) < 2 {
		return utf8.DecodeRune(text)
	}
	switch text[1] {
	case 'n':
		return '\n', 2
	case 'r', 't', 'f':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'u':
		return escaped(text)
	}
	return rune(text[1]), 2 // a quote or a slash
}

// escaped is a rune that is written by its number, or by two as in UTF-16.
func escaped(text []byte) (rune, int) {
	first, is := number(text)
	if !is {
		return utf8.RuneError, min(len(text), 6)
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if second, is := number(text[6:]); is {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

func number(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
