package recorder

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// contentKey is where the entries lie in the ConfigMap: JSON, one entry per line, oldest first, packed with gzip.
const contentKey = "entries.jsonl.gz"

// Bounds of what is stored, well below what an API server takes in one object, and of what is read, against content
// that was forged.
const (
	maxPacked = 512 << 10
	// maxFile is how many bytes a recorder's file may have in any form.
	maxFile = 8 << 20
	maxRead = 4 * maxEntries
)

// pack writes a log down. What does not fit even when packed is dropped, oldest first.
func pack(log []Entry) ([]byte, error) {
	for {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		unpacked := &counted{to: zip}
		lines := json.NewEncoder(unpacked)
		for _, e := range log {
			if err := lines.Encode(e); err != nil {
				return nil, fmt.Errorf("packing the recorder: %w", err)
			}
		}
		if err := zip.Close(); err != nil {
			return nil, fmt.Errorf("packing the recorder: %w", err)
		}
		if packed.Len() <= maxPacked && unpacked.bytes <= maxFile || len(log) == 0 {
			return packed.Bytes(), nil
		}
		log = log[(len(log)+3)/4:]
	}
}

// counted counts what is written.
type counted struct {
	to    io.Writer
	bytes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return c.to.Write(p)
}

// ReadFrom is Read for what is not read yet.
func ReadFrom(file io.Reader) ([]Entry, error) {
	all, err := io.ReadAll(&limited{from: file, left: maxFile})
	if err != nil {
		return nil, fmt.Errorf("reading the recorder's file: %w", err)
	}
	return Read(all)
}

// Read reads a recorder's file in any form that it is handed around in: the
// ConfigMap as YAML or JSON, its packed content, or that unpacked. A file that
// is damaged is an error, also if its beginning could be read.
func Read(file []byte) ([]Entry, error) {
	if bytes.HasPrefix(file, []byte{0x1f, 0x8b}) {
		return unpack(file)
	}
	if entries, err := readLines(bytes.NewReader(file)); err == nil && len(entries) > 0 {
		return entries, nil
	}
	var stored corev1.ConfigMap
	if err := yaml.Unmarshal(file, &stored); err != nil {
		return nil, fmt.Errorf("reading the file: it is neither entries nor a ConfigMap: %w", err)
	}
	if stored.Kind != "ConfigMap" {
		return nil, fmt.Errorf("reading the file: it holds no ConfigMap with binaryData %s", contentKey)
	}
	return Of(&stored)
}

// Of reads the entries that a ConfigMap of a recorder holds.
func Of(stored *corev1.ConfigMap) ([]Entry, error) {
	if stored.BinaryData[contentKey] == nil {
		return nil, fmt.Errorf("reading the file: it holds no ConfigMap with binaryData %s", contentKey)
	}
	return unpack(stored.BinaryData[contentKey])
}

// ReadLines reads entries that are unpacked, of which there may be none.
func ReadLines(lines []byte) ([]Entry, error) {
	return readLines(&limited{from: bytes.NewReader(lines), left: maxFile})
}

func unpack(packed []byte) ([]Entry, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking the entries: %w", err)
	}
	return readLines(&limited{from: zip, left: maxFile})
}

// limited refuses more than so many bytes.
type limited struct {
	from io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	// One byte more shows whether there are more.
	n, err := l.from.Read(p[:min(len(p), l.left+1)])
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("there are more than %d bytes", maxFile)
	}
	return n, err
}

func readLines(lines io.Reader) ([]Entry, error) {
	var log []Entry
	decoder := json.NewDecoder(lines)
	for {
		var e Entry
		switch err := decoder.Decode(&e); {
		case errors.Is(err, io.EOF):
			return log, nil
		case err != nil:
			return nil, fmt.Errorf("reading entry %d: %w", len(log)+1, err)
		case e.At.IsZero() || e.Kind == "":
			return nil, fmt.Errorf("reading entry %d: it has no time or no kind", len(log)+1)
		case len(log) == maxRead:
			return nil, fmt.Errorf("there are more than %d entries, and a recorder keeps %d", maxRead, maxEntries)
		}
		log = append(log, e)
	}
}
