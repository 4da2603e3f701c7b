package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// guestReport is the report of what was seen.
type guestReport struct {
	Seconds float64 `json:"seconds"`
	// States are those that watch has told, in order.
	States []string `json:"states"`
	// KilledWith are the Machines that there were when the provider was killed, Bootstraps how many bootstrap machines were ever made.
	KilledWith []string `json:"killedWith"`
	Bootstraps int      `json:"bootstraps"`
	Nodes      []string `json:"nodes"`
	// Left is what the deletion has left.
	Left []string `json:"left"`
	// Requests and Writes are the provider's until the cluster was Installed.
	Requests int `json:"requests"`
	Writes   int `json:"writes"`

	begun time.Time
	since cluster.Mark
}

// guestChange is what a line of capstan-provider watch -o json has of states.
type guestChange struct {
	State *struct {
		Name  string `json:"name"`
		Waits string `json:"waits"`
	} `json:"state"`
}

// guestFollower runs capstan-provider watch, and keeps the states that it tells.
type guestFollower struct {
	ended chan struct{}
	// failed is why it has ended, nil at Installed; it is set before ended is closed.
	failed error

	mu   sync.Mutex
	path []string
	news []string
}

// follow watches the cluster until it is Installed, or until the context ends.
func (i *installing) follow(ctx context.Context) (*guestFollower, error) {
	arguments := []string{"watch", i.key.String(), "-o", "json"}
	i.display.say("\n$ capstan-provider %s", strings.Join(arguments, " "))
	command := exec.CommandContext(ctx, filepath.Join(i.bin, "capstan-provider"), append(arguments, "--kubeconfig", i.world.Cluster.Kubeconfig())...)
	lines, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("running capstan-provider watch: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("running capstan-provider watch: %w", err)
	}
	f := &guestFollower{ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for each := bufio.NewScanner(lines); each.Scan(); {
			f.see(each.Bytes())
		}
		f.failed = command.Wait()
	}()
	return f, nil
}

// see takes in a line.
func (f *guestFollower) see(line []byte) {
	var change guestChange
	if err := json.Unmarshal(line, &change); err != nil || change.State == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if name := change.State.Name; len(f.path) == 0 || f.path[len(f.path)-1] != name {
		f.path = append(f.path, name)
		f.news = append(f.news, strings.TrimSuffix(name+": "+change.State.Waits, ": "))
	}
}

func (f *guestFollower) states() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.path)
}

func (f *guestFollower) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	news := f.news
	f.news = nil
	return news
}

// wait returns when watch has ended, and is nil if it has because the cluster is Installed.
func (f *guestFollower) wait() error {
	<-f.ended
	if f.failed != nil {
		return fmt.Errorf("running capstan-provider watch: %w", f.failed)
	}
	return nil
}

// tell shows the states that are new.
func (i *installing) tell() {
	if i.followed == nil {
		return
	}
	for _, news := range i.followed.take() {
		i.display.step("%s  %s", i.key, news)
	}
}

// provider shows a command of capstan-provider, and what it prints.
func (i *installing) provider(ctx context.Context, arguments ...string) error {
	shown := slices.Clone(arguments)
	if at := slices.Index(shown, "--kubeconfig"); at >= 0 {
		shown = slices.Delete(shown, at, at+2)
	}
	i.display.say("\n$ capstan-provider %s", strings.Join(shown, " "))
	command := exec.CommandContext(ctx, filepath.Join(i.bin, "capstan-provider"), arguments...)
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("running capstan-provider %s: %w: %s", arguments[0], err, bytes.TrimSpace(said.Bytes()))
	}
	i.display.say("%s", cmp.Or(string(bytes.TrimSpace(text)), string(bytes.TrimSpace(said.Bytes()))))
	return nil
}

// conclude prints what was seen as a whole.
func (i *installing) conclude() {
	i.told.States = i.followed.states()
	i.display.say("\nInstalled in %.1f s, with %d requests of the provider, of which %d writes; %d bootstrap machine was made in all, though it was killed",
		i.told.Seconds, i.told.Requests, i.told.Writes, i.told.Bootstraps)
	i.display.say("The way through the state diagram: %s", strings.Join(i.told.States, " -> "))
	i.display.say("The report is in %s", filepath.Join(i.dir, reportFile))
}
