package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// UserAgent is what the operator's requests carry in the audit log.
const UserAgent = "capstan"

// steeredBinary is the operator built with the tag e2e.
const steeredBinary = "capstan-e2e"

// stopGrace is how long the operator may take to end after SIGTERM.
const stopGrace = 15 * time.Second

// OperatorOptions are the flags that matter to a test. Zero values are those of
// a single operator with a cache of its own.
type OperatorOptions struct {
	// Release is the version to report; empty means 4.22.0.
	Release string
	// LeaderElect makes the operator wait for the Lease.
	LeaderElect bool
	// CacheDir keeps provider images from run to run; empty means the
	// environment's own folder, the same for all of its operators.
	CacheDir string
	// SteeredClock lets Advance set the operator's clock. It runs bin/capstan-e2e,
	// since the product has no such clock.
	SteeredClock bool
	// Through is the URL of a proxy that has the operator's credentials, to use
	// instead of the API server itself.
	Through string
	// Arguments are added after all others.
	Arguments []string
}

// Operator is a child process that runs the operator as deploy's
// ServiceAccount. It dies with the environment, and with this process.
type Operator struct {
	// Started is the moment before the process was started.
	Started time.Time
	// Log is the file with everything it wrote.
	Log string

	process *cluster.Process
	clock   *steeredClock
}

// StartOperator starts an operator and does not wait for anything.
func (e *Environment) StartOperator(o OperatorOptions) (*Operator, error) {
	kubeconfig, err := e.operatorKubeconfig(o.Through)
	if err != nil {
		return nil, err
	}
	if o.SteeredClock {
		offset, err := e.clock.file(e.Cluster.Dir())
		if err != nil {
			return nil, err
		}
		o.Arguments = append(slices.Clone(o.Arguments), "--clock-offset-file="+offset)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	operator := &Operator{Log: filepath.Join(e.Cluster.Dir(), fmt.Sprintf("operator-%d.log", len(e.operators)+1)), Started: time.Now(), clock: &e.clock}
	operator.process, err = e.Cluster.Spawn("the operator", operator.Log, e.command(kubeconfig, o)...)
	if err != nil {
		return nil, err
	}
	e.operators = append(e.operators, operator)
	return operator, nil
}

// The operator is deploy's ServiceAccount, and has its rights and no more.
const (
	operatorUser   = "system:serviceaccount:" + OperatorNamespace + ":" + ServiceAccount
	operatorGroup  = "system:serviceaccounts"
	operatorGroups = operatorGroup + ":" + OperatorNamespace
)

// OperatorConfig is the operator's access, for a proxy that stands before it.
func (e *Environment) OperatorConfig() (*rest.Config, error) {
	return e.Cluster.ConfigFor(operatorUser, operatorGroup, operatorGroups)
}

func (e *Environment) operatorKubeconfig(through string) (string, error) {
	if through == "" {
		return e.Cluster.KubeconfigFor(operatorUser, operatorGroup, operatorGroups)
	}
	path := filepath.Join(e.Cluster.Dir(), "proxy.kubeconfig")
	return path, WriteKubeconfig(path, through)
}

// WriteKubeconfig writes a kubeconfig without credentials into a file, for who goes through a proxy that has them.
func WriteKubeconfig(path, through string) error {
	const here = "proxy"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{here: {Server: through}},
		Contexts:       map[string]*clientcmdapi.Context{here: {Cluster: here}},
		CurrentContext: here,
	}, path)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of the proxy: %w", err)
	}
	return nil
}

func (e *Environment) command(kubeconfig string, o OperatorOptions) []string {
	if o.Release == "" {
		o.Release = "4.22.0"
	}
	if o.CacheDir == "" {
		o.CacheDir = filepath.Join(e.Cluster.Dir(), "images")
	}
	binary := "capstan"
	if o.SteeredClock {
		binary = steeredBinary
	}
	return slices.Concat(e.Detecting(), []string{
		filepath.Join(e.bin, binary), "operator",
		"--kubeconfig=" + kubeconfig,
		"--release-version=" + o.Release,
		"--operator-namespace=" + OperatorNamespace,
		"--capi-namespace=" + CAPINamespace,
		"--cache-dir=" + o.CacheDir,
		"--leader-elect=" + strconv.FormatBool(o.LeaderElect),
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
	}, o.Arguments)
}

// Detecting are the words before a command that reads from caches of client-go by which it panics once it has changed what a cache keeps;
// none where that was not asked for.
func (e *Environment) Detecting() []string {
	if !e.noMutations {
		return nil
	}
	return []string{"env", "KUBE_CACHE_MUTATION_DETECTOR=true"}
}

// Stop asks the operator to end, as a kubelet would, and returns when it has;
// its error says that the operator did not end by itself or not with exit code
// 0. Stopping one that is gone does nothing.
func (o *Operator) Stop() error {
	select {
	case <-o.process.Exited():
		return nil
	default:
	}
	if err := o.process.Stop(stopGrace); err != nil {
		return err
	}
	if err := o.process.Failure(); err != nil {
		return fmt.Errorf("stopping the operator: %w; see %s", err, o.Log)
	}
	return nil
}

// Terminate asks the operator to end, as a kubelet would, and does not wait.
func (o *Operator) Terminate() { o.process.Terminate() }

// Kill ends the operator with SIGKILL and returns when it is gone.
func (o *Operator) Kill() { o.process.Kill() }

// PID is the operator's process.
func (o *Operator) PID() int { return o.process.PID() }

// Exited is closed when the operator is gone, for whatever reason.
func (o *Operator) Exited() <-chan struct{} { return o.process.Exited() }

// Failure is how an operator that is gone has ended: nil for exit code 0.
func (o *Operator) Failure() error { return o.process.Failure() }

// Context ends when the operator does, with a cause that says so.
func (o *Operator) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		select {
		case <-o.Exited():
			failure := o.Failure()
			if failure == nil {
				failure = errors.New("exit status 0")
			}
			cancel(fmt.Errorf("the operator has ended by itself: %w; its log %s ends with %q", failure, o.Log, cluster.Tail(o.Log, 1)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
