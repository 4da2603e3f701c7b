package capiworld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// Deployments whose managers a world runs.
const (
	Core = "capi-controller-manager"
	Dev  = "capd-controller-manager"
	// Provider is that of the provider that is proved here. It goes through a proxy, so that it can be ended after a write, unless the
	// world is direct.
	Provider = "openshift-install-controller-manager"
)

// grace is how long a manager may take to end.
const grace = 15 * time.Second

// program is what runs for a Deployment.
type program struct {
	// binary is below the folder of binaries.
	binary string
	// more are the arguments for what a process has not.
	more func(p *place) []string
}

// place is what a process is given in place of a Pod.
type place struct {
	kubeconfig, certificates string
	health, webhooks, first  int
}

// programs are by the name of their Deployment, with what they are told beside its arguments. No process has a namespace to keep a Lease in, as Cluster API's managers find it.
var programs = map[string]program{
	Core: {"capi/core", func(p *place) []string {
		return []string{
			"--kubeconfig=" + p.kubeconfig, "--leader-elect=false", "--diagnostics-address=0", "--health-addr=" + loopback(p.health),
			"--webhook-port=" + strconv.Itoa(p.webhooks), "--webhook-cert-dir=" + p.certificates,
			// Else 50 and 100, by which an API server on two processors falls half a minute behind with its watches: each manager goes by what
			// was so then, is refused, and asks again.
			"--cluster-concurrency=10", "--machine-concurrency=10",
		}
	}},
	Dev: {"capi/devinfra", func(p *place) []string {
		return []string{
			"--kubeconfig=" + p.kubeconfig, "--leader-elect=false", "--diagnostics-address=0", "--health-addr=" + loopback(p.health),
			"--first-port=" + strconv.Itoa(p.first),
		}
	}},
	Provider: {"capstan-provider", func(p *place) []string {
		return []string{"--kubeconfig=" + p.kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=" + loopback(p.health)}
	}},
}

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// Manager is the process of a Deployment, which may end and be started again.
type Manager struct {
	// Log is the file with everything that it wrote.
	Log string
	// User is the ServiceAccount that it works as.
	User string

	world *World
	name  string
	// between is a proxy before the API server, nil for none.
	between *proxy.Proxy
	command []string
	// binary is which of the words of the command names the program.
	binary  int
	health  int
	process *cluster.Process
	// ended says that it was meant to end.
	ended bool
	// more are the arguments that it was started with last.
	more []string
}

// StartManager starts what an installed Deployment would run, and waits for nothing.
func (w *World) StartManager(ctx context.Context, deployment string) error {
	m := w.managers[deployment]
	if m == nil {
		var err error
		if m, err = w.newManager(ctx, deployment, deployment); err != nil {
			return fmt.Errorf("making the manager of Deployment %s: %w", deployment, err)
		}
		w.managers[deployment] = m
	}
	return m.Start()
}

// Another makes one more manager of a Deployment that is not started, as of a second replica. It is stopped with the world.
func (w *World) Another(ctx context.Context, deployment, name string) (*Manager, error) {
	m, err := w.newManager(ctx, deployment, name)
	if err != nil {
		return nil, fmt.Errorf("making another manager of Deployment %s: %w", deployment, err)
	}
	w.managers[name] = m
	return m, nil
}

func (w *World) newManager(ctx context.Context, deployment, name string) (*Manager, error) {
	of := &appsv1.Deployment{}
	if err := w.API.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: deployment}, of); err != nil {
		return nil, err
	}
	pod := of.Spec.Template.Spec
	m := &Manager{
		world: w, name: name, Log: filepath.Join(w.Cluster.Dir(), name+".log"),
		User: "system:serviceaccount:" + of.Namespace + ":" + pod.ServiceAccountName,
	}
	kubeconfig, err := m.access(of.Namespace, deployment == Provider && !w.direct)
	if err != nil {
		return nil, err
	}
	p := &place{kubeconfig: kubeconfig, certificates: filepath.Join(w.Cluster.Dir(), name+"-certificates"), first: w.ports.first}
	if err := w.Cluster.ReservePorts(&p.health, &p.webhooks); err != nil {
		return nil, err
	}
	if err := w.mount(ctx, pod, p.certificates); err != nil {
		return nil, err
	}
	m.health = p.health
	run := programs[deployment]
	at := max(0, slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == "manager" }))
	// A process gets no values of fields of a Pod; those that managers ask for are these.
	environment := []string{"env", "POD_NAMESPACE=" + of.Namespace, "POD_NAME=" + name, "POD_UID=" + string(of.UID), "POD_IP=127.0.0.1"}
	for _, variable := range pod.Containers[at].Env {
		if variable.Value != "" {
			environment = append(environment, variable.Name+"="+variable.Value)
		}
	}
	if deployment == Provider { // Cluster API's managers are not on trial
		environment = slices.Concat(w.Detecting(), environment)
	}
	m.binary = len(environment)
	program, err := w.program(deployment, pod.Containers[at])
	if err != nil {
		return nil, err
	}
	m.command = slices.Concat(environment, []string{program}, arguments(pod.Containers[at]), run.more(p))
	return m, nil
}

// arguments are those of a container, whose command may have some, too.
func arguments(of corev1.Container) []string {
	return slices.Concat(of.Command[min(1, len(of.Command)):], of.Args)
}

