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

	"github.com/pmezard/go-difflib/difflib"
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
		err = difflib.WriteUnifiedDiff(w, difflib.UnifiedDiff{
			A: lines(actual), FromFile: path,
			B: lines(file.content), ToFile: path + " as generated now",
			Context: 3,
		})
		if err != nil {
			return fmt.Errorf("printing the difference of %s: %w", path, err)
		}
	}
	if len(stale) > 0 {
		return &StaleError{Files: stale}
	}
	return nil
}

// lines keeps the line ends. A last line without one shows as in other diff tools.
func lines(content []byte) []string {
	var out []string
	for line := range strings.Lines(string(content)) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n\\ No newline at end of file\n"
		}
		out = append(out, line)
	}
	return out
}
