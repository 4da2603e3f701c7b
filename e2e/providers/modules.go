package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Module is the folder of the module that a component of a release is made from, such as for definitions that nobody has
// packaged.
func Module(ctx context.Context, release, component string) (string, error) {
	wanted, err := components(release)
	if err != nil {
		return "", err
	}
	for _, p := range wanted {
		if p.Name == component {
			folders, err := download(ctx, []pinned{p})
			return folders[p.module()], err
		}
	}
	return "", fmt.Errorf("release %s has no component %s", release, component)
}

// download fetches modules with the Go client, by way of its cache, and returns
// the folder of each by "module@version". A module whose hash is not the pinned
// one is refused.
func download(ctx context.Context, wanted []pinned) (map[string]string, error) {
	// Outside of any module, so that only the pins decide, and no go.mod nearby.
	empty, err := os.MkdirTemp("", "capstan-providers-")
	if err != nil {
		return nil, fmt.Errorf("creating an empty folder to download modules from: %w", err)
	}
	defer os.RemoveAll(empty)
	args := []string{"mod", "download", "-json"}
	for _, p := range wanted {
		args = append(args, p.module())
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = empty
	command.Env = append(os.Environ(), "GOWORK=off", "PWD="+empty)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	failure := command.Run()
	folders, err := verify(&stdout, wanted)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, fmt.Errorf("downloading provider modules: %w: %s", failure, bytes.TrimSpace(stderr.Bytes()))
	}
	return folders, nil
}

// verify reads the Go client's report and compares it with the pins.
func verify(report io.Reader, wanted []pinned) (map[string]string, error) {
	type download struct{ Path, Version, Error, Dir, Sum string }
	found := map[string]download{}
	decoder := json.NewDecoder(report)
	for {
		var d download
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the report of go mod download: %w", err)
		}
		found[d.Path+"@"+d.Version] = d
	}
	folders := map[string]string{}
	for _, p := range wanted {
		switch d := found[p.module()]; {
		case d.Error != "":
			return nil, fmt.Errorf("downloading module %s of component %s: %s", p.module(), p.Name, d.Error)
		case d.Dir == "":
			return nil, fmt.Errorf("downloading module %s of component %s: the Go client reports no folder for it", p.module(), p.Name)
		case d.Sum != p.Sum:
			return nil, fmt.Errorf("module %s of component %s has hash %s, but releases.yaml pins %s: if the module was published anew, review it and change the pin; otherwise do not trust it",
				p.module(), p.Name, d.Sum, p.Sum)
		default:
			folders[p.module()] = d.Dir
		}
	}
	return folders, nil
}
