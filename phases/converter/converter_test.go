package converter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/capstan-capi/capstan/phases/stub"
)

const (
	// secret stands in values that tests look for in errors.
	secret = "hunter2"
	// old is a stub of spec 2, and refusable one that spec 3 has no equivalent of.
	old       = `{"ignition":{"version":"2.2.0"},"passwd":{"users":[{"name":"core","passwordHash":"` + secret + `"}]}}`
	refusable = `{"ignition":{"version":"2.2.0"},"networkd":{"units":[{"name":"` + secret + `.network"}]}}`
)

// built is the real binary, in a folder of its own.
var built string

func TestMain(m *testing.M) {
	code, err := within(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func within(m *testing.M) (int, error) {
	folder, err := os.MkdirTemp("", "converter")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	built = filepath.Join(folder, name)
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", built, "../../cmd/capstan-stub").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building it: %w\n%s", err, out)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil {
		return 1, err
	}
	return code, nil
}

// script stands for the binary.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConvert_the_real_binary_converts(t *testing.T) {
	text, err := at(built, time.Minute).Convert(t.Context(), []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	if version, err := stub.Read(text); err != nil || version != stub.Converted || !strings.Contains(string(text), secret) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestConvert_takes_as_much_as_a_Secret_has_room_for(t *testing.T) {
	whole := `{"ignition":{"version":"3.2.0"},"a":"` + strings.Repeat("x", stub.MaxBytes-39) + `"}`
	if text, err := at(built, time.Minute).Convert(t.Context(), []byte(whole)); err != nil || string(text) != whole || len(text) != stub.MaxBytes {
		t.Errorf("%d bytes become %d, %v", len(whole), len(text), err)
	}
	var why stub.UnconvertibleError
	if _, err := at(built, time.Minute).Convert(t.Context(), []byte(whole+" ")); !errors.As(err, &why) || !strings.Contains(why.Why, "more than 1048576 bytes") {
		t.Error(err)
	}
}

func TestConvert_a_refusal_is_terminal_and_names_the_field(t *testing.T) {
	text, err := at(built, time.Minute).Convert(t.Context(), []byte(refusable))
	if want := (stub.UnconvertibleError{At: "networkd.units", Why: "spec 3 has no such units"}); text != nil || !errors.Is(err, want) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestConvert_gives_the_binary_nothing_but_its_input(t *testing.T) {
	t.Setenv("SECRET", secret)
	open, err := os.Create(filepath.Join(t.TempDir(), "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	path := script(t, `test "$#" = 0 && test -z "$SECRET" && test "$(pwd)" = / && test "$(cat)" = '`+old+`' || exit 1
ls -l /proc/self/fd | grep -q kubeconfig && exit 2
echo '{"ignition":{"version":"3.1.0"}}'`)
	if text, err := at(path, time.Minute).Convert(t.Context(), []byte(old)); err != nil || !strings.Contains(string(text), "3.1.0") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestConvert_what_goes_wrong_is_tried_again: no such error is terminal, or has anything of what the binary writes.
func TestConvert_what_goes_wrong_is_tried_again(t *testing.T) {
	for what, c := range map[string]struct{ path, want string }{
		"a missing binary":               {filepath.Join(t.TempDir(), name), "/capstan-stub: the file is missing; it belongs beside the operator's own"},
		"a folder":                       {t.TempDir(), "permission denied"},
		"a crash":                        {script(t, "echo panic: "+secret+" >&2; exit 2"), "exit status 2"},
		"a kill from outside":            {script(t, "kill -9 $$"), "signal: killed"},
		"rubbish":                        {script(t, "echo "+secret), "what it writes is no Ignition config of spec 3"},
		"nothing":                        {script(t, "exit 0"), "what it writes is no Ignition config of spec 3"},
		"a stub that is as old":          {script(t, "cat"), "what it writes is no Ignition config of spec 3"},
		"too much":                       {script(t, "cat >/dev/null; exec cat /dev/zero"), "it writes more than 2097152 bytes"},
		"a refusal in no JSON":           {script(t, "echo "+secret+" >&2; exit 3"), "it refuses the user data without a reason that can be read"},
		"a refusal without a reason":     {script(t, `echo '{"at":"`+secret+`"}' >&2; exit 3`), "it refuses the user data without a reason that can be read"},
		"a refusal that does not end":    {script(t, `printf '{"at":"%05000d","why":"`+secret+`"}' 1 >&2; exit 3`), "it refuses the user data without a reason that can be read"},
		"an input that nobody reads":     {script(t, "exec <&-; echo "+secret), "what it writes is no Ignition config of spec 3"},
		"an output that is held by some": {script(t, "sleep 5 & echo '"+`{"ignition":{"version":"3.1.0"}}`+"'"), "WaitDelay"},
	} {
		t.Run(what, func(t *testing.T) {
			text, err := at(c.path, time.Minute).Convert(t.Context(), []byte(strings.Repeat(" ", 100_000)+old))
			var terminal interface{ Terminal() bool }
			if err == nil || text != nil || errors.As(err, &terminal) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%.80q, %v", text, err)
			}
		})
	}
}

func TestConvert_what_hangs_is_killed(t *testing.T) {
	c := at(script(t, "exec sleep 600"), 50*time.Millisecond)
	if _, err := c.Convert(t.Context(), []byte(old)); err == nil || !strings.Contains(err.Error(), "it has not ended within 50ms, and was killed") {
		t.Error(err)
	}
}

func TestConvert_runs_one_at_a_time_and_ends_with_its_context(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	c := at(script(t, "echo >"+begun+"; exec sleep 600"), time.Minute)
	first := make(chan error)
	go func() {
		_, err := c.Convert(ctx, []byte(old))
		first <- err
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	second := *c
	second.timeout = 10 * time.Millisecond
	if _, err := second.Convert(t.Context(), []byte(old)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for a run of") {
		t.Errorf("beside the first: %v", err)
	}
	end()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBeside_is_in_the_folder_of_the_process(t *testing.T) {
	c, err := Beside()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if c.path != filepath.Join(filepath.Dir(own), name) || c.timeout != runTimeout {
		t.Errorf("%s, %s", c.path, c.timeout)
	}
}
