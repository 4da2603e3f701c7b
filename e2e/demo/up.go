package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// up installs Cluster API on an embedded cluster and leaves it running.
func up(ctx context.Context, out *os.File, bin, dir string) error {
	claim, err := claimDir(dir)
	var taken *claimedError
	if errors.As(err, &taken) {
		return alreadyUp(dir, taken)
	}
	if err != nil {
		return err
	}
	defer claim.release()
	if err := claim.clear(); err != nil {
		return err
	}
	d := newDisplay(out)
	versions, err := build(ctx, d, bin, providers.ReleaseOne)
	if err != nil {
		return err
	}
	server, err := detach(claim, bin)
	if err != nil {
		return err
	}
	claim.release()
	if err := server.follow(ctx, d, listed(versions)); err != nil {
		d.wipe()
		if ctx.Err() != nil {
			return errors.Join(err, server.end(ctx))
		}
		return fmt.Errorf("%w\nThe logs are in %s; make down ends what may still be running", err, dir)
	}
	return nil
}

func alreadyUp(dir string, taken *claimedError) error {
	s, err := readState(dir)
	if err != nil {
		return fmt.Errorf("a cluster is being started or ended by process %d; make down ends it", taken.pid)
	}
	return fmt.Errorf("a cluster is running already: use it with kubectl --kubeconfig %s, or end it with make down", s.Kubeconfig)
}

// server is this program, detached and serving.
type server struct {
	dir     string
	command *exec.Cmd
	exited  chan struct{}
	err     error
}

// detach starts the server in a session of its own, so that it outlives this
// process and its terminal, and hands the claim over to it.
func detach(claim *claim, bin string) (*server, error) {
	log, err := os.Create(filepath.Join(claim.dir, serveLog))
	if err != nil {
		return nil, fmt.Errorf("making a log: %w", err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	s := &server{dir: claim.dir, command: exec.Command(self, serveCommand, bin, claim.dir), exited: make(chan struct{})}
	s.command.Stdout, s.command.Stderr = log, log
	s.command.ExtraFiles = []*os.File{claim.file}
	s.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the server of the cluster: %w", err)
	}
	go func() {
		s.err = s.command.Wait()
		close(s.exited)
	}()
	return s, nil
}

// follow shows the installation until it is done.
func (s *server) follow(ctx context.Context, d *display, components string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.exited:
			cancel(s.failure())
		case <-ctx.Done():
		}
	}()
	d.now("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok")
	var running state
	err := harness.Eventually(ctx, "the cluster to start", func(context.Context) (err error) {
		running, err = readState(s.dir)
		return err
	})
	if err != nil {
		return err
	}
	d.step("a cluster and a registry are running")
	d.say("\nInstalling release one on platform %s: %s", platform, components)
	cfg, err := clientcmd.BuildConfigFromFlags("", running.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	reader, err := harness.NewClient(cfg)
	if err != nil {
		return err
	}
	f := &follower{reader: reader, display: d, images: running.Images, objects: map[int64]int{}}
	v, err := f.until(ctx, 1)
	if err != nil {
		return err
	}
	d.step("revision %s is installed", v.Current())
	d.say("\nThe cluster goes on running. To use it and to end it:\n  kubectl --kubeconfig %s get clusterapi,clusteroperator\n  make down\nThe operator's log is %s",
		running.Kubeconfig, running.OperatorLog)
	return nil
}

// failure is how the server ended, and what it said.
func (s *server) failure() error {
	if s.err == nil {
		return errors.New("the cluster was told to end, as make down does")
	}
	said, err := os.ReadFile(filepath.Join(s.dir, serveLog))
	return fmt.Errorf("the server of the cluster has ended: %w: %s", errors.Join(s.err, err), bytes.TrimSpace(said))
}

// end stops the server and waits until it is gone.
func (s *server) end(ctx context.Context) error {
	return endProcess(ctx, s.command.Process.Pid, s.dir)
}

// down ends what up left running, also after a crash, and removes what is in
// its folder. Nothing running is fine.
func down(ctx context.Context, out io.Writer, dir string) error {
	claim, err := claimDir(dir)
	var taken *claimedError
	switch {
	case errors.As(err, &taken):
		if err := endProcess(ctx, taken.pid, dir); err != nil {
			return err
		}
		fmt.Fprintln(out, "the cluster is ended")
		return nil
	case err != nil:
		return err
	}
	defer claim.release()
	fmt.Fprintln(out, "no cluster is running")
	return claim.clear()
}

// endGrace is how long a server may take to stop its cluster in order.
const endGrace = 45 * time.Second

// endProcess asks the process that has claimed a folder to end, kills it when
// it does not, and returns when the folder is free and empty. Its children die
// with it. Once begun it is not given up, whatever becomes of the context.
func endProcess(ctx context.Context, pid int, dir string) error {
	if pid <= 0 {
		return fmt.Errorf("the process that uses %s has not said yet which one it is; try again", dir)
	}
	var err error
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(pid, signal) // a process that is gone needs no signal
		if err = clearSoon(context.WithoutCancel(ctx), dir); err == nil {
			return nil
		}
	}
	return fmt.Errorf("ending process %d, which uses %s: %w", pid, dir, err)
}

// clearSoon waits until a folder is free, and empties it.
func clearSoon(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	var claim *claim
	err := harness.Eventually(ctx, "the cluster to end", func(context.Context) (err error) {
		claim, err = claimDir(dir)
		return err
	})
	if err != nil {
		return err
	}
	defer claim.release()
	return claim.clear()
}
