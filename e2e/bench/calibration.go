package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The reference is how long the workload takes on the machine that absolute
// targets are written for: one core of the Xeon that docs/performance.md names.
const reference = 100 * time.Millisecond

// rounds is how often the workload is done; the middle of them counts.
const rounds = 5

// pace is how many times as long as on the machine of reference something takes
// here and now: by the clock, and by the time of the processor.
type pace struct{ clock, processor float64 }

// calibrate times a fixed workload in this process. Absolute times are compared
// with their targets only after being divided by it, so that a slower machine,
// or one with other work to do, misses none because of that.
func calibrate() (pace, error) {
	var clocks, processors []float64
	for range rounds {
		began, used := time.Now(), ownProcessor()
		if err := workload(); err != nil {
			return pace{}, err
		}
		clocks = append(clocks, time.Since(began).Seconds())
		processors = append(processors, (ownProcessor() - used).Seconds())
	}
	slices.Sort(clocks)
	slices.Sort(processors)
	return pace{clocks[rounds/2] / reference.Seconds(), processors[rounds/2] / reference.Seconds()}, nil
}

// between is the pace of what lies between two calibrations.
func between(before, after pace) pace {
	return pace{(before.clock + after.clock) / 2, (before.processor + after.processor) / 2}
}

// workload is pure Go of the kind that the operator spends its time with: JSON
// is read into trees, which are walked, and written again.
func workload() error {
	var entries []string
	for i := range 1000 {
		entries = append(entries, fmt.Sprintf(`"field-%d": {"type": "string", "maxLength": %d, "enum": ["a", "b", null, true]}`, i, i))
	}
	text := []byte("{" + strings.Join(entries, ",") + "}")
	for range 20 {
		var tree map[string]any
		if err := json.Unmarshal(text, &tree); err != nil {
			return fmt.Errorf("reading the workload: %w", err)
		}
		if got := leaves(tree); got != 6000 {
			return errors.New("the workload is not what it was")
		}
		if _, err := json.Marshal(tree); err != nil {
			return fmt.Errorf("writing the workload: %w", err)
		}
	}
	return nil
}

func leaves(value any) int {
	count := 0
	switch node := value.(type) {
	case map[string]any:
		for _, child := range node {
			count += leaves(child)
		}
	case []any:
		for _, child := range node {
			count += leaves(child)
		}
	default:
		count = 1
	}
	return count
}

// ownProcessor is the time of the processor that this process has used.
func ownProcessor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
