package main

import (
	"os"
	"runtime/debug"
)

// How much garbage may come to be before it is collected, in percent of what is in use, where the environment variable GOGC says
// nothing; the runtime's own is 100.
const (
	// operatorGarbage is small. The operator is idle for all but the seconds of a rollout, and what is resident after one stays
	// so: it trades time of the processor in those seconds for memory. What that is worth is in docs/performance.md.
	operatorGarbage = 40
	// checkerGarbage is large. The checker has little in use, and the documents of a question are as large as that; to collect
	// several times for each would take a fifth of its time, and somebody waits for the answer.
	checkerGarbage = 400
)

// collect sets it for the process.
func collect(garbage int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
