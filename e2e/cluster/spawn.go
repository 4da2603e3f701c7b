package cluster

import (
	"os"
	"strings"
	"syscall"
	"time"
)

// Process is a program that runs beside the cluster's own; see Spawn.
type Process struct{ process *process }

// Spawn starts a program in the cluster's folder with both outputs appended to
// the log file. It ends with the cluster at the latest, and with this process
// in whatever way that ends.
func (c *Cluster) Spawn(name, logFile string, command ...string) (*Process, error) {
	p, err := c.spawner.start(name, c.dir, logFile, command)
	if err != nil {
		return nil, err
	}
	return &Process{p}, nil
}

// Stop asks the program to end and kills it when it has not after the grace
// period. It returns when the program is gone, with an error when it had to be
// killed.
func (p *Process) Stop(grace time.Duration) error { return p.process.stop(grace) }

// Terminate asks the program to end, and does not wait.
func (p *Process) Terminate() { p.process.signal(syscall.SIGTERM) }

// Kill ends the program with SIGKILL, as a crash would, and returns when it is
// gone.
func (p *Process) Kill() { p.process.kill() }

// Exited is closed when the program is gone, for whatever reason.
func (p *Process) Exited() <-chan struct{} { return p.process.exited }

// Failure is how the program ended: nil for exit code 0. It may be asked for
// once Exited is closed.
func (p *Process) Failure() error { return p.process.err }

// Tail is the last lines of a log, or why it cannot be read.
func Tail(log string, lines int) string {
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// PID is the program's process, also when it is gone.
func (p *Process) PID() int { return p.process.cmd.Process.Pid }
