package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage may come to be before it is collected, in
// percent of what is in use, where the environment variable GOGC says nothing.
// The operator is idle for all but the seconds of a rollout, and what is resident
// after one stays so: half of the runtime's own 100 trades time of the processor
// in those seconds for memory. What it is worth is in docs/performance.md.
const garbagePercent = 50

// collectOften sets it for the process.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
