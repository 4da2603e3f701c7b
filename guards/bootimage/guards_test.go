package bootimage

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// target is one that is enrolled and nobody else's, and has an older image that may be changed.
func target(changes ...func(*Facts)) Facts {
	f := Facts{
		Seen:      true,
		Object:    Object{API: MachineAPI, Kind: "MachineSet", Resource: "machinesets.machine.openshift.io", Namespace: "openshift-machine-api", Name: "a", UID: "u"},
		Enrolment: Enrolment{Known: true, Is: true}, Others: Others{Known: true, WantedStream: "rhel-9"}, Gate: Gate{Known: true, Open: true},
		Target: Target{Read: true, Image: "ami-old"}, Verdict: Verdict{Known: true, Wanted: "ami-new"},
		Stub: Stub{Known: true, Secret: "worker-user-data", SecretVersion: "1", Spec: "3.2.0"}, Attempts: Attempts{Known: true},
		Plan: Plan{Known: true, Wanted: "ami-new", Old: "ami-old", SecretVersion: "1"},
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func moved(f *Facts)      { f.Target.Image, f.Verdict.Same = "ami-new", true }
func oldStub(f *Facts)    { f.Stub.Old, f.Stub.Spec = true, "2.2.0" }
func unreadStub(f *Facts) { f.Stub = Stub{Unread: "reading the Secret: forbidden"} }
func foreign(f *Facts)    { f.Verdict.Skip = Foreign }
func closed(f *Facts)     { f.Gate.Open = false }
func unasked(f *Facts)    { f.Gate = Gate{} }
func invalid(f *Facts)    { f.Target.Problem = "providerSpec is empty" }
func unjudged(f *Facts)   { f.Verdict = Verdict{} }
func ofClusterAPI(f *Facts) {
	f.Object.API, f.Object.Resource = ClusterAPI, "machinesets.cluster.x-k8s.io"
}

type row struct {
	guard machine.Guard[Facts]
	facts Facts
	want  machine.Truth
	says  string
}

func ask(t *testing.T, rows map[string]row) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

func TestGuards_nothing_seen_is_unknown(t *testing.T) {
	for _, g := range []machine.Guard[Facts]{
		Enrolled, Touchable, GateIsOpen, IsAsWanted, MayBeWritten, AttemptsLeft, PlanStands, StubIsReady, AttemptIsStored, TemplateIsReady, WriteIsSeen, IsValid, CauseIsGone, InputChanged,
	} {
		if got := g.Answer(Facts{}); got.Truth != machine.Unknown {
			t.Errorf("%s answers %s (%q)", g.Name, got.Truth, got.Reason)
		}
	}
}

func TestGuards_of_the_verdict(t *testing.T) {
	ask(t, map[string]row{
		"Enrolled/not known":                       {Enrolled, Facts{Seen: true}, machine.Unknown, ""},
		"Enrolled/by what":                         {Enrolled, target(func(f *Facts) { f.Enrolment.By = "annotation x: All" }), machine.Yes, "MachineSet a is enrolled by annotation x: All"},
		"Enrolled/yes":                             {Enrolled, target(), machine.Yes, "MachineSet a is enrolled"},
		"Enrolled/no":                              {Enrolled, target(func(f *Facts) { f.Enrolment.Is = false }), machine.No, "spec.managedBootImages"},
		"Enrolled/no, of another cluster":          {Enrolled, target(ofClusterAPI, func(f *Facts) { f.Enrolment = Enrolment{Known: true, OtherCluster: "d"} }), machine.No, "Cluster d and not of this one"},
		"Enrolled/no, of the Cluster API":          {Enrolled, target(ofClusterAPI, func(f *Facts) { f.Enrolment.Is = false }), machine.No, "annotations boot-images"},
		"GateIsOpen/not asked in this process":     {GateIsOpen, target(unasked), machine.Unknown, "nobody can tell yet"},
		"GateIsOpen/closed":                        {GateIsOpen, target(closed), machine.No, "capstan status"},
		"GateIsOpen/closed, and why":               {GateIsOpen, target(closed, func(f *Facts) { f.Gate.Why = "an upgrade" }), machine.No, "an upgrade"},
		"GateIsOpen/open":                          {GateIsOpen, target(), machine.Yes, ""},
		"IsValid/not read":                         {IsValid, Facts{Seen: true}, machine.Unknown, ""},
		"IsValid/no":                               {IsValid, target(invalid), machine.No, "providerSpec is empty: correct it"},
		"IsValid/yes, whatever the gate says":      {IsValid, target(closed), machine.Yes, ""},
		"IsAsWanted/the gate is closed":            {IsAsWanted, target(closed), machine.Unknown, "may not be moved"},
		"IsAsWanted/the gate was not asked":        {IsAsWanted, target(moved, unasked), machine.Unknown, ""},
		"IsAsWanted/not read":                      {IsAsWanted, target(func(f *Facts) { f.Target = Target{} }), machine.Unknown, "not been read"},
		"IsAsWanted/not judged":                    {IsAsWanted, target(unjudged), machine.Unknown, "which image"},
		"IsAsWanted/invalid":                       {IsAsWanted, target(invalid, unjudged), machine.No, "correct it"},
		"IsAsWanted/no image is known":             {IsAsWanted, target(func(f *Facts) { f.Verdict.Wanted = "" }), machine.No, "no image is known"},
		"IsAsWanted/another image":                 {IsAsWanted, target(), machine.No, "has image ami-old, and ami-new is wanted"},
		"IsAsWanted/another image, stub unread":    {IsAsWanted, target(unreadStub), machine.No, ""},
		"IsAsWanted/the image, and stub unread":    {IsAsWanted, target(moved, unreadStub), machine.Unknown, "forbidden"},
		"IsAsWanted/the image, and an old stub":    {IsAsWanted, target(moved, oldStub), machine.No, "worker-user-data is of spec 2.2.0, older than 3"},
		"IsAsWanted/yes":                           {IsAsWanted, target(moved), machine.Yes, "wanted image ami-new"},
		"IsAsWanted/yes, although it is foreign":   {IsAsWanted, target(moved, foreign), machine.Yes, ""},
		"MayBeWritten/the gate is closed":          {MayBeWritten, target(closed), machine.Unknown, ""},
		"MayBeWritten/not judged":                  {MayBeWritten, target(unjudged), machine.Unknown, ""},
		"MayBeWritten/invalid":                     {MayBeWritten, target(invalid), machine.Unknown, "correct it"},
		"MayBeWritten/yes":                         {MayBeWritten, target(), machine.Yes, ""},
		"MayBeWritten/no image is known":           {MayBeWritten, target(func(f *Facts) { f.Verdict.Wanted = "" }), machine.No, "no image is known"},
		"MayBeWritten/skipped":                     {MayBeWritten, target(foreign), machine.No, "Foreign"},
		"MayBeWritten/skipped, with an old stub":   {MayBeWritten, target(foreign, oldStub), machine.No, "Foreign"},
		"MayBeWritten/only the stub is old":        {MayBeWritten, target(foreign, moved, oldStub), machine.Yes, "only its stub"},
		"MayBeWritten/maybe only the stub is":      {MayBeWritten, target(foreign, moved, unreadStub), machine.Unknown, "forbidden"},
		"MayBeWritten/skipped, and all is as well": {MayBeWritten, target(foreign, moved), machine.No, "Foreign"},
	})
}

func TestGuards_of_the_way(t *testing.T) {
	stalled := func(from machine.State, done machine.Answer) func(*Facts) {
		return func(f *Facts) {
			f.Then = Then{Event: ProgressStalled, From: from, Resumed: machine.Resumed{Done: done}}
		}
	}
	failed := func(failing bool) func(*Facts) {
		return func(f *Facts) { f.Then = Then{Event: "FailureEstablished", From: "Cloning", Failing: failing} }
	}
	made := func(n int, own bool) func(*Facts) {
		return func(f *Facts) { f.Attempts.Made, f.Attempts.Own = n, own }
	}
	awaits := func(f *Facts) { f.Stub.Awaits = "openshift-machine-api/worker-user-data" }
	entered := func(f *Facts) { f.Then.Inputs = Inputs(target()) }
	hot := func(f *Facts) { f.Attempts.LastWriter, f.Attempts.StubUpgraded = "argocd", "worker-user-data" }
	ask(t, map[string]row{
		"AttemptsLeft/not known":                      {AttemptsLeft, target(func(f *Facts) { f.Attempts = Attempts{} }), machine.Unknown, ""},
		"AttemptsLeft/two made":                       {AttemptsLeft, target(made(2, false)), machine.Yes, "attempt 3 of 3"},
		"AttemptsLeft/three made":                     {AttemptsLeft, target(made(3, true)), machine.No, "3 times, and it did not stay; have it no longer changed back, then: kubectl annotate"},
		"AttemptsLeft/three made, retries used":       {AttemptsLeft, target(made(3, true), func(f *Facts) { f.Attempts.RetriesUsed = true }), machine.No, "opt it out and in again, which forgets all attempts"},
		"AttemptsLeft/three made, and by whom":        {AttemptsLeft, target(made(3, true), hot), machine.No, "argocd has written it last; Secret worker-user-data was upgraded"},
		"PlanStands/not known":                        {PlanStands, target(func(f *Facts) { f.Plan = Plan{} }), machine.Unknown, "not known yet"},
		"PlanStands/there is none":                    {PlanStands, target(func(f *Facts) { f.Plan = Plan{Known: true, None: true} }), machine.No, "no plan"},
		"PlanStands/yes":                              {PlanStands, target(), machine.Yes, "stands"},
		"PlanStands/the gate is closed":               {PlanStands, target(closed), machine.No, "may not be moved"},
		"PlanStands/the gate was not asked":           {PlanStands, target(unasked), machine.Unknown, ""},
		"PlanStands/not judged":                       {PlanStands, target(unjudged), machine.Unknown, ""},
		"PlanStands/another image is wanted":          {PlanStands, target(func(f *Facts) { f.Verdict.Wanted = "ami-newer" }), machine.No, "ami-newer is wanted by now"},
		"PlanStands/somebody has changed the image":   {PlanStands, target(func(f *Facts) { f.Target.Image = "ami-other" }), machine.No, "ami-other by now"},
		"PlanStands/the write has arrived":            {PlanStands, target(moved), machine.No, "by now"},
		"PlanStands/only the stub was old, and is":    {PlanStands, target(moved, oldStub, func(f *Facts) { f.Plan.Old = "ami-new" }), machine.Yes, ""},
		"PlanStands/only the stub was old":            {PlanStands, target(moved, func(f *Facts) { f.Plan.Old = "ami-new" }), machine.No, "has the wanted image"},
		"PlanStands/it may not be written any more":   {PlanStands, target(foreign), machine.No, "Foreign"},
		"PlanStands/it cannot be read any more":       {PlanStands, target(invalid, unjudged), machine.No, "correct it"},
		"PlanStands/its own is the third attempt":     {PlanStands, target(made(3, true)), machine.Yes, ""},
		"PlanStands/three were made before":           {PlanStands, target(made(3, false)), machine.No, "did not stay"},
		"PlanStands/the Secret was changed":           {PlanStands, target(oldStub, func(f *Facts) { f.Stub.SecretVersion = "2" }), machine.No, "changed Secret worker-user-data"},
		"PlanStands/the Secret was upgraded":          {PlanStands, target(func(f *Facts) { f.Stub.SecretVersion = "2" }), machine.Yes, ""},
		"PlanStands/the Secret is not read":           {PlanStands, target(unreadStub), machine.Unknown, "forbidden"},
		"StubIsReady/not read":                        {StubIsReady, target(unreadStub), machine.Unknown, "forbidden"},
		"StubIsReady/old":                             {StubIsReady, target(oldStub), machine.No, "spec 2.2.0"},
		"StubIsReady/a copy":                          {StubIsReady, target(oldStub, awaits), machine.No, "until it follows Secret openshift-machine-api/worker-user-data"},
		"StubIsReady/yes":                             {StubIsReady, target(), machine.Yes, ""},
		"AttemptIsStored/not known":                   {AttemptIsStored, target(func(f *Facts) { f.Attempts = Attempts{} }), machine.Unknown, ""},
		"AttemptIsStored/not yet":                     {AttemptIsStored, target(made(1, false)), machine.No, "is not stored yet: nothing of it is sent before"},
		"AttemptIsStored/that of this plan":           {AttemptIsStored, target(made(1, true)), machine.Yes, "is stored"},
		"AttemptIsStored/nothing is to be written":    {AttemptIsStored, target(func(f *Facts) { f.Verdict.Same = true }), machine.Yes, "only its stub was old"},
		"TemplateIsReady/none is needed":              {TemplateIsReady, target(), machine.Yes, "needs no template"},
		"TemplateIsReady/not looked for":              {TemplateIsReady, target(ofClusterAPI), machine.Unknown, ""},
		"TemplateIsReady/there is none":               {TemplateIsReady, target(ofClusterAPI, func(f *Facts) { f.Template = Template{Known: true, Name: "a-1"} }), machine.No, "template a-1"},
		"TemplateIsReady/ready":                       {TemplateIsReady, target(ofClusterAPI, func(f *Facts) { f.Template = Template{Known: true, Ready: true} }), machine.Yes, ""},
		"WriteIsSeen/not known":                       {WriteIsSeen, target(), machine.Unknown, ""},
		"WriteIsSeen/not yet":                         {WriteIsSeen, target(func(f *Facts) { f.Write.Known = true }), machine.No, "not seen yet"},
		"WriteIsSeen/yes":                             {WriteIsSeen, target(func(f *Facts) { f.Write = Write{Known: true, Seen: true} }), machine.Yes, ""},
		"CauseIsGone/it still fails":                  {CauseIsGone, target(failed(true)), machine.No, ""},
		"CauseIsGone/it has passed":                   {CauseIsGone, target(failed(false)), machine.Yes, "has passed"},
		"CauseIsGone/a stall that fails by now":       {CauseIsGone, target(stalled("Cloning", machine.SayYes("")), func(f *Facts) { f.Then.Failing = true }), machine.No, ""},
		"CauseIsGone/what was waited for is there":    {CauseIsGone, target(stalled("Cloning", machine.SayYes(""))), machine.Yes, "is there"},
		"CauseIsGone/what was waited for is not":      {CauseIsGone, target(stalled("Cloning", machine.SayNo("no template")), oldStub, made(1, true)), machine.No, "no template"},
		"CauseIsGone/the attempt was not stored":      {CauseIsGone, target(stalled("Cloning", machine.SayNo("not stored"))), machine.Yes, "the attempt is not for others to store"},
		"CauseIsGone/nobody can tell":                 {CauseIsGone, target(stalled("Settling", machine.SayUnknown("x"))), machine.Unknown, "x"},
		"CauseIsGone/the stub is others' to upgrade":  {CauseIsGone, target(stalled(UpgradingStub, machine.SayNo("")), oldStub, awaits), machine.No, ""},
		"CauseIsGone/the template is ours to make":    {CauseIsGone, target(stalled(Cloning, machine.SayNo("no template")), func(f *Facts) { f.Template.Known = true }), machine.Yes, "not for others"},
		"CauseIsGone/the stub is ours to upgrade":     {CauseIsGone, target(stalled(UpgradingStub, machine.SayNo("")), oldStub), machine.Yes, "not for others"},
		"InputChanged/not known":                      {InputChanged, target(entered, unjudged), machine.Unknown, ""},
		"InputChanged/the same":                       {InputChanged, target(entered), machine.No, ""},
		"InputChanged/a gate that closes changes not": {InputChanged, target(entered, closed), machine.No, ""},
		"InputChanged/a record without any":           {InputChanged, target(), machine.Yes, ""},
		"InputChanged/made anew":                      {InputChanged, target(entered, func(f *Facts) { f.Object.UID = "v" }), machine.Yes, "has changed"},
		"InputChanged/another verdict":                {InputChanged, target(entered, foreign), machine.Yes, ""},
		"InputChanged/another image is wanted":        {InputChanged, target(entered, func(f *Facts) { f.Verdict.Wanted = "ami-newer" }), machine.Yes, ""},
		"InputChanged/another Secret":                 {InputChanged, target(entered, func(f *Facts) { f.Stub.SecretVersion = "2" }), machine.Yes, ""},
		"InputChanged/the template":                   {InputChanged, target(entered, func(f *Facts) { f.Template.Version = "2" }), machine.Yes, ""},
		"InputChanged/a field or an annotation":       {InputChanged, target(entered, func(f *Facts) { f.Target.Fields = "2" }), machine.Yes, ""},
		"InputChanged/corrected":                      {InputChanged, target(func(f *Facts) { f.Then.Inputs = Inputs(target(invalid, unjudged)) }), machine.Yes, ""},
	})
}

func TestProgress_counts_steps(t *testing.T) {
	for done, facts := range []Facts{
		{},
		target(oldStub),
		target(),
		target(func(f *Facts) { f.Write = Write{Known: true, Seen: true} }),
	} {
		if got, known := Progress(facts); got != done || known != facts.Seen {
			t.Errorf("%d steps are done (%v), want %d", got, known, done)
		}
	}
}

func TestRecall_copies_the_record(t *testing.T) {
	var f Facts
	Recall(&f, machine.Record{LastEvent: ProgressStalled, CameFrom: UpgradingStub, Entry: machine.Entry{Inputs: "i"}, Failure: &machine.Failure{}}, machine.Resumed{Done: machine.SayYes("")})
	if want := (Then{Event: ProgressStalled, From: UpgradingStub, Inputs: "i", Failing: true, Resumed: machine.Resumed{Done: machine.SayYes("")}}); f.Then != want {
		t.Errorf("it recalls %+v, want %+v", f.Then, want)
	}
}
