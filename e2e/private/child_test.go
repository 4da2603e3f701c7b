package private_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	return harness.Eventually(ctx, c.name+" to be ready", func(ctx context.Context) error {
		if err := c.alive(); err != nil {
			return err
		}
		_, err := c.ask(ctx, "/readyz")
		return err
	})
}

// ask reads a path at the port of its health.
func (c *child) ask(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", c.health, path), nil)
	if err != nil {
		return "", err
	}
	answer, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", c.name, answer.Status)
	}
	return string(text), err
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

// freePorts gives each of the numbers a port of the loopback that nobody listened on a moment ago. All are held until the last is
// found, so that no two are the same.
func freePorts(ports ...*int) error {
	var held []net.Listener
	var problems []error
	for _, port := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			problems = append(problems, fmt.Errorf("looking for a free port: %w", err))
			break
		}
		held = append(held, listener)
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	for _, listener := range held {
		problems = append(problems, listener.Close())
	}
	return errors.Join(problems...)
}
