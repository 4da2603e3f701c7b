package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// encode goes over the files twice, first for the checksum that precedes them, so that it needs no copy of them.
func encode(w io.Writer, name string, image *Image) error {
	evidence, err := json.Marshal(image.evidence)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err := encodeFiles(sum, image.Profiles, evidence); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, cacheHeader, name, sum.Sum(nil)); err != nil {
		return err
	}
	return encodeFiles(w, image.Profiles, evidence)
}

func encodeFiles(w io.Writer, profiles []Profile, evidence []byte) error {
	files := tar.NewWriter(w)
	add := func(name string, data []byte) error {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err := files.Write(data)
		return err
	}
	if err := add(evidenceFile, evidence); err != nil {
		return err
	}
	for _, p := range profiles {
		if err := errors.Join(add(p.Name+"/"+MetadataFile, p.Metadata), add(p.Name+"/"+ManifestsFile, p.Manifests)); err != nil {
			return err
		}
	}
	return files.Close()
}

func decode(name string, data []byte) (*Image, error) {
	head, content, _ := bytes.Cut(data, []byte("\n"))
	if want := fmt.Sprintf(cacheHeader, name, sha256.Sum256(content)); string(head)+"\n" != want {
		return nil, errors.New("its checksum does not match")
	}
	image, t := &Image{}, newTree(ManifestsFolder, standardLimits)
	r := tar.NewReader(bytes.NewReader(content))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			image.Profiles, err = t.profiles(context.Background())
			return image, err
		}
		if err != nil {
			return nil, err
		}
		if h.Name == evidenceFile {
			if err := json.NewDecoder(r).Decode(&image.evidence); err != nil {
				return nil, err
			}
			continue
		}
		h.Name = ManifestsFolder + "/" + h.Name
		if err := unpackEntry(h, r, 1, t); err != nil {
			return nil, err
		}
	}
}
