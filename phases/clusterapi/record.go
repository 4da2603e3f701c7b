package clusterapi

import (
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	corev1 "k8s.io/api/core/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/status"
)

// Condition is what the machine tells people on the ClusterOperator.
type Condition = status.Condition

// Snapshot is the machine after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Words derive what people are told from a snapshot; they are the table's.
type Words struct {
	Conditions func(Snapshot) []Condition
	// Line says in one line why it is not done.
	Line func(Snapshot) string
}

// Store keeps the machine's record in the status of the ClusterOperator, beside
// what people are told.
func (p *Phases) Store(t machine.Table[guards.Facts, *Pass], words Words, operators configclient.ClusterOperatorInterface, tell func(events.Event)) *status.Store[guards.Facts, *Pass] {
	p.name = t.Name
	return status.New(status.Config[guards.Facts, *Pass]{
		Table: t, Operator: ClusterOperatorName, Former: []string{installerManager, revisionManager}, Lasting: []string{InstallerController + "Available"}, Tell: p.tell(words),
		Client: p.Client, Operators: operators, Event: tell, Now: p.Now, Log: p.Log,
	})
}

// tell derives what stands in the status of the ClusterOperator.
func (p *Phases) tell(words Words) func(Snapshot, status.Stored) status.Told {
	return func(shot Snapshot, stored status.Stored) status.Told {
		line, before := words.Line(shot), storedDetail(stored.Detail)
		display := p.stillStanding(before, shot.Seen.Display)
		detail := detailOf(line, display, shot.Candidates())
		if len(p.memory.unneeded) > 0 {
			detail.ImagesBy = p.imagesBy()
		}
		encoded := detail.encode()
		return status.Told{
			Line: line, About: p.About(), Conditions: words.Conditions(shot),
			Detail: encoded, Events: eventsOf(before, storedDetail(encoded), display),
			Versions: p.versions(stored.Versions, shot.Facts), Related: p.related(stored.Related),
		}
	}
}

// About is the object that Events are about.
func (p *Phases) About() corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: operatorv1alpha1.GroupVersion.String(), Kind: "ClusterAPI", Name: Singleton, UID: p.memory.apiUID,
	}
}
