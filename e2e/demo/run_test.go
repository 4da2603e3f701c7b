package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const bin = "../../bin"

// TestMain lets up start this test binary again, as it does with the demo's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheDemoInstallsUpgradesAndReports(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := demonstrate(t.Context(), out, absolute(t, bin), dir, (*demonstration).play); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	const way = "WaitingOnInfra -> Planning -> Applying -> Pruning -> Installed -> Planning -> Applying -> Pruning -> Installed"
	if got := pathOf(r.Transitions); got != way || !strings.Contains(output, way) {
		t.Errorf("went %s, want %s:\n%s", got, way, output)
	}
	if r.State != harness.Installed || !strings.HasSuffix(r.CurrentRevision, "-2") || r.Platform != "AWS" {
		t.Errorf("ended with %+v", r)
	}
	for name, e := range map[string]effort{"install": r.Install, "upgrade": r.Upgrade} {
		if e.Seconds <= 0 || e.Objects < 50 || e.Writes < e.Objects || e.Requests < e.Writes {
			t.Errorf("the %s took %+v", name, e)
		}
	}
	if strings.Contains(output, "vsphere  v") || strings.Contains(output, "powervs  v") {
		t.Errorf("providers of other platforms were installed:\n%s", output)
	}
	nothingRuns(t, dir)
}

func TestUpLeavesAClusterRunningThatDownEndsAlsoAfterACrash(t *testing.T) {
	dir := t.TempDir()
	output := captured(t, func(out *os.File) {
		if err := up(t.Context(), out, absolute(t, bin), dir); err != nil {
			t.Fatal(err)
		}
	})
	running, err := readState(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = down(context.Background(), io.Discard, dir) })
	if !strings.Contains(output, "--kubeconfig "+running.Kubeconfig) {
		t.Errorf("the kubeconfig %s is not told:\n%s", running.Kubeconfig, output)
	}
	if err := up(t.Context(), os.Stdout, absolute(t, bin), dir); err == nil || !strings.Contains(err.Error(), "make down") {
		t.Errorf("a second up gives %v, want the way out", err)
	}
	if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	nothingRuns(t, dir)
	var said strings.Builder
	if err := errors.Join(down(t.Context(), &said, dir), down(t.Context(), &said, dir)); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, dir); len(left) > 1 {
		t.Errorf("down leaves %v", left)
	}
}

func TestDownEndsAClusterThatIsStillStarting(t *testing.T) {
	dir := t.TempDir()
	ended := make(chan error, 1)
	go func() {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err == nil {
			defer null.Close()
			err = up(t.Context(), null, absolute(t, bin), dir)
		}
		ended <- err
	}()
	eventually(t, "a server with a cluster", func() bool {
		pid := pidIn(filepath.Join(dir, lockFile))
		return pid != 0 && pid != os.Getpid() && len(processesIn(dir)) > 1
	})
	var said strings.Builder
	if err := down(t.Context(), &said, dir); err != nil || !strings.Contains(said.String(), "ended") {
		t.Errorf("down says %q: %v", said.String(), err)
	}
	if err := <-ended; err == nil {
		t.Error("up succeeds although its cluster was ended")
	}
	nothingRuns(t, dir)
	if left := entries(t, dir); len(left) > 1 {
		t.Errorf("down leaves %v", left)
	}
}

func TestAnInterruptedDemoLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		eventually(t, "an operator", func() bool {
			logs, _ := filepath.Glob(filepath.Join(dir, "cluster", "operator-*.log"))
			return len(logs) > 0
		})
		interrupt()
	}()
	captured(t, func(out *os.File) {
		if err := demonstrate(ctx, out, absolute(t, bin), dir, (*demonstration).play); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupted demo ends with %v", err)
		}
	})
	nothingRuns(t, dir)
	if left := entries(t, dir); len(left) > 1 {
		t.Errorf("the demo leaves %v", left)
	}
}

// captured runs a function with a file to write to, and returns what it wrote.
func captured(t *testing.T, run func(*os.File)) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	run(out)
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + string(data))
	return string(data)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	eventually(t, "no process in "+dir, func() bool { return len(processesIn(dir)) == 0 })
}

// processesIn are the processes that work in a folder or below it.
func processesIn(dir string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is right
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) {
			found = append(found, link)
		}
	}
	return found
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := harness.Eventually(ctx, what, func(context.Context) error {
		if is() {
			return nil
		}
		return errors.New("not yet")
	})
	if err != nil {
		t.Error(err)
	}
}
