package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"
)

// write makes a file and the folders that it is in.
func write(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// downloads has a module in a cache, as files and as a zip, and says its sum.
func downloads(t *testing.T, cache string) string {
	t.Helper()
	const name = "example.org/!big@v1.0.0"
	write(t, "package big\n", cache, name, "big.go")
	sum, err := dirhash.HashDir(filepath.Join(cache, name), "example.org/Big@v1.0.0", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "", cache, "cache/download/example.org/!big/@v/v1.0.0.zip")
	file, err := os.Create(filepath.Join(cache, "cache/download/example.org/!big/@v/v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	packed := zip.NewWriter(file)
	of, err := packed.Create("example.org/Big@v1.0.0/big.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of.Write([]byte("package big\n")); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestCheck_of_modules_that_were_downloaded(t *testing.T) {
	const other = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name, row := range map[string]struct {
		change func(cache string)
		// sums are those of the first folder and of the second one; empty for that which was downloaded.
		first, second string
		looked        int
		says          string
	}{
		"it is as it was":                   {looked: 1},
		"somebody has changed a file":       {change: func(cache string) { write(t, "package big // evil\n", cache, "example.org/!big@v1.0.0/big.go") }, looked: 1, says: "is not what go.sum says of example.org/Big@v1.0.0"},
		"somebody has added a file":         {change: func(cache string) { write(t, "", cache, "example.org/!big@v1.0.0/more.go") }, looked: 1, says: "is not what go.sum says"},
		"the zip is none":                   {change: func(cache string) { write(t, "", cache, "cache/download/example.org/!big/@v/v1.0.0.zip") }, looked: 1, says: "reading"},
		"it is not what was expected":       {first: other, second: other, looked: 1, says: "is not what go.sum says"},
		"two folders expect something else": {second: other, says: "has another sum in"},
		"it was not downloaded": {change: func(cache string) {
			if err := os.RemoveAll(cache); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cache, first, second := t.TempDir(), t.TempDir(), t.TempDir()
			sum := downloads(t, cache)
			for folder, of := range map[string]string{first: row.first, second: row.second} {
				if of == "" {
					of = sum
				}
				write(t, "example.org/Big v1.0.0 "+of+"\nexample.org/Big v1.0.0/go.mod "+other+"\n", folder, "go.sum")
			}
			if row.change != nil {
				row.change(cache)
			}
			looked, err := check(cache, []string{first, second})
			if looked != row.looked || (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("it has looked at %d and says %v", looked, err)
			}
		})
	}
}
