package images

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// spoolPrefix begins the names that spools have for a moment.
const spoolPrefix = cacheTemp + "layer-"

// spool keeps a layer on disk until its digest is known. Its file has no name as soon as it is open, so that it takes no
// room once it is closed, also by a process that is killed.
type spool struct {
	folders []string // that have not been tried yet
	file    *os.File
	size    int64
}

// newSpool makes a spool in the first of the folders that takes one; the others are for when it is full.
func newSpool(folders ...string) (*spool, error) {
	s := &spool{folders: folders}
	if err := s.move(nil); err != nil {
		return nil, err
	}
	return s, nil
}

// move goes on in the next folder. cause is why the one before cannot be used, if there was one.
func (s *spool) move(cause error) error {
	for len(s.folders) > 0 {
		folder := s.folders[0]
		s.folders = s.folders[1:]
		file, err := unnamed(folder)
		if err == nil && s.file != nil {
			_, err = io.Copy(file, io.NewSectionReader(s.file, 0, s.size))
		}
		if err == nil {
			s.close()
			s.file = file
			return nil
		}
		if file != nil {
			_ = file.Close()
		}
		cause = errors.Join(cause, fmt.Errorf("folder %s: %w", folder, err))
	}
	return fail(KindDisk, "a layer cannot be kept on disk while its digest is verified: %s; free or enlarge the volume of the cache folder, "+
		"or make it writable, and it is tried again by itself", strings.ReplaceAll(fmt.Sprint(cause), "\n", "; "))
}

func unnamed(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(folder, spoolPrefix)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (s *spool) Write(p []byte) (int, error) {
	for {
		_, err := s.file.WriteAt(p, s.size)
		if err == nil {
			s.size += int64(len(p))
			return len(p), nil
		}
		if err := s.move(fmt.Errorf("folder %s: %w", filepath.Dir(s.file.Name()), err)); err != nil {
			return 0, err
		}
	}
}

// content reads all that was written.
func (s *spool) content() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}
