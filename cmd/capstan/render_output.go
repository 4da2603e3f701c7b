package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/phases/render"
)

// revision is what -o json prints; scripts rely on its shape.
type revision struct {
	Name          string            `json:"name"`
	ContentID     string            `json:"contentID"`
	Revision      int64             `json:"revision"`
	Platform      string            `json:"platform"`
	Components    []component       `json:"components"`
	Skipped       []skipped         `json:"skipped"`
	Substitutions map[string]string `json:"substitutions"`
}

type component struct {
	Name         string   `json:"name"`
	Image        string   `json:"image"`
	Profile      string   `json:"profile"`
	InstallOrder int      `json:"installOrder"`
	ContentID    string   `json:"contentID"`
	Objects      []object `json:"objects"`
}

type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

type skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// describe makes empty lists rather than null ones, so that readers of the JSON need no second case.
func describe(rev *render.Revision, release, platform string, number int64) revision {
	r := revision{
		Name: render.Name(release, rev.ContentID, number), ContentID: rev.ContentID, Revision: number, Platform: platform,
		Components: []component{}, Skipped: []skipped{}, Substitutions: map[string]string{},
	}
	for _, c := range rev.Components {
		described := component{
			Name: c.Name, Image: c.Image, Profile: c.Profile, InstallOrder: c.InstallOrder, ContentID: c.ContentID, Objects: []object{},
		}
		for _, o := range c.Objects {
			described.Objects = append(described.Objects, object{
				APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(),
			})
		}
		r.Components = append(r.Components, described)
	}
	for _, s := range rev.Skipped {
		r.Skipped = append(r.Skipped, skipped{Name: s.Name, Reason: s.Reason})
	}
	for _, s := range rev.Substitutions {
		r.Substitutions[s.Key] = s.Value
	}
	return r
}

// revisionFormats are the values of --output.
var revisionFormats = map[string]func(io.Writer, revision, *render.Revision) error{
	"summary": printSummary,
	"json":    func(out io.Writer, r revision, _ *render.Revision) error { return terminal.JSON(out, r) },
	"yaml":    printObjects,
}

func printSummary(out io.Writer, r revision, rev *render.Revision) error {
	objects := 0
	for _, c := range r.Components {
		objects += len(c.Objects)
	}
	fmt.Fprintf(out, "revision   %s\ncontent    %s\nplatform   %s\ncomponents %d with %s\n", r.Name, r.ContentID, r.Platform, len(r.Components), count(objects, "object"))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Components) > 0 {
		fmt.Fprintf(table, "\nORDER\tCOMPONENT\tPROFILE\tOBJECTS\tCONTENT\tIMAGE\n")
	}
	for _, c := range r.Components {
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%.8s\t%s\n", c.InstallOrder, c.Name, c.Profile, len(c.Objects), c.ContentID, c.Image)
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintf(table, "\nSKIPPED\tREASON\n")
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(table, "%s\t%s\n", s.Name, s.Reason)
	}
	if len(rev.Substitutions) > 0 {
		fmt.Fprintf(table, "\nVARIABLE\tVALUE\n")
	}
	for _, s := range rev.Substitutions {
		fmt.Fprintf(table, "%s\t%s\n", s.Key, s.Value)
	}
	if len(rev.Unmanaged)+len(rev.Nowhere) > 0 {
		fmt.Fprintf(table, "\nUNMANAGED\n")
	}
	for _, name := range rev.Unmanaged {
		fmt.Fprintf(table, "%s\n", name)
	}
	for _, name := range rev.Nowhere {
		fmt.Fprintf(table, "%s\t(in no profile, and without effect)\n", name)
	}
	return table.Flush()
}

// printObjects omits unmanaged CustomResourceDefinitions: the operator does not apply them, but what it requires of them.
func printObjects(out io.Writer, r revision, rev *render.Revision) error {
	unmanaged := map[string]bool{}
	for _, name := range rev.Unmanaged {
		unmanaged[name] = true
	}
	write := func(objects []*unstructured.Unstructured) error {
		for _, o := range objects {
			if o.GetKind() == "CustomResourceDefinition" && unmanaged[o.GetName()] {
				continue
			}
			text, err := yaml.Marshal(o.Object)
			if err != nil {
				return fmt.Errorf("writing %s %s as YAML: %w", o.GetKind(), o.GetName(), err)
			}
			fmt.Fprintf(out, "---\n%s", text)
		}
		return nil
	}
	fmt.Fprintf(out, "# Revision %s, content %s\n", r.Name, r.ContentID)
	if len(rev.Shapes) > 0 {
		fmt.Fprintf(out, "# Component %s\n", render.RequirementsComponent)
	}
	if err := write(rev.Shapes); err != nil {
		return err
	}
	for _, c := range rev.Components {
		fmt.Fprintf(out, "# Component %s: profile %s of %s\n", c.Name, c.Profile, c.Image)
		if err := write(c.Objects); err != nil {
			return err
		}
	}
	return nil
}