// access writes a kubeconfig of the manager's ServiceAccount, by way of the proxy where there is to be one.
func (m *Manager) access(namespace string, proxied bool) (string, error) {
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	if !proxied {
		return m.world.Cluster.KubeconfigFor(m.User, groups...)
	}
	config, err := m.world.Cluster.ConfigFor(m.User, groups...)
	if err != nil {
		return "", err
	}
	if m.between, err = proxy.Start(config); err != nil {
		return "", err
	}
	path := filepath.Join(m.world.Cluster.Dir(), m.name+".kubeconfig")
	return path, harness.WriteKubeconfig(path, m.between.URL())
}

// Between is the proxy between the manager and the API server; only Provider's has one, and none in a world that is direct.
func (m *Manager) Between() *proxy.Proxy { return m.between }

// mount writes the Secret of the serving certificate, if the Pod mounts one.
func (w *World) mount(ctx context.Context, pod corev1.PodSpec, folder string) error {
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Secret != nil })
	if at < 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of a Secret: %w", err)
	}
	name := pod.Volumes[at].Secret.SecretName
	return harness.Eventually(ctx, "Secret "+name, func(ctx context.Context) error {
		kept := &corev1.Secret{}
		if err := w.API.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: name}, kept); err != nil {
			return err
		}
		for file, content := range kept.Data {
			if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
				return fmt.Errorf("writing Secret %s: %w", name, err)
			}
		}
		return nil
	})
}

// Start starts the process, which must not run, with more arguments.
func (m *Manager) Start(more ...string) (err error) {
	m.ended, m.more = false, more
	m.process, err = m.world.Cluster.Spawn(m.name, m.Log, slices.Concat(m.command, more)...)
	return err
}

// StartLater is Start of Provider's manager with a clock that is ahead by a duration, which SetClock changes.
func (m *Manager) StartLater(by time.Duration, more ...string) (err error) {
	if err := m.SetClock(by); err != nil {
		return err
	}
	m.ended, m.more = false, nil
	command := slices.Concat(m.command, []string{"--clock-offset-file=" + m.offset()}, more)
	command[m.binary] += "-e2e"
	m.process, err = m.world.Cluster.Spawn(m.name, m.Log, command...)
	return err
}

// SetClock has the clock of a manager that was started by StartLater jump to so much ahead of the real time, or behind it. The manager
// notices within moments.
func (m *Manager) SetClock(by time.Duration) error {
	next := m.offset() + ".new" // it is read at any time
	if err := os.WriteFile(next, []byte(by.String()), 0o600); err != nil {
		return fmt.Errorf("writing the offset of a clock: %w", err)
	}
	if err := os.Rename(next, m.offset()); err != nil {
		return fmt.Errorf("writing the offset of a clock: %w", err)
	}
	return nil
}

// offset is the file from which a manager with a steered clock has it.
func (m *Manager) offset() string {
	return filepath.Join(m.world.Cluster.Dir(), m.name+".clock-offset")
}

// Ready waits until the manager says that it is.
func (m *Manager) Ready(ctx context.Context) error {
	return harness.Eventually(ctx, m.name+" to be ready", func(ctx context.Context) error {
		if err := m.alive(); err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+loopback(m.health)+"/readyz", nil)
		if err != nil {
			return err
		}
		answer, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s answers %s: %s", m.name, answer.Status, text)
		}
		return err
	})
}

// Kill ends the process with SIGKILL, as a crash would, and returns when it is gone.
func (m *Manager) Kill() {
	m.ended = true
	m.process.Kill()
}

// Hang has the process do nothing until GoOn: it keeps its connections, and answers nobody.
func (m *Manager) Hang() error { return syscall.Kill(m.PID(), syscall.SIGSTOP) }

// GoOn ends Hang.
func (m *Manager) GoOn() error { return syscall.Kill(m.PID(), syscall.SIGCONT) }

// PID is the process.
func (m *Manager) PID() int { return m.process.PID() }

// Stop asks the process to end, and returns when it has.
func (m *Manager) Stop() error {
	m.ended = true
	if m.process == nil {
		return nil
	}
	return m.process.Stop(grace)
}

// close stops the process, and what was before it.
func (m *Manager) close() error {
	err := m.Stop()
	if m.between != nil {
		err = errors.Join(err, m.between.Stop())
	}
	return err
}

// lostLease is what a manager says last that could not renew its Lease in time.
const lostLease = "leader election lost"

// alive is an error once the process has ended, and was not meant to. One that has lost its Lease, as happens where other work takes the
// machine's time, is started again, as a kubelet does.
func (m *Manager) alive() error {
	switch {
	case !m.hasEnded() || m.ended:
		return nil
	case strings.Contains(m.Tail(1), lostLease):
		return m.Start(m.more...)
	}
	return fmt.Errorf("%s has ended: %w; its log ends with\n%s", m.name, errors.Join(m.process.Failure()), m.Tail(20))
}

// hasEnded says that the process is gone, whether it was meant to end or not. One that was never started is not.
func (m *Manager) hasEnded() bool {
	if m.process == nil {
		return false
	}
	select {
	case <-m.process.Exited():
		return true
	default:
		return false
	}
}

// Tail is the end of the log.
func (m *Manager) Tail(lines int) string {
	return cluster.Tail(m.Log, lines)
}
