package hosted

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	controller "github.com/capstan-capi/capstan/controllers/privatecapi"
	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	legacy "github.com/capstan-capi/capstan/machine/legacyoperator"
	"github.com/capstan-capi/capstan/machine/privatecapi"
	legacyphases "github.com/capstan-capi/capstan/phases/legacyoperator"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// The keys of the programme's ConfigMap.
const (
	pausedKey    = "paused"
	retentionKey = legacyphases.RetentionKey
)

var table = view.TableOf(privatecapi.Table)

// Programme is what holds for all HostedClusters.
type Programme struct {
	// ConfigMap is the namespace and the name of what enables it, Enabled when that was; zero where it does not exist.
	ConfigMap string    `json:"configMap"`
	Enabled   time.Time `json:"enabled,omitzero"`
	Paused    bool      `json:"paused"`
	// Retention is for how long the old operator is kept, as the ConfigMap says; empty for a week.
	Retention string `json:"retention,omitempty"`
	// LockedFor is the HostedCluster that has the one lock of all moves, LockedSince since when; LockUntold says why nobody knows.
	LockedFor   string    `json:"lockedFor,omitempty"`
	LockedSince time.Time `json:"lockedSince,omitzero"`
	LockUntold  string    `json:"lockUntold,omitempty"`
	// OldOperator is the state of the machine legacyoperator, empty where nobody tells it.
	OldOperator machine.State `json:"oldOperator,omitempty"`
	// RecordsUntold says why less is told of each HostedCluster than could be.
	RecordsUntold string `json:"recordsUntold,omitempty"`
}

// facts are what the operator's questions ask of it, for one of all HostedClusters.
func (p Programme) facts(all []Hosted, key machine.Key) guards.Programme {
	f := guards.Programme{
		Known: true, Enabled: p.Enabled, Paused: p.Paused, OldOperatorNeeded: p.OldOperator == "" || p.OldOperator == legacy.Needed,
	}
	for _, other := range all {
		if other.Facts.Marks.Private {
			f.InUse++
		}
		if other.Key() != key && other.Facts.Marks.Locked() {
			f.LockedElsewhere = string(other.Key())
		}
	}
	return f
}

// Row is how a HostedCluster stands; scripts rely on its shape.
type Row struct {
	HostedCluster string `json:"hostedCluster"`
	// ControlPlane is the namespace of its control plane, where its objects of Cluster API are.
	ControlPlane string `json:"controlPlane"`
	// Owner is who reconciles it: legacy, new, machine for its migration, or nobody.
	Owner guards.Reconciler `json:"owner"`
	// State is empty where no operator tells of it; Since is zero where that is not known.
	State    machine.State     `json:"state,omitempty"`
	Since    time.Time         `json:"since,omitzero"`
	Deadline *machine.Deadline `json:"deadline,omitempty"`
	// Migration is the id of the move that locks it, with its stage, the side it leads to and when it began.
	Migration string           `json:"migration,omitempty"`
	Stage     guards.Stage     `json:"stage,omitempty"`
	Direction guards.Direction `json:"direction,omitempty"`
	Began     time.Time        `json:"began,omitzero"`
	Locked    bool             `json:"locked"`
	// Paused and RevertAsked are requests of people, Failed is why a move was undone.
	Paused      bool          `json:"paused"`
	RevertAsked bool          `json:"revertAsked"`
	Failed      guards.Reason `json:"failed,omitempty"`
	Deleting    bool          `json:"deleting"`
	// Waits is what it waits for, in the operator's words.
	Waits string `json:"waits,omitempty"`
	code  int
}

// untold is what stands in place of what the operator says where it says nothing.
const untold = "no operator tells of it, as one does that runs with --private-capi-image"

// row is how a HostedCluster stands.
func (h Hosted) row() Row {
	m := h.Facts.Marks
	owner := m.Owner()
	r := Row{
		HostedCluster: string(h.Key()), ControlPlane: h.Facts.Cluster.ControlPlane, Owner: owner.By, Migration: cmp.Or(owner.ID, m.Companion.ID), Locked: m.Locked(),
		Paused: m.Paused, RevertAsked: m.Revert, Failed: m.Failed, Deleting: h.Facts.Cluster.Deleting,
	}
	if m.Companion.Present && m.Companion.Problem == "" {
		r.Stage, r.Direction, r.Began = m.Companion.Stage, m.Companion.Direction, phases.Started(m.Companion)
	}
	record := h.record()
	r.code = controller.CodeOf(record.State, m)
	if _, known := table.State(record.State); !h.Told || !known {
		r.Waits = untold
		return r
	}
	r.State, r.Since, r.Waits, r.Deadline = record.State, record.Since, record.Reason, record.Deadline
	return r
}

// record is what is stored, or else what the condition says, which does not say since when.
func (h Hosted) record() machine.Record {
	if h.Stored != nil && h.Stored.State == h.Said.State {
		return *h.Stored
	}
	said := h.Said
	said.Since = time.Time{}
	return said
}

// Status is what `capstan private-capi status` prints; its JSON is a promise.
type Status struct {
	Programme Programme `json:"programme"`
	// Counts are how many HostedClusters there are in each state; those that no operator tells of are under Untold.
	Counts         map[machine.State]int `json:"counts"`
	HostedClusters []Row                 `json:"hostedClusters"`
	one            bool
}

// Untold counts what no operator tells of.
const Untold machine.State = "Untold"

// Status is that of all HostedClusters, or of the one that is named.
func (s Seen) Status(key machine.Key) (Status, error) {
	all := s.Clusters
	if key != "" {
		h, err := s.find(key)
		if err != nil {
			return Status{}, err
		}
		all = []Hosted{h}
	}
	status := Status{Programme: s.Programme, Counts: map[machine.State]int{}, HostedClusters: []Row{}, one: key != ""}
	for _, h := range all {
		r := h.row()
		status.HostedClusters = append(status.HostedClusters, r)
		status.Counts[cmp.Or(r.State, Untold)]++
	}
	return status, nil
}

// Code is the worst of them as an exit code.
func (s Status) Code() int {
	code := view.CodeDone
	for _, r := range s.HostedClusters {
		code = max(code, r.code)
	}
	return code
}

// Write prints it.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	if !s.one {
		s.Programme.write(&b, now)
		fmt.Fprintf(&b, "\n%s\n", s.counted())
		view.Section(&b, "Hosted clusters", view.Columns(func(w io.Writer) {
			if len(s.HostedClusters) == 0 {
				return
			}
			fmt.Fprintln(w, "NAME\tWHOSE\tSTATE\tFOR\tMOVE\tMARKS\tWAITS FOR")
			for _, r := range s.HostedClusters {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.HostedCluster, whose(r.Owner), cmp.Or(string(r.State), "-"), lasts(r.Since, now),
					cmp.Or(r.move(), "-"), cmp.Or(strings.Join(r.marks(), ", "), "-"), machine.Shorten(r.Waits, maxWaits))
			}
		}))
	} else {
		s.HostedClusters[0].write(&b, now)
		b.WriteString("\nProgramme\n")
		s.Programme.write(&b, now)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// maxWaits bounds what a line of the table says, in bytes; the whole of it is told of one HostedCluster.
const maxWaits = 160

func (s Status) counted() string {
	var parts []string
	for _, row := range append(table.States, view.State{Name: Untold}) {
		if n := s.Counts[row.Name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, row.Name))
		}
	}
	if len(parts) == 0 {
		return "There is no HostedCluster."
	}
	return fmt.Sprintf("%d in all: %s", len(s.HostedClusters), strings.Join(parts, ", "))
}
