package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// looksAtWaiting is how often it is looked how much was computed.
const looksAtWaiting = 100 * time.Millisecond

// waiting measures for how long, at least, a machine has computed nothing while something was done: then something waits for a clock,
// which takes as long on any machine. Where less than one core was busy in a tenth of a second, the rest of it counts.
type waiting struct {
	stop func()
	done chan struct{}
	// looks are what was seen, by their time.
	looks []lookAtWaiting
	err   error
}

// lookAtWaiting is for how long nothing was computed until a moment.
type lookAtWaiting struct {
	at  time.Time
	all time.Duration
}

// waits begins to measure, until its end is called.
func waits(ctx context.Context) *waiting {
	ctx, stop := context.WithCancel(ctx)
	w := &waiting{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.err = w.look(ctx)
	}()
	return w
}

func (w *waiting) look(ctx context.Context) error {
	at, all := time.Now(), time.Duration(0)
	busy, err := busyAltogether()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(looksAtWaiting):
		}
		now := time.Now()
		var next time.Duration
		next, err = busyAltogether()
		all += idle(now.Sub(at), next-busy)
		w.looks = append(w.looks, lookAtWaiting{now, all})
		at, busy = now, next
	}
	return err
}

// idle is the part of a time in which not even one core was busy, if all that was computed was so one after the other.
func idle(of, busy time.Duration) time.Duration { return max(0, of-busy) }

// end is for how long nothing was computed since the beginning, in seconds, without the last part.
func (w *waiting) end(without time.Duration) (float64, error) {
	w.stop()
	<-w.done
	return before(w.looks, without).Seconds(), w.err
}

// before is for how long nothing was computed until the last part began.
func before(looks []lookAtWaiting, last time.Duration) (all time.Duration) {
	for _, look := range looks {
		if looks[len(looks)-1].at.Sub(look.at) >= last {
			all = look.all
		}
	}
	return all
}

// busyAltogether is the time that all cores have computed since the machine was started.
func busyAltogether() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading the times of the processors: %w", err)
	}
	return busyIn(stat)
}

// busyIn reads them as the kernel tells them: user, nice, system, idle, iowait, irq and softirq in ticks.
func busyIn(stat []byte) (time.Duration, error) {
	line, err := bufio.NewReader(bytes.NewReader(stat)).ReadString('\n')
	fields := strings.Fields(line)
	if err != nil || len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("the kernel tells no times of the processors: %.100q", line)
	}
	total := 0
	for _, at := range []int{1, 2, 3, 6, 7} {
		used, err := strconv.Atoi(fields[at])
		if err != nil {
			return 0, fmt.Errorf("the kernel tells no times of the processors: %.100q", line)
		}
		total += used
	}
	return time.Duration(total) * time.Second / ticks, nil
}
