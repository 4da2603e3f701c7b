// Package converter converts stubs by running capstan-stub, the binary that links Ignition. The binary gets the user data as its
// input and nothing else: no arguments, no environment, no file. What it holds is secret, so that of what the binary writes
// nothing is told but the reason of a refusal.
package converter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/capstan-capi/capstan/phases/stub"
)

const (
	// name is the binary's, which is in the folder of the operator's own.
	name = "capstan-stub"
	// runTimeout bounds one conversion, which takes a few milliseconds, and the wait for those before it.
	runTimeout = 30 * time.Second
	// closeTimeout bounds the wait for the pipes of a binary that has ended: a process that it has left behind may hold them.
	closeTimeout = time.Second
	// refused is the exit code by which the binary refuses user data.
	refused = 3
	// maxOutput bounds what is read of the binary's output, and maxReason of its reason.
	maxOutput = 2 << 20
	maxReason = 4 << 10
)

// Converter runs the binary, one at a time.
type Converter struct {
	path    string
	timeout time.Duration
	turn    chan struct{}
}

// Beside is the converter whose binary is in the folder of the process's own. Whether it is there shows when it is run.
func Beside() (*Converter, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("looking for the folder of %s: %w", name, err)
	}
	return at(filepath.Join(filepath.Dir(own), name), runTimeout), nil
}

func at(path string, timeout time.Duration) *Converter {
	return &Converter{path: path, timeout: timeout, turn: make(chan struct{}, 1)}
}

// Convert brings user data of spec 2 to [stub.Converted]. User data that cannot be converted gives a [stub.UnconvertibleError];
// all other errors are worth another try.
func (c *Converter) Convert(ctx context.Context, userData []byte) ([]byte, error) {
	limited, end := context.WithTimeout(ctx, c.timeout)
	defer end()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-limited.Done():
		return nil, fmt.Errorf("waiting for a run of %s to end: %w", c.path, limited.Err())
	}
	output, reason := bounded{most: maxOutput}, bounded{most: maxReason}
	cmd := exec.CommandContext(limited, c.path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(userData), &output, &reason
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{}, "/", closeTimeout
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("running %s: %w", c.path, ctx.Err())
	case limited.Err() != nil:
		return nil, fmt.Errorf("running %s: it has not ended within %s, and was killed", c.path, c.timeout)
	case output.over:
		return nil, fmt.Errorf("running %s: it writes more than %d bytes", c.path, maxOutput)
	case errors.As(err, &ended) && ended.ExitCode() == refused:
		return nil, c.refusal(reason)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("running %s: the file is missing; it belongs beside the operator's own, from the same image: %w", c.path, err)
	case err != nil:
		return nil, fmt.Errorf("running %s: %w", c.path, err)
	}
	if version, err := stub.Read(output.kept); err != nil || !version.IsSpec3() {
		return nil, fmt.Errorf("running %s: what it writes is no Ignition config of spec 3", c.path)
	}
	return output.kept, nil
}

// refusal is the reason that the binary gives.
func (c *Converter) refusal(reason bounded) error {
	var why stub.UnconvertibleError
	if err := json.Unmarshal(reason.kept, &why); err != nil || why.Why == "" {
		return fmt.Errorf("running %s: it refuses the user data without a reason that can be read", c.path)
	}
	return why
}

// bounded keeps as much as there is room for; what is more is an error, which ends the reading.
type bounded struct {
	kept []byte
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = len(b.kept)+len(p) > b.most; b.over {
		return 0, errors.New("it is too much")
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}
