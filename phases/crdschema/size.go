package crdschema

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// Bounds of JSON that is read: a library may have an error for each value, and every error repeats the path of its value. The
// largest definitions that are known, OpenShift's and Cluster API's, have 1,114 maps, and paths of 781 KB.
const (
	// maxName is how many bytes the name of a field may have.
	maxName = 1024
	// maxMaps is how many maps there may be. A schema is one, and takes 550 bytes once it is read.
	maxMaps = 100_000
	// maxValues is how many values there may be.
	maxValues = 500_000
	// maxPaths is how many bytes the paths of all values may have together.
	maxPaths = 16 << 20
	// index is how many bytes of a path an item of a list is taken for.
	index = 6
)

// Size is what JSON comes to once it is read: how many values it has, how many of them are maps, and how many bytes their paths
// have together.
type Size struct{ Values, Maps, Paths int }

// SizeOf finds it out without reading JSON, and refuses what is beyond bounds. Of what is no JSON it may say anything.
func SizeOf(text []byte) (Size, error) { return sizeOf(text, math.MaxInt, math.MaxInt) }

// sizeOf is SizeOf for at most so many maps and lists inside each other, and bytes in a name.
func sizeOf(text []byte, depth, name int) (Size, error) {
	s := scan{text: text}
	for s.i = 0; s.i < len(text); s.i++ {
		switch text[s.i] {
		case '"':
			s.quoted()
		case '{':
			s.Maps++
			s.open(false)
		case '[':
			s.open(true)
		case '}', ']':
			s.inside = s.inside[:max(0, len(s.inside)-1)]
		case ',':
			if n := len(s.inside); n > 0 && s.inside[n-1].list {
				s.item(&s.inside[n-1])
			}
		}
		if err := s.beyond(depth, name); err != nil {
			return s.Size, err
		}
	}
	return s.Size, nil
}

// scan is how far a text is looked through.
type scan struct {
	Size
	text   []byte
	i      int
	inside []level
	name   int // how long the name is that was read last
}

// level is a map or a list around a value, and the value in it: its name or number, and how long its path is.
type level struct {
	list       bool
	above      int
	name       []byte
	number, at int
}

func (s *scan) open(list bool) {
	above := 0
	if n := len(s.inside); n > 0 {
		above = s.inside[n-1].at
	}
	s.inside = append(s.inside, level{list: list, above: above, number: -1})
	if list {
		s.item(&s.inside[len(s.inside)-1])
	}
}

func (s *scan) item(of *level) {
	of.number++
	s.value(of, index)
}

// value counts one more, which has so many bytes of its path for itself.
func (s *scan) value(of *level, own int) {
	of.at = of.above + own
	s.Values++
	s.Paths += of.at
}

// quoted goes to the end of a string. One before a colon is a name.
func (s *scan) quoted() {
	began := s.i + 1
	for s.i++; s.i < len(s.text) && s.text[s.i] != '"'; s.i++ {
		if s.text[s.i] == '\\' {
			s.i++
		}
	}
	rest := s.text[min(s.i+1, len(s.text)):]
	n := len(s.inside)
	if after := bytes.TrimLeft(rest, " \t\r\n"); n == 0 || len(after) == 0 || after[0] != ':' {
		return
	}
	of := &s.inside[n-1]
	of.name = s.text[began:min(s.i, len(s.text))]
	s.name = len(of.name)
	s.value(of, s.name+1)
}

func (s *scan) beyond(depth, name int) error {
	switch {
	case len(s.inside) > depth:
		return fmt.Errorf("character %d: more than %d maps and lists are inside each other", s.i, depth)
	case s.name > name:
		return fmt.Errorf("%s: the name has %d bytes, and may have %d", s.path(), s.name, name)
	case s.Values > maxValues:
		return fmt.Errorf("%s: more than %d values come before it", s.path(), maxValues)
	case s.Maps > maxMaps:
		return fmt.Errorf("%s: more than %d maps come before it", s.path(), maxMaps)
	case s.Paths > maxPaths:
		return fmt.Errorf("%s: the paths of all fields before it have more than %d bytes together", s.path(), maxPaths)
	}
	return nil
}

// path is that of the value where the scan is, cut to what people read.
func (s *scan) path() string {
	var path strings.Builder
	for i := range s.inside {
		of := &s.inside[i]
		switch {
		case of.list:
			path.WriteString("[" + strconv.Itoa(of.number) + "]")
		case path.Len() == 0:
			path.Write(of.name)
		default:
			path.WriteString("." + string(of.name))
		}
	}
	return message.ShortenInside(path.String(), maxText/4)
}
