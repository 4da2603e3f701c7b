package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// etcdData is etcd's folder of data, within the cluster's.
const etcdData = "etcd"

// Snapshot copies all that is stored, as it is at a moment, and returns the name
// of the copy for Restore. Nobody notices but by an answer that takes a little
// longer: etcd stands still meanwhile.
func (c *Cluster) Snapshot() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if etcd := c.running[Etcd]; etcd != nil {
		etcd.signal(syscall.SIGSTOP)
		defer etcd.signal(syscall.SIGCONT)
	}
	copied, err := os.MkdirTemp(c.dir, "snapshot-")
	if err != nil {
		return "", fmt.Errorf("copying what is stored: %w", err)
	}
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(c.dir, etcdData))); err != nil {
		return "", fmt.Errorf("copying what is stored: %w", err)
	}
	return copied, nil
}

// Restore puts back what was stored when a snapshot was made, as after the loss
// of an etcd: everything that was written since is forgotten, and
// resourceVersions are counted from there once more. All components end and are
// started anew; it returns when the cluster has proved itself.
func (c *Cluster) Restore(ctx context.Context, snapshot string) error {
	if err := c.rewind(snapshot); err != nil {
		return c.explain(fmt.Errorf("restoring what was stored: %w", err))
	}
	for _, component := range slices.Backward(stopOrder) {
		if err := c.start(component); err != nil {
			return fmt.Errorf("restoring what was stored: %w", err)
		}
		if component != APIServer {
			continue
		}
		if err := c.waitForAPI(ctx); err != nil {
			return c.explain(fmt.Errorf("restoring what was stored: %w", err))
		}
	}
	if c.service != nil {
		c.service.stop() // what it has seen is of the time that is forgotten
		var err error
		if c.service, err = c.startServiceCA(ctx); err != nil {
			return err
		}
	}
	if err := c.prove(ctx); err != nil {
		return c.explain(fmt.Errorf("restoring what was stored: %w", err))
	}
	return nil
}

// rewind ends all components and exchanges the data.
func (c *Cluster) rewind(snapshot string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, component := range stopOrder {
		if err := c.end(component); err != nil {
			return err
		}
	}
	data := filepath.Join(c.dir, etcdData)
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	if err := os.Mkdir(data, 0o700); err != nil { // etcd insists on these rights
		return err
	}
	return os.CopyFS(data, os.DirFS(snapshot))
}
