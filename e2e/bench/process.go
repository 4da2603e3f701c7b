package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
)

// peakMiB is the most memory that a process ever had resident.
func peakMiB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		var kib float64
		if _, err := fmt.Sscanf(lines.Text(), "VmHWM: %f kB", &kib); err == nil {
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("the kernel tells no VmHWM of process %d", pid)
}
