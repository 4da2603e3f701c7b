package clusterapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// ProofOf is how an inventory knows the entry of its revision: whoever writes the
// list of revisions can name images, and not have them taken for what was listed.
func ProofOf(entry operatorv1alpha1.ClusterAPIInstallerRevision) string {
	text, err := json.Marshal(entry)
	if err != nil {
		panic(err) // an entry is strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// announced is what the engine stores of an entry before it is listed.
func announced(entry operatorv1alpha1.ClusterAPIInstallerRevision) engine.RevisionRef {
	return engine.RevisionRef{Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Listed: ProofOf(entry)}
}

// proofs are what inventories prove of the list of revisions, as of one pass.
type proofs struct{ engine.Proofs }

// numbers are those of the listed revisions.
func (w world) numbers() []int64 {
	var numbers []int64
	for _, entry := range w.entries() {
		numbers = append(numbers, entry.Revision)
	}
	return numbers
}

func (p proofs) of(number int64) *engine.Proof {
	for i := range p.Of {
		if p.Of[i].Number == number {
			return &p.Of[i]
		}
	}
	return nil
}

// prove says that an inventory knows the very entry.
func (p proofs) prove(entry *operatorv1alpha1.ClusterAPIInstallerRevision) bool {
	if entry == nil {
		return false
	}
	known := p.of(entry.Revision)
	return known != nil && known.Listed == ProofOf(*entry)
}

// knows says that an inventory has the revision's content, and is older than the
// proofs. Whoever believes it holds the rendered content against that, and fetches
// nothing for it.
func (p proofs) knows(entry *operatorv1alpha1.ClusterAPIInstallerRevision) bool {
	known := p.of(entry.Revision)
	return known != nil && known.Own && known.Listed == "" && known.Revision == string(entry.Name) && known.ContentID == entry.ContentID
}

// whose says why a listed revision is not known to be this operator's, nil if it
// is. An entry with the planned content is as good as one of ours, because what
// is executed then is the plan; unless its number stands for another content.
func (p proofs) whose(entry *operatorv1alpha1.ClusterAPIInstallerRevision, planned *render.Revision) error {
	known := p.of(entry.Revision)
	switch {
	case planned != nil && planned.ContentID == entry.ContentID && (known == nil || known.ContentID == entry.ContentID):
		return nil
	case p.prove(entry), p.knows(entry):
		return nil
	case !p.Seen && p.Err != nil:
		return p.Err
	case !p.Seen:
		return &notYetError{"the inventories are being listed, which prove whose the revision is"}
	}
	return &notOursError{fmt.Sprintf("revision %s was listed by somebody else: no inventory of this operator's proves it", entry.Name)}
}

// whose is the same with what this process has rendered already, which was proved
// then: an inventory that is lost since is stored again.
func (p *Pass) whose(entry *operatorv1alpha1.ClusterAPIInstallerRevision) error {
	if known := p.memory.listed[string(entry.Name)+" "+entry.ContentID]; known.revision != nil {
		return nil
	}
	return p.proofs.whose(entry, p.plan.revision)
}

// foreignWhy says why a listed revision is not this operator's, empty if it is or nobody knows yet.
func (p *Pass) foreignWhy(entry *operatorv1alpha1.ClusterAPIInstallerRevision) string {
	var notOurs *notOursError
	if entry != nil && errors.As(p.whose(entry), &notOurs) {
		return notOurs.why
	}
	return ""
}

func (p *Pass) desiredForeign() string { return p.foreignWhy(p.world.desiredEntry()) }

// foreign are the listed revisions that are not this operator's.
func (p *Pass) foreign() []operatorv1alpha1.ClusterAPIInstallerRevision {
	return slices.DeleteFunc(slices.Clone(p.world.entries()), func(entry operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return p.foreignWhy(&entry) == ""
	})
}

// givingWay are those that leave a full list for a revision of ours. The current
// one stays listed until ours has taken its place.
func (p *Pass) givingWay() []operatorv1alpha1.ClusterAPIInstallerRevision {
	return slices.DeleteFunc(p.foreign(), func(entry operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return entry.Name == p.world.api.Status.CurrentRevision
	})
}

// makeRoom returns the revisions of others that leave a full list, and gives them
// inventories, so that what they have applied is pruned all the same.
func (p *Pass) makeRoom(ctx context.Context) ([]operatorv1alpha1.ClusterAPIInstallerRevision, error) {
	if len(p.world.entries()) < guards.MaxRevisions {
		return nil, nil
	}
	giveWay := p.givingWay()
	var adopt []engine.RevisionRef
	for _, entry := range giveWay {
		adopt = append(adopt, engine.RevisionRef{Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID})
	}
	return giveWay, p.Engine.Adopt(ctx, adopt...)
}
