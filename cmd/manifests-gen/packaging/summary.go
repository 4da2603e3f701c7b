package packaging

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// SummaryFile lists the objects of a profile, for reviewers of a change.
const SummaryFile = "manifests-summary.yaml"

// summaryEntry is one object of SummaryFile.
type summaryEntry struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// encodeSummary lists the objects by kind, API version, namespace and name.
func encodeSummary(objects []*unstructured.Unstructured) ([]byte, error) {
	entries := make([]summaryEntry, len(objects))
	for i, object := range objects {
		entries[i] = summaryEntry{object.GetAPIVersion(), object.GetKind(), object.GetName(), object.GetNamespace()}
	}
	slices.SortFunc(entries, func(a, b summaryEntry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	summary, err := yaml.Marshal(entries)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", SummaryFile, err)
	}
	return summary, nil
}

// report is what was done, for a person to read.
type report struct {
	objects    []*unstructured.Unstructured
	excluded   *exclusion
	renamed    []renamed
	protection *protection
}

// Report prints what the profile contains and what was changed.
func (p *Profile) Report(w io.Writer) error {
	var text []byte
	line := func(format string, args ...any) { text = fmt.Appendf(text, "  "+format+"\n", args...) }
	kinds := map[string]int{}
	for _, object := range p.report.objects {
		kinds[object.GetKind()]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		line("%3d %s", kinds[kind], kind)
	}
	var excluded []string
	for object := range p.report.excluded.gone {
		excluded = append(excluded, describe(object))
	}
	slices.Sort(excluded)
	for _, object := range excluded {
		line("excluded %s", object)
	}
	if e := p.report.excluded; e.rules > 0 {
		line("excluded from rules of webhooks and roles: %d; webhooks without a rule left, which are gone: %d", e.rules, e.webhooks)
	}
	for _, r := range p.report.renamed {
		line("renamed %s to %s, references that followed: %d", r.from, r.to, r.references)
	}
	if crd := p.report.protection.crd; crd != "" {
		line("protected from deletion: the %s named like the cluster's infrastructure", crd)
	}
	if open := p.report.protection.open; len(open) > 0 {
		line("not protected from deletion: %s (see --protect-cluster-resource)", strings.Join(open, ", "))
	}
	_, err := w.Write(text)
	return err
}
