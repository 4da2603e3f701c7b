package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// Open reads the archive in a file. What is no regular file is an error: reading from a pipe or a device may never end.
func Open(name string) (*Archive, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the archive %s: %w", name, err)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	defer func() { _ = file.Close() }()
	read, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("reading the archive %s: %w", name, err)
	}
	return read, nil
}

// Read reads an archive into memory. One that holds anything but what Write writes is an error as a whole: links, folders,
// devices and sparse files, names that lead elsewhere, what the index does not tell of, and more than the limits let in.
func Read(from io.Reader) (*Archive, error) {
	unpacked, err := gzip.NewReader(bufio.NewReader(&limited{from: from, left: MaxRead, what: "packed"}))
	if err != nil {
		return nil, fmt.Errorf("it is not packed with gzip: %w", err)
	}
	unpacked.Multistream(false)
	content := &limited{from: unpacked, left: MaxRead, what: "unpacked"}
	found, err := readFiles(tar.NewReader(content))
	if err != nil {
		return nil, err
	}
	if err := onlyZeros(content); err != nil {
		return nil, err
	}
	return judged(found)
}

// readFiles reads the files of a tar file, by name.
func readFiles(files *tar.Reader) (map[string][]byte, error) {
	found := map[string][]byte{}
	left := MaxRead
	for {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("entry %d cannot be read: %w", len(found)+1, err)
		}
		name := message.Shorten(header.Name, maxName)
		_, again := found[header.Name]
		switch {
		case len(found) == MaxEntries:
			return nil, fmt.Errorf("it has more than %d entries", MaxEntries)
		case header.Typeflag != tar.TypeReg || len(header.PAXRecords) > 0:
			return nil, fmt.Errorf("%q is no plain file", name)
		case !isName(header.Name):
			return nil, fmt.Errorf("%q is no name of a part", name)
		case again:
			return nil, fmt.Errorf("%q is there twice", name)
		case header.Size < 0 || header.Size > int64(left):
			return nil, fmt.Errorf("%q has %d bytes, and all together may have %d", name, header.Size, MaxRead)
		}
		// What a header says is believed once the bytes are there.
		var content bytes.Buffer
		if _, err := content.ReadFrom(files); err != nil {
			return nil, fmt.Errorf("%q cannot be read: %w", name, err)
		}
		left -= content.Len()
		found[header.Name] = content.Bytes()
	}
}

// onlyZeros refuses what follows the end of a tar file, other than what fills its last record.
func onlyZeros(rest io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := rest.Read(buffer)
		if len(bytes.Trim(buffer[:n], "\x00")) > 0 {
			return errors.New("something follows its end")
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("its end cannot be read: %w", err)
		}
	}
}

// judged holds the files against the index.
func judged(found map[string][]byte) (*Archive, error) {
	text, there := found[indexName]
	if !there {
		return nil, fmt.Errorf("it has no %s, so it is none of capstan support", indexName)
	}
	if len(text) > maxIndex+1 {
		return nil, fmt.Errorf("%s has %d bytes, and may have %d", indexName, len(text), maxIndex)
	}
	index, err := readIndex(text)
	if err != nil {
		return nil, err
	}
	read := &Archive{Index: index, content: found}
	told := map[string]bool{indexName: true}
	for _, e := range read.Index.Parts {
		content, there := found[e.Name]
		name := message.Shorten(e.Name, maxName)
		switch {
		case !isName(e.Name) || told[e.Name]:
			return nil, fmt.Errorf("%s tells of %q, which is no name of a part, or of it twice", indexName, name)
		case e.State != Whole && e.State != Cut && e.State != Missing:
			return nil, fmt.Errorf("%s says that part %q is %q", indexName, name, message.Shorten(string(e.State), maxName))
		case there != (e.State != Missing):
			return nil, fmt.Errorf("%s says that part %q is %s, and it is not so", indexName, name, e.State)
		case there && (e.Bytes != len(content) || e.SHA256 != digest(content)):
			return nil, fmt.Errorf("part %q is not as %s says: it was changed", name, indexName)
		}
		told[e.Name] = true
	}
	if len(told) != len(found)+missing(read.Index) {
		return nil, fmt.Errorf("it holds parts that %s does not tell of", indexName)
	}
	return read, nil
}

// readIndex reads an index. Its list is read one by one: short entries take far more memory than text.
func readIndex(text []byte) (Index, error) {
	var read struct {
		Index

		Parts json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return Index{}, fmt.Errorf("%s cannot be read: %w", indexName, err)
	}
	index := read.Index
	if index.Format != Format {
		return Index{}, fmt.Errorf("it is of format %d, and this capstan reads format %d", index.Format, Format)
	}
	list := json.NewDecoder(bytes.NewReader(read.Parts))
	if begin, err := list.Token(); err != nil || begin != json.Delim('[') {
		return Index{}, fmt.Errorf("%s has no list of parts", indexName)
	}
	for list.More() {
		var e Entry
		if len(index.Parts) == MaxEntries {
			return Index{}, fmt.Errorf("%s tells of more than %d parts", indexName, MaxEntries)
		}
		if err := list.Decode(&e); err != nil {
			return Index{}, fmt.Errorf("%s cannot be read: %w", indexName, err)
		}
		index.Parts = append(index.Parts, e)
	}
	return index, nil
}

func missing(index Index) (count int) {
	for _, e := range index.Parts {
		if e.State == Missing {
			count++
		}
	}
	return count
}

// isName says whether a part can have a name: words of plain letters below each other, none of which is special to any system.
func isName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for word := range strings.SplitSeq(name, "/") {
		if word == "" || strings.HasPrefix(word, ".") || strings.HasSuffix(word, ".") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(nameLetters, r) })
}

// nameLetters are what names of parts are made of.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"

// limited refuses more than so many bytes.
type limited struct {
	from io.Reader
	left int
	what string
}

func (l *limited) Read(p []byte) (int, error) {
	// One byte more shows whether there are more.
	n, err := l.from.Read(p[:min(len(p), l.left+1)])
	if l.left -= n; l.left < 0 {
		l.left = 0
		return 0, fmt.Errorf("it has more than %d bytes %s", MaxRead, l.what)
	}
	return n, err
}
