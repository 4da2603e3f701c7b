package packaging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// StaleError names the files on disk that differ from what would be written.
type StaleError struct {
	Files []string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("not up to date: %s: run the same command without --check and commit the result", strings.Join(e.Files, ", "))
}

// Check compares the profile with manifestsPath/name on disk and prints what
// writing it would change, as a unified diff. A difference is a *StaleError.
func (p *Profile) Check(w io.Writer, manifestsPath, name string) error {
	var stale []string
	for _, file := range p.files() {
		path := filepath.Join(manifestsPath, name, file.name)
		actual, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the profile to compare with: %w", err)
		}
		if err == nil && bytes.Equal(actual, file.content) {
			continue
		}
		stale = append(stale, path)
		if err != nil {
			if _, err := fmt.Fprintf(w, "%s does not exist\n", path); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(w, udiff.Unified(path, path+" as generated now", string(actual), string(file.content))); err != nil {
			return fmt.Errorf("printing the difference of %s: %w", path, err)
		}
	}
	if len(stale) > 0 {
		return &StaleError{Files: stale}
	}
	return nil
}
