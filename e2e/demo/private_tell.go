package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// hostedReport is the report of what was seen.
type hostedReport struct {
	Moves  []hostedMove `json:"moves"`
	Killed killedAt     `json:"killed"`
}

// hostedMove is the move of one hosted cluster.
type hostedMove struct {
	HostedCluster string  `json:"hostedCluster"`
	Ended         string  `json:"ended"`
	Seconds       float64 `json:"seconds"`
	// States are those that it has told, in order.
	States []string `json:"states"`
	// Machines are those that it had before, and Cloud what the provider did meanwhile.
	Machines int                `json:"machines"`
	Cloud    []hostedworld.Call `json:"cloud"`
}

// killedAt is when the operator was killed: in which state, and how many of the objects had a copy.
type killedAt struct {
	State  string `json:"state"`
	Copies int    `json:"copies"`
	Of     int    `json:"of"`
}

// note keeps a move for the report.
func (h *hosting) note(hosted *hostedworld.Hosted, began time.Time, machines, calls int) {
	h.told.Moves = append(h.told.Moves, hostedMove{
		HostedCluster: hosted.Key(), Ended: h.followed.last(hosted), Seconds: seconds(began), States: h.followed.states(hosted),
		Machines: machines, Cloud: append([]hostedworld.Call{}, h.world.Cloud.Calls()[calls:]...),
	})
}

// tellState tells what a HostedCluster tells, which begins with its state, but for since when.
func (h *hosting) tellState(news hostedState) {
	message, _, _ := strings.Cut(news.message, "; since ")
	h.display.step("%s  %s", news.key, message)
}

// run shows a command of Capstan, and what it prints.
func (d *demonstration) run(ctx context.Context, arguments ...string) error {
	d.display.say("\n$ capstan %s", strings.Join(arguments, " "))
	command := exec.CommandContext(ctx, filepath.Join(d.bin, "capstan"), append(arguments, "--kubeconfig", d.stage.Cluster.Kubeconfig())...)
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("running capstan %s: %w: %s", strings.Join(arguments, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	d.display.say("%s\n", bytes.TrimSpace(text))
	return nil
}

// conclude prints what was seen as a whole.
func (h *hosting) conclude() {
	table := tabwriter.NewWriter(h.display.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOSTED CLUSTER\tENDED\tSECONDS\tMACHINES BEFORE\tMADE\tDELETED")
	for _, m := range h.told.Moves {
		made, deleted := 0, 0
		for _, call := range m.Cloud {
			if call.Verb == "create" {
				made++
			} else {
				deleted++
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%.1f\t%d\t%d\t%d\n", m.HostedCluster, m.Ended, m.Seconds, m.Machines, made, deleted)
	}
	table.Flush()
	h.display.say("\nThe operator was killed in %s, with %d of %d copies made", h.told.Killed.State, h.told.Killed.Copies, h.told.Killed.Of)
	for _, m := range h.told.Moves {
		h.display.say("The way of %s: %s", m.HostedCluster, strings.Join(m.States, " -> "))
	}
	h.display.say("The report is in %s", filepath.Join(h.dir, reportFile))
}
