package clusterapi

import (
	"errors"
	"strings"
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

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
