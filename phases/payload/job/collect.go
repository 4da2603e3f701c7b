package job

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

const (
	// configMost is how large a config may be that the installer has written, in bytes.
	configMost = 16 << 20
	// LogKey is where a result's Secret has the end of the log of an attempt that has failed, without what is secret. It has no
	// config then.
	LogKey = "log"

	// resultMost is how large the Secret of a result may be.
	resultMost = 1<<20 - 1024
)

// part is one config: the file that the installer writes, and its place in a payload.
type part struct {
	file string
	of   func(*payload.Payload) *[]byte
}

func parts() []part {
	return []part{
		{"bootstrap.ign", func(p *payload.Payload) *[]byte { return &p.Bootstrap }},
		{"master.ign", func(p *payload.Payload) *[]byte { return &p.Master }},
		{"worker.ign", func(p *payload.Payload) *[]byte { return &p.Worker }},
	}
}

// Collect reads what the installer has written into its working folder, and refuses what Ignition would refuse.
func Collect(work fs.FS) (payload.Payload, error) {
	var found payload.Payload
	for _, part := range parts() {
		file, err := work.Open(part.file)
		if err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s: the installer has not written it", part.file)
		}
		data, err := bounded(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s: %w", part.file, err)
		}
		if err := ignition.Check(data); err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s, which the installer has written: %w", part.file, err)
		}
		*part.of(&found) = data
	}
	return found, nil
}

func bounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, configMost+1))
	if err == nil && len(data) > configMost {
		err = fmt.Errorf("it has more than the %d bytes allowed", configMost)
	}
	return data, err
}

// Pack returns a payload as the data of the Secret that collect writes: each config compressed, the same bytes for the same payload.
func Pack(p payload.Payload) (map[string][]byte, error) {
	data := map[string][]byte{}
	var size int
	for _, part := range parts() {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(*part.of(&p)); err != nil {
			return nil, fmt.Errorf("compressing %s: %w", part.file, err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("compressing %s: %w", part.file, err)
		}
		data[part.file+".gz"] = b.Bytes()
		size += b.Len()
	}
	if size > resultMost {
		return nil, ignition.TooLargeError{Bytes: size}
	}
	return data, nil
}

// Unpack reads the Secret that collect has written. Somebody else may have written it, so it is bounded and checked again.
func Unpack(data map[string][]byte) (payload.Payload, error) {
	var found payload.Payload
	for _, part := range parts() {
		r, err := gzip.NewReader(bytes.NewReader(data[part.file+".gz"]))
		if err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s.gz of what the installer has made: it is not there or not compressed", part.file)
		}
		config, err := bounded(r)
		if err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s.gz of what the installer has made: it is torn or larger than the %d bytes allowed", part.file, configMost)
		}
		if err := ignition.Check(config); err != nil {
			return payload.Payload{}, fmt.Errorf("reading %s.gz of what the installer has made: %w", part.file, err)
		}
		*part.of(&found) = config
	}
	return found, nil
}
