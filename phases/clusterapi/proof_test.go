package clusterapi

import (
	"errors"
	"strings"
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// entryOf is a plan of one image, and how a release lists it with number 3.
func entryOf(release string) (*render.Revision, operatorv1alpha1.ClusterAPIInstallerRevision) {
	planned := &render.Revision{
		ContentID:  "aaaaaaaaaaaa",
		Components: []render.Component{{Name: "core", Image: "registry.example.com/core@sha256:" + strings.Repeat("0a", 32), Profile: "default"}},
	}
	return planned, NewEntry(release, 3, planned)
}

func TestProofToStore_proves_the_planned_content_whichever_release_has_listed_it(t *testing.T) {
	planned, entry := entryOf("4.22.5")
	forged := *entry.DeepCopy()
	forged.Components[0].Image.Ref = operatorv1alpha1.ImageDigestFormat("registry.example.com/evil@sha256:" + strings.Repeat("0b", 32))
	p := &Phases{Release: "4.22.6"}
	if got := p.proofToStore(&entry, planned, planned, proofs{}); got != ProofOf(entry) {
		t.Error("a later release stores what proves nothing of the entry")
	}
	if got := p.proofToStore(&forged, planned, planned, proofs{}); got == ProofOf(forged) {
		t.Error("an entry with other images than the plan's is proved by the plan")
	}
	if got := p.proofToStore(&entry, &render.Revision{ContentID: "aaaaaaaaaaaa"}, nil, proofs{}); got != ProofOf(entry) {
		t.Error("an entry that was rendered from its own images is not proved")
	}
}

func TestRevision_fetches_nothing_for_an_entry_of_which_its_inventory_has_no_proof(t *testing.T) {
	_, entry := entryOf("4.22.5")
	source := &fetching{}
	p := &Phases{Release: "4.22.5", Images: source}
	known := proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 3, Revision: string(entry.Name), ContentID: entry.ContentID, Own: true}}}}
	api := singleton()
	api.Status.Revisions, api.Status.DesiredRevision = []operatorv1alpha1.ClusterAPIInstallerRevision{entry}, entry.Name
	p.wantImages(world{api: api}, known)
	var notYet *notYetError
	if _, err := p.revision(&entry, nil, known); !errors.As(err, &notYet) || !strings.Contains(err.Error(), "are not fetched") || len(source.wanted) > 0 {
		t.Errorf("it says %v, and wants %v", err, source.wanted)
	}
}

func TestWhose_only_what_an_inventory_knows_or_the_inputs_ask_for_is_ours(t *testing.T) {
	planned := func(content string) *render.Revision {
		return &render.Revision{
			ContentID: content, Components: []render.Component{{Name: "core", Image: "registry.example.com/core@sha256:" + strings.Repeat("0a", 32), Profile: "default"}},
			Substitutions: []render.Substitution{{Key: "TLS_MIN_VERSION", Value: "VersionTLS12"}},
		}
	}
	entry := NewEntry("4.22.5", 3, planned("aaaaaaaaaaaa"))
	changed := func(change func(*operatorv1alpha1.ClusterAPIInstallerRevision)) operatorv1alpha1.ClusterAPIInstallerRevision {
		other := *entry.DeepCopy()
		change(&other)
		return other
	}
	proof := engine.Proof{Number: 3, Revision: string(entry.Name), ContentID: entry.ContentID, Listed: ProofOf(entry)}
	adopted := proof
	adopted.Listed = ""
	unproved := adopted
	unproved.Own = true
	foreign := unproved
	foreign.ContentID = "bbbbbbbbbbbb"
	other := engine.Proof{Number: 3, Revision: "4.22.5-bbbbbbbb-3", ContentID: "bbbbbbbbbbbb", Listed: "another"}
	evil := "registry.example.com/evil@sha256:" + strings.Repeat("0b", 32)
	for name, row := range map[string]struct {
		entry   operatorv1alpha1.ClusterAPIInstallerRevision
		planned *render.Revision
		proofs  []engine.Proof
		unseen  bool
		want    string
	}{
		"what an inventory knows":                         {entry: entry, proofs: []engine.Proof{proof}},
		"what no inventory knows":                         {entry: entry, want: "not ours"},
		"what only an inventory that was rebuilt knows":   {entry: entry, proofs: []engine.Proof{adopted}, want: "not ours"},
		"what an inventory knows that has no proofs yet":  {entry: entry, proofs: []engine.Proof{unproved}},
		"a content that such an inventory does not know":  {entry: entry, proofs: []engine.Proof{foreign}, want: "not ours"},
		"before the inventories are seen":                 {entry: entry, unseen: true, want: "not yet"},
		"the content that the inputs ask for":             {entry: entry, planned: planned("aaaaaaaaaaaa")},
		"that content before the inventories are seen":    {entry: entry, planned: planned("aaaaaaaaaaaa"), unseen: true},
		"that content with a number of another content":   {entry: entry, planned: planned("aaaaaaaaaaaa"), proofs: []engine.Proof{other}, want: "not ours"},
		"other content than the inputs ask for":           {entry: entry, planned: planned("bbbbbbbbbbbb"), want: "not ours"},
		"an older one of ours beside the content that is": {entry: entry, planned: planned("bbbbbbbbbbbb"), proofs: []engine.Proof{proof}},
		"another image under the same name and content": {
			entry: changed(func(e *operatorv1alpha1.ClusterAPIInstallerRevision) {
				e.Components[0].Image.Ref = operatorv1alpha1.ImageDigestFormat(evil)
			}),
			proofs: []engine.Proof{proof}, want: "not ours",
		},
		"another substitution under the same name and content": {
			entry: changed(func(e *operatorv1alpha1.ClusterAPIInstallerRevision) {
				*e.ManifestSubstitutions[0].Value = "VersionTLS10"
			}),
			proofs: []engine.Proof{proof}, want: "not ours",
		},
		"another number": {
			entry:  changed(func(e *operatorv1alpha1.ClusterAPIInstallerRevision) { e.Revision = 4 }),
			proofs: []engine.Proof{proof}, want: "not ours",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := proofs{engine.Proofs{Seen: !row.unseen, Of: row.proofs}}.whose(&row.entry, row.planned)
			var notOurs *notOursError
			var notYet *notYetError
			got := map[bool]string{true: "not ours"}[errors.As(err, &notOurs)] + map[bool]string{true: "not yet"}[errors.As(err, &notYet)]
			if got != row.want {
				t.Errorf("it is %q, want %q: %v", got, row.want, err)
			}
		})
	}
}
