package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capi-proxy/command"
)

// It stays on the thread that the process began with, before anything else runs: that thread alone knows which signal the process is
// to get when its parent ends, and the program goes on as the thread that it is run by.
var _ = func() bool {
	proxy := len(os.Args) > 1 && os.Args[1] == command.Name
	if proxy {
		runtime.LockOSThread()
	}
	return proxy
}()

// capiProxyCommand puts the binary that serves in the place of this process: one is beside each component, and has no more in
// memory than it needs.
func capiProxyCommand() *cobra.Command {
	return command.New(func(_ context.Context, f *command.Flags) error {
		own, err := os.Executable()
		if err != nil {
			return fmt.Errorf("looking for the folder of %s: %w", command.Name, err)
		}
		return become(filepath.Join(filepath.Dir(own), command.Name), f.Arguments(), os.Environ(), syscall.Exec)
	})
}

// become ends this process, and has a program go on as it, unless it returns.
func become(program string, arguments, environment []string, exec func(string, []string, []string) error) error {
	if err := exec(program, append([]string{program}, arguments...), environment); err != nil {
		return fmt.Errorf("running %s, which lies beside capstan: %w", program, err)
	}
	return nil
}
