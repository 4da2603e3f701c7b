// Command sums fails when a downloaded module is not what go.sum says in one of the folders that it is given: its zip or its
// files. `go mod verify` says so of one folder; a module that many of them need is looked at once here. It downloads nothing, and
// says nothing of what was not downloaded.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

func main() {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output() //nolint:noctx // it ends at once
	if err != nil {
		fmt.Fprintln(os.Stderr, "sums: asking for the folder of modules:", err)
		os.Exit(1)
	}
	looked, err := check(strings.TrimSpace(string(cache)), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sums:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stdout, "%d modules are what go.sum says\n", looked)
}

// check looks at all modules of which a folder has a sum and which are in the cache, and says how many these are.
func check(cache string, folders []string) (looked int, err error) {
	sums, err := read(folders)
	if err != nil {
		return 0, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var faults []error
	atOnce := make(chan struct{}, runtime.GOMAXPROCS(0))
	for of, sum := range sums {
		atOnce <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			there, err := compare(cache, of, sum)
			mu.Lock()
			defer mu.Unlock()
			if there {
				looked++
			}
			faults = append(faults, err)
		})
	}
	all.Wait()
	return looked, errors.Join(faults...)
}

// read is what go.sum of all folders says of the files of modules. That of a go.mod is looked at by whatever command loads it.
func read(folders []string) (map[module.Version]string, error) {
	sums := map[module.Version]string{}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		if err != nil {
			return nil, fmt.Errorf("reading sums: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || strings.HasSuffix(fields[1], "/go.mod") {
				continue
			}
			of := module.Version{Path: fields[0], Version: fields[1]}
			if other := sums[of]; other != "" && other != fields[2] {
				return nil, fmt.Errorf("%s has another sum in %s than in a folder before it", of, folder)
			}
			sums[of] = fields[2]
		}
	}
	return sums, nil
}

// compare says whether something of a module is in the cache, and fails where that does not have the sum.
func compare(cache string, of module.Version, sum string) (there bool, err error) {
	path, err := module.EscapePath(of.Path)
	if err != nil {
		return false, err
	}
	version, err := module.EscapeVersion(of.Version)
	if err != nil {
		return false, err
	}
	zip := filepath.Join(cache, "cache", "download", filepath.FromSlash(path), "@v", version+".zip")
	folder := filepath.Join(cache, filepath.FromSlash(path)+"@"+version)
	for file, hash := range map[string]func() (string, error){
		zip:    func() (string, error) { return dirhash.HashZip(zip, dirhash.Hash1) },
		folder: func() (string, error) { return dirhash.HashDir(folder, of.String(), dirhash.Hash1) },
	} {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		got, err := hash()
		if err != nil {
			return true, fmt.Errorf("reading %s: %w", file, err)
		}
		if there = true; got != sum {
			return true, fmt.Errorf("%s is not what go.sum says of %s: its sum is %s", file, of, got)
		}
	}
	return there, nil
}
