package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// spawner starts every process of a cluster from one OS thread that ends only
// with the spawner. The kernel sends the parent-death signal when the thread
// that started a child ends, not the whole parent, so a child started from any
// other thread of a Go program could be killed at random.
type spawner struct {
	starts chan func()
}

func newSpawner() *spawner {
	s := &spawner{starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range s.starts {
			start()
		}
	}()
	return s
}

// close ends the thread; whatever process still runs dies with it.
func (s *spawner) close() { close(s.starts) }

// process is one started child; err may be read once exited is closed.
type process struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
	err    error
}

// start runs the command in dir with both outputs appended to the log file. The
// child has its own process group, so that an interrupt from a terminal reaches
// the parent alone and the order of stopping stays ours.
func (s *spawner) start(name, dir, logFile string, command []string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	s.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// stop asks the process to end and, when it has not after the grace period,
// kills it. It returns when the process is gone, with an error when it had to
// be killed.
func (p *process) stop(grace time.Duration) error {
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("stopping %s: still running %s after SIGTERM, killed", p.name, grace)
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// signal ignores its error: the only one possible says that the process is gone.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }
