package private_test

import (
	"context"
	"fmt"
	"io"
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
	c := &child{name: name, health: health}
	var err error
	c.process, err = plane.Spawn(name, c.log(), command...)
	return c, err
}

// log is the file with everything that it wrote.
func (c *child) log() string { return filepath.Join(plane.Dir(), c.name+".log") }

// ready waits until the program says that it is.
func (c *child) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ask, answered := harness.Unless(c.process.Exited(), func(ctx context.Context) error {
		_, err := c.ask(ctx, "/readyz")
		return err
	})
	if err := harness.Eventually(ctx, c.name+" to be ready", ask); err != nil || *answered {
		return err
	}
	return c.alive()
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
		return fmt.Errorf("%s has ended: %w; its log ends with\n%s", c.name, c.process.Failure(), cluster.Tail(c.log(), 20))
	default:
		return nil
	}
}
