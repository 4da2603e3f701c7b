//go:build private

package private_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// child is a program that runs beside the control plane, and is never started again.
type child struct {
	name string
	// health is the port that it tells at whether it is ready.
	health  int
	process *cluster.Process
}

// spawn starts a program; its log is in the folder of the control plane, under its name.
func spawn(name string, health int, command ...string) (*child, error) {
	process, err := plane.Spawn(name, filepath.Join(plane.Dir(), name+".log"), command...)
	if err != nil {
		return nil, err
	}
	return &child{name: name, health: health, process: process}, nil
}

// ready waits until the program says that it is.
func (c *child) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asker := &http.Client{Timeout: 2 * time.Second}
	return harness.Eventually(ctx, c.name+" to be ready", func(ctx context.Context) error {
		if err := c.alive(); err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", c.health), nil)
		if err != nil {
			return err
		}
		answer, err := asker.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", answer.Status)
		}
		return nil
	})
}

// alive is an error once the program has ended.
func (c *child) alive() error {
	select {
	case <-c.process.Exited():
		return fmt.Errorf("%s has ended: %w", c.name, c.process.Failure())
	default:
		return nil
	}
}

// freePorts gives each of the numbers a port of the loopback that nobody listened on a moment ago.
func freePorts(ports ...*int) error {
	for _, port := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("looking for a free port: %w", err)
		}
		// All stay open until the last is found: no two are the same.
		defer listener.Close()
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}
