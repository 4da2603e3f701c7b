package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestBecome_runs_the_program_with_what_was_asked_for_or_names_it(t *testing.T) {
	var ran []string
	exec := func(program string, arguments, environment []string) error {
		ran = slices.Concat([]string{program}, arguments, environment)
		return nil
	}
	if err := become("/bin/capi-proxy", []string{"--address=a"}, []string{"A=b"}, exec); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/bin/capi-proxy", "/bin/capi-proxy", "--address=a", "A=b"}; !slices.Equal(ran, want) {
		t.Errorf("it ran %q", ran)
	}
	missing := filepath.Join(t.TempDir(), "capi-proxy")
	if err := become(missing, nil, nil, syscall.Exec); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
}
