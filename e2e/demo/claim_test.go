package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAFolderIsClaimedByOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	first, err := claimDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var taken *claimedError
	if _, err := claimDir(dir); !errors.As(err, &taken) || taken.pid != os.Getpid() {
		t.Errorf("the second claim gives %v, want one that names process %d", err, os.Getpid())
	}
	first.release()
	again, err := claimDir(dir)
	if err != nil {
		t.Fatalf("claiming a folder that was released: %v", err)
	}
	again.release()
}

func TestClearingKeepsTheClaimAndWhatItIsToldToKeep(t *testing.T) {
	dir := t.TempDir()
	claim, err := claimDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer claim.release()
	for _, name := range []string{"kept", "gone", "folder/gone"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := claim.clear("kept"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "kept" || filepath.Base(left[1]) != lockFile {
		t.Errorf("%v is left (%v)", left, err)
	}
}
