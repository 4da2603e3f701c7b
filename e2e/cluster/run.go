package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/crds"
)

// boot starts everything in the shortest order that works: kube-apiserver tries
// etcd until it is there, and the rest need an API to talk to.
func (c *Cluster) boot(ctx context.Context, options Options) error {
	for _, component := range []Component{Etcd, APIServer} {
		if err := c.start(component); err != nil {
			return err
		}
	}
	if err := c.waitForAPI(ctx); err != nil {
		return err
	}
	if options.Alone {
		return crds.Establish(ctx, c.admin, options.CRDs...)
	}
	if err := c.startOpenShiftAPI(ctx); err != nil {
		return err
	}
	for _, component := range []Component{ControllerManager, Scheduler} {
		if err := c.start(component); err != nil {
			return err
		}
	}
	stage, err := stageDefinition()
	if err != nil {
		return err
	}
	if err := crds.Establish(ctx, c.admin, append(slices.Clone(options.CRDs), stage)...); err != nil {
		return err
	}
	if err := c.applyStages(ctx); err != nil {
		return err
	}
	if err := c.createNode(ctx); err != nil {
		return err
	}
	if err := c.start(Kwok); err != nil {
		return err
	}
	if err := c.prove(ctx); err != nil {
		return err
	}
	if err := c.waitForOpenShiftAPI(ctx); err != nil {
		return err
	}
	if options.ServiceCA {
		c.service, err = c.startServiceCA(ctx)
	}
	return err
}

// Kill ends a component with SIGKILL, as a crash would, and returns when it is
// gone. A component that does not run stays so.
func (c *Cluster) Kill(component Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[component]; p != nil {
		p.kill()
		delete(c.running, component)
	}
}

// Restart starts a component again with the same port and data, ending it in
// order first when it still runs, and returns when it works: when the API
// answers, provided that etcd and kube-apiserver run, and when a new Deployment
// becomes Available, provided that all do.
func (c *Cluster) Restart(ctx context.Context, component Component) error {
	if err := c.restart(component); err != nil {
		return err
	}
	if !c.runs(Etcd, APIServer) {
		return nil
	}
	if err := c.waitForAPI(ctx); err != nil {
		return c.explain(fmt.Errorf("restarting %s: %w", component, err))
	}
	if !c.runs(stopOrder...) {
		return nil
	}
	if err := c.prove(ctx); err != nil {
		return c.explain(fmt.Errorf("restarting %s: %w", component, err))
	}
	return nil
}

func (c *Cluster) restart(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.end(component); err != nil {
		return err
	}
	return c.begin(component)
}

func (c *Cluster) start(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin(component)
}

// begin needs the lock, as end does.
func (c *Cluster) begin(component Component) error {
	if c.stopped {
		return errors.New("the cluster is stopped")
	}
	p, err := c.spawner.start(string(component), c.dir, c.Logs(component), c.command(component))
	if err != nil {
		return err
	}
	c.running[component] = p
	return nil
}

// end stops a component if it runs.
func (c *Cluster) end(component Component) error {
	p := c.running[component]
	if p == nil {
		return nil
	}
	delete(c.running, component)
	if component == APIServer && c.running[Etcd] == nil {
		// It would wait for etcd longer than anyone waits for it, and holds nothing.
		p.kill()
		return nil
	}
	return p.stop(grace[component])
}

func (c *Cluster) runs(components ...Component) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, component := range components {
		if c.running[component] == nil {
			return false
		}
	}
	return true
}

// dead is the error of the first component that ended without being asked to.
func (c *Cluster) dead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.running {
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState)
		default:
		}
	}
	return nil
}

// eventually repeats an attempt until it succeeds, the context ends, the cluster's
// patience is over or a component dies. Attempts get two seconds each: a kube-apiserver
// without etcd accepts a request and never answers it.
func (c *Cluster) eventually(ctx context.Context, what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	ticker := time.NewTicker(25 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		once, done := context.WithTimeout(ctx, 2*time.Second)
		err := attempt(once)
		done()
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // what fails because the context has ended tells nothing
			last = err
		}
		if dead := c.dead(); dead != nil {
			return fmt.Errorf("%s: %w", what, dead)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: last answer: %w", what, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) waitForAPI(ctx context.Context) error {
	return c.eventually(ctx, "waiting for the API", func(ctx context.Context) error {
		return c.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// explain adds the end of every log to an error, since the folder may be gone
// when somebody reads it.
func (c *Cluster) explain(err error) error {
	var logs strings.Builder
	for _, component := range stopOrder {
		data, readErr := os.ReadFile(c.Logs(component))
		if readErr != nil {
			continue
		}
		lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		for _, line := range lines[max(0, len(lines)-5):] {
			fmt.Fprintf(&logs, "\n  %s: %s", component, line)
		}
	}
	return fmt.Errorf("%w; the logs end with:%s", err, logs.String())
}

// closeIdleConnections lets go of the connections that client-go keeps for one
// access; those that the cluster's users made are theirs.
func closeIdleConnections(cfg *rest.Config) {
	if cfg == nil {
		return
	}
	if transport, err := rest.TransportFor(cfg); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
}
