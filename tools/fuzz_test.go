package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What go test prints about a target that it fuzzed, and whether make fuzz fails for it.
func TestOnlyAnInputFailsATarget(t *testing.T) {
	for name, c := range map[string]struct {
		printed string
		code    string
		fails   bool
	}{
		"nothing is found": {
			"fuzz: elapsed: 1m0s, execs: 225563 (4652/sec)\nPASS\nok  \texample.org/x\t60.190s\n", "0", false,
		},
		"a worker answers late": {
			"fuzz: elapsed: 1m0s, execs: 29040 (0/sec)\n--- FAIL: FuzzRead (60.84s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\texample.org/x\t60.886s\n", "1", false,
		},
		"an input fails": {
			"--- FAIL: FuzzRead (0.10s)\n    --- FAIL: FuzzRead (0.00s)\n        x_test.go:90: 3 bytes\n    \n    Failing input written to testdata/fuzz/FuzzRead/1f\nFAIL\nexit status 1\n", "1", true,
		},
		"an input fails with the same words": {
			"--- FAIL: FuzzRead (0.10s)\n    --- FAIL: FuzzRead (0.00s)\n        x_test.go:90: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzRead/1f\nFAIL\nexit status 1\n", "1", true,
		},
		"an input hangs": {
			"--- FAIL: FuzzRead (60.84s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to testdata/fuzz/FuzzRead/1f\nFAIL\n", "1", true,
		},
		"it does not compile": {
			"# example.org/x\n./x.go:1:1: syntax error\nFAIL\texample.org/x [build failed]\n", "2", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "printed"), []byte(c.printed), 0o600); err != nil {
				t.Fatal(err)
			}
			goCommand := "#!/bin/sh\ncat '" + folder + "/printed'\nexit " + c.code + "\n"
			if err := os.WriteFile(filepath.Join(folder, "go"), []byte(goCommand), 0o700); err != nil { //nolint:gosec // it is run
				t.Fatal(err)
			}
			fuzz := exec.CommandContext(t.Context(), "./fuzz.sh", "FuzzRead", "./x", "60s")
			fuzz.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
			out, err := fuzz.CombinedOutput()
			if (err != nil) != c.fails {
				t.Fatalf("%v: %s", err, out)
			}
		})
	}
}
