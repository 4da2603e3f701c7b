package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticks is how many parts of a second the kernel tells processes' times in.
const ticks = 100

// processorSeconds is the time of the processor that a process has used.
func processorSeconds(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the times of process %d: %w", pid, err)
	}
	// The fields begin after the name, which may hold spaces, with the third.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	total := 0
	for _, at := range []int{14, 15} {
		if len(fields) <= at {
			return 0, fmt.Errorf("the kernel tells no times of process %d", pid)
		}
		used, err := strconv.Atoi(fields[at-3])
		if err != nil {
			return 0, fmt.Errorf("reading the times of process %d: %w", pid, err)
		}
		total += used
	}
	return float64(total) / ticks, nil
}

// peakMiB is the most memory that a process ever had resident.
func peakMiB(pid int) (float64, error) { return memoryMiB(pid, "VmHWM") }

// residentMiB is what it has resident now.
func residentMiB(pid int) (float64, error) { return memoryMiB(pid, "VmRSS") }

func memoryMiB(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		var kib float64
		if _, err := fmt.Sscanf(lines.Text(), field+": %f kB", &kib); err == nil {
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("the kernel tells no %s of process %d", field, pid)
}
