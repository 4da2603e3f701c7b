package openshiftcontrolplane

import (
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// The facts that cases begin from.
var (
	// waiting is an OpenShiftControlPlane with its Cluster, of which nothing is decided.
	waiting = Facts{
		Seen: true, Object: Object{Namespace: "fleet", Name: "a", Replicas: 3},
		Cluster: Cluster{Known: true, Name: "a", Provisioned: true, Host: "api.a.example.com", Port: 6443},
		Inputs:  Inputs{Known: true, Digest: "d1"}, Bootstrap: Bootstrap{Known: true}, Provisioned: Tally{Known: true, Wanted: 3},
	}
	// booting is one whose guest's API has answered, and whose bootstrap Machine is u1.
	booting = with(waiting, func(f *Facts) {
		f.Marks = Marks{Inputs: "d1", Bootstrap: "u1", Initialized: true}
		f.Bootstrap = Bootstrap{Known: true, UID: "u1", Provisioned: true}
		f.Provisioned = three
		f.Payload.Roles = three
		f.Guest = Guest{API: true, Identity: Identity{Authority: Vouched}, Known: true, Nodes: Tally{Known: true, Done: 1, Wanted: 3}}
	})
	// alone is one whose guest does without its bootstrap Machine.
	alone = with(booting, func(f *Facts) {
		f.Guest.Complete, f.Guest.EtcdAlone, f.Guest.Nodes.Done = true, true, 2
	})
	three = Tally{Known: true, Done: 3, Wanted: 3}
	some  = Tally{Known: true, Done: 1, Wanted: 3, Missing: []string{"x"}}
)

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

type answers struct {
	guard machine.Guard[Facts]
	facts Facts
	want  machine.Truth
	says  string
}

func check(t *testing.T, rows map[string]answers) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

// every are all guards that a table may ask.
var every = []machine.Guard[Facts]{
	IsPaused, IsDeleting, OwnerIsSet, StageFits, RemovalIsOver, ClearingGoesOn, InputsAreFrozen, IsInitialized, IsFinished, WorkSucceeds,
	InfrastructureIsReady, EndpointIsValid, HooksAreMet, InputsAreResolved, PayloadStands, MachinesAreProvisioned, BootstrapIsKept, APIAnswers,
	BootstrapIsComplete, NodesAreReady, EtcdIsAlone, BootstrapIsGone,
	GuestIsHealthy, UpgradeIsWanted, ScaleIsWanted, RemediationIsNeeded, UpgradeIsDone, ScaleIsDone, RemediationIsDone,
	CauseIsGone, ErrorsLedHere, IsGivenUp, IsWell, GuestIsOurs, ScratchIsAsked, AttemptIsGone, InputsHaveDrifted, IsAvailable, KubeconfigStands, CertificatesStand, EtcdIsHealthy,
}

func TestGuards_know_nothing_of_what_was_not_seen(t *testing.T) {
	for _, guard := range every {
		if got := guard.Answer(Facts{}); got.Truth != machine.Unknown {
			t.Errorf("%s answers %s (%q)", guard.Name, got.Truth, got.Reason)
		}
	}
}

func TestGuards_of_what_people_want(t *testing.T) {
	check(t, map[string]answers{
		"IsPaused/no":                         {IsPaused, waiting, machine.No, ""},
		"IsPaused/the Cluster is":             {IsPaused, with(waiting, func(f *Facts) { f.Cluster.Paused = true }), machine.Yes, "Cluster a is paused"},
		"IsPaused/the object is":              {IsPaused, with(waiting, func(f *Facts) { f.Object.Paused = true }), machine.Yes, "cluster.x-k8s.io/paused"},
		"IsPaused/the object is, for all":     {IsPaused, Facts{Seen: true, Object: Object{Paused: true}}, machine.Yes, ""},
		"IsPaused/the Cluster was not seen":   {IsPaused, with(waiting, func(f *Facts) { f.Cluster.Known = false }), machine.Unknown, "Cluster"},
		"IsPaused/there is no Cluster":        {IsPaused, with(waiting, func(f *Facts) { f.Cluster = Cluster{Known: true} }), machine.No, ""},
		"IsDeleting/no":                       {IsDeleting, waiting, machine.No, ""},
		"IsDeleting/workers first":            {IsDeleting, with(waiting, func(f *Facts) { f.Object.Deleting, f.Workers, f.Attempt = true, []string{"Machine w"}, some }), machine.Yes, "waits for workers: Machine w"},
		"IsDeleting/then ours":                {IsDeleting, with(waiting, func(f *Facts) { f.Object.Deleting, f.Attempt = true, some }), machine.Yes, "waits for x"},
		"IsDeleting/yes":                      {IsDeleting, with(waiting, func(f *Facts) { f.Object.Deleting = true }), machine.Yes, "fleet/a is being deleted"},
		"OwnerIsSet/yes":                      {OwnerIsSet, waiting, machine.Yes, "Cluster a"},
		"OwnerIsSet/no":                       {OwnerIsSet, with(waiting, func(f *Facts) { f.Cluster = Cluster{Known: true} }), machine.No, "no Cluster"},
		"OwnerIsSet/the Cluster was not seen": {OwnerIsSet, with(waiting, func(f *Facts) { f.Cluster.Known = false }), machine.Unknown, ""},
	})
}

func TestGuards_of_the_way_there(t *testing.T) {
	hooked := func(hooks ...Hook) Facts { return with(waiting, func(f *Facts) { f.Hooks = hooks }) }
	check(t, map[string]answers{
		"InfrastructureIsReady/yes":                    {InfrastructureIsReady, waiting, machine.Yes, ""},
		"InfrastructureIsReady/no":                     {InfrastructureIsReady, with(waiting, func(f *Facts) { f.Cluster.Provisioned = false }), machine.No, "not provisioned yet"},
		"EndpointIsValid/yes":                          {EndpointIsValid, waiting, machine.Yes, ""},
		"EndpointIsValid/no host":                      {EndpointIsValid, with(waiting, func(f *Facts) { f.Cluster.Host = "" }), machine.No, "not valid"},
		"EndpointIsValid/no port":                      {EndpointIsValid, with(waiting, func(f *Facts) { f.Cluster.Port = 0 }), machine.No, "port 0"},
		"EndpointIsValid/a port too far":               {EndpointIsValid, with(waiting, func(f *Facts) { f.Cluster.Port = 65536 }), machine.No, "port 65536"},
		"HooksAreMet/none":                             {HooksAreMet, waiting, machine.Yes, ""},
		"HooksAreMet/one is not":                       {HooksAreMet, hooked(Hook{Phase: PostInfrastructure, Condition: "A", Met: true}, Hook{Phase: PostInfrastructure, Condition: "B"}), machine.No, "lacks condition B"},
		"HooksAreMet/over is not met":                  {HooksAreMet, hooked(Hook{Phase: PostInfrastructure, Condition: "A", Over: true}), machine.No, "A"},
		"HooksAreMet/of the other phase":               {HooksAreMet, hooked(Hook{Phase: PreBootstrapRemoval, Condition: "A"}), machine.Yes, ""},
		"InputsAreResolved/yes":                        {InputsAreResolved, waiting, machine.Yes, ""},
		"InputsAreResolved/not read":                   {InputsAreResolved, with(waiting, func(f *Facts) { f.Inputs = Inputs{} }), machine.Unknown, ""},
		"InputsAreResolved/something is wrong":         {InputsAreResolved, with(waiting, func(f *Facts) { f.Inputs.Problems = []string{"no Secret"} }), machine.No, "no Secret"},
		"InputsAreResolved/wrong, and more":            {InputsAreResolved, with(waiting, func(f *Facts) { f.Inputs = Inputs{Problems: []string{"a", "b", "c", "d"}} }), machine.No, "a, b, c and 1 more"},
		"PayloadStands/not read":                       {PayloadStands, waiting, machine.Unknown, ""},
		"PayloadStands/one is missing":                 {PayloadStands, with(booting, func(f *Facts) { f.Payload.Roles = some }), machine.No, "not x"},
		"PayloadStands/yes":                            {PayloadStands, booting, machine.Yes, ""},
		"PayloadStands/it ends, and was used":          {PayloadStands, with(booting, func(f *Facts) { f.Payload.Ending = true }), machine.Yes, ""},
		"PayloadStands/it ends, and was not":           {PayloadStands, with(waiting, func(f *Facts) { f.Payload = Payload{Roles: three, Ending: true} }), machine.No, "end before"},
		"PayloadStands/it ends, and a master was made": {PayloadStands, with(waiting, func(f *Facts) { f.Payload, f.Provisioned = Payload{Roles: three, Ending: true}, some }), machine.Yes, ""},
		"PayloadStands/it ends, and no Machine came of the intention": {PayloadStands, with(waiting, func(f *Facts) {
			f.Payload, f.Marks = Payload{Roles: three, Ending: true}, Marks{Inputs: "d1", Bootstrap: Intended}
		}), machine.No, "end before"},
		"PayloadStands/it ends, and a master waits for infrastructure": {PayloadStands, with(waiting, func(f *Facts) {
			f.Payload, f.Counts = Payload{Roles: three, Ending: true}, Counts{Known: true, Replicas: 1}
		}), machine.Yes, ""},
		"PayloadStands/it ends, nobody looked":   {PayloadStands, with(waiting, func(f *Facts) { f.Payload, f.Bootstrap.Known = Payload{Roles: three, Ending: true}, false }), machine.Unknown, ""},
		"MachinesAreProvisioned/yes":             {MachinesAreProvisioned, booting, machine.Yes, ""},
		"MachinesAreProvisioned/no bootstrap":    {MachinesAreProvisioned, waiting, machine.No, "no bootstrap Machine"},
		"MachinesAreProvisioned/bootstrap alone": {MachinesAreProvisioned, with(booting, func(f *Facts) { f.Provisioned = some }), machine.No, "1 of 3"},
		"MachinesAreProvisioned/not it":          {MachinesAreProvisioned, with(booting, func(f *Facts) { f.Bootstrap.Provisioned = false }), machine.No, "the bootstrap Machine"},
		"APIAnswers/yes":                         {APIAnswers, booting, machine.Yes, ""},
		"APIAnswers/not asked":                   {APIAnswers, waiting, machine.Unknown, "not been asked"},
		"APIAnswers/unreachable is unknown":      {APIAnswers, with(waiting, func(f *Facts) { f.Guest.APIProblem = "refused" }), machine.Unknown, "refused"},
	})
	if held := hooked(Hook{Phase: PreBootstrapRemoval, Condition: "A"}, Hook{Phase: PreBootstrapRemoval, Condition: "B", Over: true}, Hook{Phase: PreBootstrapRemoval, Condition: "C", Met: true},
		Hook{Phase: PostInfrastructure, Condition: "D"}).Held(); len(held) != 1 || held[0] != "A" {
		t.Errorf("the removal is held by %v", held)
	}
}

func TestGuards_of_the_bootstrap(t *testing.T) {
	gone := func(of Facts) Facts { return with(of, func(f *Facts) { f.Bootstrap.UID = "" }) }
	nodes := func(ready, replicas int) Facts {
		return with(booting, func(f *Facts) { f.Guest.Nodes.Done, f.Object.Replicas = ready, replicas })
	}
	check(t, map[string]answers{
		"BootstrapIsKept/none was made":        {BootstrapIsKept, waiting, machine.Yes, ""},
		"BootstrapIsKept/intended":             {BootstrapIsKept, with(waiting, func(f *Facts) { f.Marks = Marks{Inputs: "d1", Bootstrap: Intended} }), machine.Yes, ""},
		"BootstrapIsKept/it is there":          {BootstrapIsKept, booting, machine.Yes, ""},
		"BootstrapIsKept/gone":                 {BootstrapIsKept, gone(booting), machine.No, "from-scratch"},
		"BootstrapIsKept/another in its place": {BootstrapIsKept, with(booting, func(f *Facts) { f.Bootstrap.UID = "u2" }), machine.No, "gone"},
		"BootstrapIsKept/it has moved, and has another UID": {BootstrapIsKept, with(booting, func(f *Facts) {
			f.Bootstrap.UID, f.Bootstrap.Attempt = "u2", f.AttemptID()
		}), machine.Yes, ""},
		"BootstrapIsKept/another one of an attempt before": {BootstrapIsKept, with(booting, func(f *Facts) {
			f.Bootstrap.UID, f.Bootstrap.Attempt, f.Object.Served = "u2", f.AttemptID(), "r"
		}), machine.No, "gone"},
		"BootstrapIsKept/the attempt is cleared away":   {BootstrapIsKept, gone(with(booting, func(f *Facts) { f.Marks.Clearing = "r" })), machine.Yes, ""},
		"BootstrapIsKept/it cannot be read":             {BootstrapIsKept, with(booting, func(f *Facts) { f.Bootstrap = Bootstrap{Problem: "no right"} }), machine.Unknown, "no right"},
		"BootstrapIsKept/only the status tells":         {BootstrapIsKept, gone(with(booting, func(f *Facts) { f.Noted, f.Marks = f.Marks, Marks{} })), machine.No, "gone"},
		"BootstrapIsKept/gone before the API":           {BootstrapIsKept, gone(with(booting, func(f *Facts) { f.Marks.Initialized, f.Guest = false, Guest{} })), machine.No, "gone"},
		"BootstrapIsKept/gone, the API is late":         {BootstrapIsKept, gone(with(alone, func(f *Facts) { f.Marks.Initialized = false })), machine.Yes, "does without"},
		"BootstrapIsKept/gone, and nobody knows":        {BootstrapIsKept, gone(with(booting, func(f *Facts) { f.Guest = Guest{APIProblem: "refused"} })), machine.Unknown, "not known"},
		"BootstrapIsKept/gone, and not needed":          {BootstrapIsKept, gone(alone), machine.Yes, "does without"},
		"BootstrapIsKept/finished":                      {BootstrapIsKept, gone(with(booting, func(f *Facts) { f.Marks.Finished = true })), machine.Yes, ""},
		"BootstrapIsKept/Machines were not listed":      {BootstrapIsKept, with(booting, func(f *Facts) { f.Bootstrap.Known = false }), machine.Unknown, ""},
		"BootstrapIsComplete/no":                        {BootstrapIsComplete, booting, machine.No, "does not say complete"},
		"BootstrapIsComplete/yes":                       {BootstrapIsComplete, alone, machine.Yes, ""},
		"BootstrapIsComplete/unreachable":               {BootstrapIsComplete, with(alone, func(f *Facts) { f.Guest.Known, f.Guest.APIProblem = false, "refused" }), machine.Unknown, "refused"},
		"NodesAreReady/1 of 3":                          {NodesAreReady, nodes(1, 3), machine.No, "2 are needed"},
		"NodesAreReady/2 of 3":                          {NodesAreReady, nodes(2, 3), machine.Yes, ""},
		"NodesAreReady/2 of 5":                          {NodesAreReady, nodes(2, 5), machine.No, "3 are needed"},
		"NodesAreReady/1 is asked for, and 5 are there": {NodesAreReady, with(nodes(1, 1), func(f *Facts) { f.Counts.Replicas = 5 }), machine.No, "3 are needed"},
		"NodesAreReady/1 of 1":                          {NodesAreReady, nodes(1, 1), machine.Yes, ""},
		"NodesAreReady/0 of 1":                          {NodesAreReady, nodes(0, 1), machine.No, ""},
		"NodesAreReady/of nobody knows how many":        {NodesAreReady, nodes(3, 0), machine.Unknown, ""},
		"EtcdIsAlone/no":                                {EtcdIsAlone, booting, machine.No, "member"},
		"EtcdIsAlone/yes":                               {EtcdIsAlone, alone, machine.Yes, ""},
		"BootstrapIsGone/nobody looked":                 {BootstrapIsGone, alone, machine.Unknown, ""},
		"BootstrapIsGone/some of it is left":            {BootstrapIsGone, with(alone, func(f *Facts) { f.Bootstrap.Removal = some }), machine.No, "not x"},
		"BootstrapIsGone/left, since a hook holds": {BootstrapIsGone, with(alone, func(f *Facts) {
			f.Bootstrap.Removal, f.Hooks = some, []Hook{{Phase: PreBootstrapRemoval, Condition: "A"}}
		}), machine.No, "lacks condition A"},
		"BootstrapIsGone/all of it":     {BootstrapIsGone, with(alone, func(f *Facts) { f.Bootstrap.Removal = three }), machine.Yes, ""},
		"BootstrapIsGone/it is to stay": {BootstrapIsGone, with(alone, func(f *Facts) { f.Object.Retain = true }), machine.Yes, "retained"},
	})
}

func TestGuards_of_an_installed_cluster(t *testing.T) {
	wish := func(w Wish) Facts {
		return with(alone, func(f *Facts) { f.Upgrade, f.Scaling, f.Remediation = w, w, w })
	}
	asked := Wish{Known: true, Asked: "it", Steps: some}
	for name, pair := range map[string][2]machine.Guard[Facts]{
		"Upgrade": {UpgradeIsWanted, UpgradeIsDone}, "Scale": {ScaleIsWanted, ScaleIsDone}, "Remediation": {RemediationIsNeeded, RemediationIsDone},
	} {
		check(t, map[string]answers{
			name + "/wanted, nobody looked":  {pair[0], alone, machine.Unknown, ""},
			name + "/nothing is wanted":      {pair[0], wish(Wish{Known: true}), machine.No, ""},
			name + "/wanted":                 {pair[0], wish(asked), machine.Yes, "it is asked for"},
			name + "/wanted and refused":     {pair[0], wish(Wish{Known: true, Asked: "it", Refused: "it is older"}), machine.No, "not done: it is older"},
			name + "/nobody knows what":      {pair[0], wish(Wish{Known: true, Asked: "it", Unasked: "the registry is away"}), machine.No, "the registry is away"},
			name + "/done, nobody knows":     {pair[1], wish(Wish{Known: true, Asked: "it", Unasked: "the registry is away", Steps: three}), machine.Unknown, "the registry is away"},
			name + "/done, nobody looked":    {pair[1], alone, machine.Unknown, ""},
			name + "/nothing is wanted more": {pair[1], wish(Wish{Known: true}), machine.Yes, "any more"},
			name + "/not done":               {pair[1], wish(asked), machine.No, "1 of 3"},
			name + "/not counted":            {pair[1], wish(Wish{Known: true, Asked: "it"}), machine.Unknown, ""},
			name + "/done":                   {pair[1], wish(Wish{Known: true, Asked: "it", Steps: three}), machine.Yes, ""},
		})
	}
	refused := Wish{Known: true, Asked: "it", Refused: "it speaks against it", Steps: some}
	check(t, map[string]answers{
		"Upgrade/refused on the way":     {UpgradeIsDone, wish(refused), machine.Yes, "it speaks against it"},
		"Scale/refused on the way":       {ScaleIsDone, wish(refused), machine.No, "1 of 3"},
		"Remediation/refused on the way": {RemediationIsDone, wish(refused), machine.No, "1 of 3"},
	})
	check(t, map[string]answers{
		"GuestIsHealthy/not counted": {GuestIsHealthy, alone, machine.Unknown, ""},
		"GuestIsHealthy/no":          {GuestIsHealthy, with(alone, func(f *Facts) { f.Guest.Operators = some }), machine.No, "not x"},
		"GuestIsHealthy/yes":         {GuestIsHealthy, with(alone, func(f *Facts) { f.Guest.Operators = three }), machine.Yes, ""},
		"GuestIsHealthy/unreachable": {GuestIsHealthy, with(alone, func(f *Facts) { f.Guest = Guest{APIProblem: "refused", Operators: three} }), machine.Unknown, "refused"},
		"IsWell/yes":                 {IsWell, with(alone, func(f *Facts) { f.Guest.Operators = three }), machine.Yes, ""},
		"IsWell/the guest is not":    {IsWell, with(alone, func(f *Facts) { f.Guest.Operators = some }), machine.No, "not x"},
		"IsWell/the work is not":     {IsWell, with(alone, func(f *Facts) { f.Guest.Operators, f.Then.Failing = three, true }), machine.No, "error"},
		"WorkSucceeds/yes":           {WorkSucceeds, alone, machine.Yes, ""},
		"WorkSucceeds/no":            {WorkSucceeds, with(alone, func(f *Facts) { f.Then.Failing = true }), machine.No, "error"},
	})
}

func TestGuards_that_people_are_told_by(t *testing.T) {
	running := with(alone, func(f *Facts) { f.Marks.Finished, f.Guest.Operators = true, three })
	silent := func(long bool) Facts {
		return with(running, func(f *Facts) { f.Guest = Guest{APIProblem: "refused", Silent: long} })
	}
	check(t, map[string]answers{
		"InputsHaveDrifted/not frozen": {InputsHaveDrifted, waiting, machine.No, "not frozen"},
		"InputsHaveDrifted/no":         {InputsHaveDrifted, booting, machine.No, "what they were"},
		"InputsHaveDrifted/yes":        {InputsHaveDrifted, with(booting, func(f *Facts) { f.Inputs.Digest = "d2" }), machine.Yes, "changes nothing"},
		"InputsHaveDrifted/gone": {InputsHaveDrifted, with(booting, func(f *Facts) {
			f.Inputs = Inputs{Known: true, Problems: []string{"Secret a is missing"}}
		}), machine.Yes, "Secret a is missing"},
		"KubeconfigStands/not looked for": {KubeconfigStands, with(booting, func(f *Facts) { f.Kubeconfig = Kubeconfig{} }), machine.Unknown, "not been looked for"},
		"KubeconfigStands/none":           {KubeconfigStands, with(booting, func(f *Facts) { f.Kubeconfig = Kubeconfig{Known: true} }), machine.No, "no kubeconfig yet"},
		"KubeconfigStands/wrong":          {KubeconfigStands, with(booting, func(f *Facts) { f.Kubeconfig = Kubeconfig{Known: true, Problem: "bad"} }), machine.No, "bad"},
		"KubeconfigStands/ours":           {KubeconfigStands, with(booting, func(f *Facts) { f.Kubeconfig = Kubeconfig{Known: true, There: true} }), machine.Yes, ""},
		"KubeconfigStands/one that ends soon": {KubeconfigStands, with(booting, func(f *Facts) {
			f.Kubeconfig = Kubeconfig{Known: true, There: true, External: true, Expiring: true, NotAfter: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
		}), machine.Yes, "valid until 2026-02-01"},
		"KubeconfigStands/others": {KubeconfigStands, with(booting, func(f *Facts) {
			f.Kubeconfig = Kubeconfig{Known: true, There: true, External: true}
		}), machine.Yes, "ExternallyIssued"},
		"KubeconfigStands/others, of a cluster that nobody knows": {KubeconfigStands, with(booting, func(f *Facts) {
			f.Kubeconfig, f.Payload = Kubeconfig{Known: true, There: true, External: true}, Payload{Roles: Tally{Known: true}}
		}), machine.Yes, "it is not known whether it leads to the cluster that was made here"},
		"InputsHaveDrifted/cannot be read":  {InputsHaveDrifted, with(booting, func(f *Facts) { f.Inputs = Inputs{} }), machine.Unknown, ""},
		"IsAvailable/not initialized":       {IsAvailable, waiting, machine.No, "not answered yet"},
		"IsAvailable/bootstrapping":         {IsAvailable, booting, machine.Yes, "answers"},
		"IsAvailable/installed":             {IsAvailable, running, machine.Yes, "3 of 3"},
		"IsAvailable/an operator is not":    {IsAvailable, with(running, func(f *Facts) { f.Guest.Operators = some }), machine.No, "not x"},
		"IsAvailable/silent for a moment":   {IsAvailable, silent(false), machine.Unknown, "refused"},
		"IsAvailable/silent for long":       {IsAvailable, silent(true), machine.No, "refused"},
		"IsAvailable/silent, bootstrapping": {IsAvailable, with(silent(true), func(f *Facts) { f.Marks.Finished = false }), machine.No, "refused"},
	})
}
