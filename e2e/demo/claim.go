package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// claim is the sole use of a folder. The kernel ends it with the process that
// holds it, however that ends, so that a crash never leaves a claim behind. It
// can be handed over to a child process; see inherit.
type claim struct {
	dir  string
	file *os.File
}

// inheritedFile is the first of a child's files after its three standard ones.
const inheritedFile = 3

const lockFile = "lock"

// claimedError says which process has the folder.
type claimedError struct {
	dir string
	pid int
}

func (e *claimedError) Error() string {
	return fmt.Sprintf("process %d is using %s", e.pid, e.dir)
}

// claimDir takes a folder, made when missing, or returns a claimedError.
func claimDir(dir string) (*claim, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making folder %s: %w", dir, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claiming folder %s: %w", dir, err)
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer file.Close()
		return nil, &claimedError{dir: dir, pid: pidIn(file.Name())}
	case err != nil:
		defer file.Close()
		return nil, fmt.Errorf("claiming folder %s: %w", dir, err)
	}
	c := &claim{dir, file}
	if err := c.sign(); err != nil {
		defer file.Close()
		return nil, err
	}
	return c, nil
}

// inherit takes over the claim of the process that started this one with the
// claim's file as its only extra file.
func inherit(dir string) (*claim, error) {
	syscall.CloseOnExec(inheritedFile) // or this process's children would hold the claim too
	c := &claim{dir, os.NewFile(inheritedFile, lockFile)}
	return c, c.sign()
}

// sign tells others which process has the folder.
func (c *claim) sign() error {
	if err := os.WriteFile(filepath.Join(c.dir, lockFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return fmt.Errorf("claiming folder %s: %w", c.dir, err)
	}
	return nil
}

// pidIn is what a holder wrote: 0 in the moment before it does.
func pidIn(lock string) int {
	data, err := os.ReadFile(lock)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}

func (c *claim) release() { c.file.Close() }

// clear removes everything in a claimed folder but the claim and what is kept.
func (c *claim) clear(keep ...string) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("clearing folder %s: %w", c.dir, err)
	}
	kept := map[string]bool{lockFile: true}
	for _, name := range keep {
		kept[name] = true
	}
	var problems []error
	for _, entry := range entries {
		if !kept[entry.Name()] {
			problems = append(problems, os.RemoveAll(filepath.Join(c.dir, entry.Name())))
		}
	}
	return errors.Join(problems...)
}
