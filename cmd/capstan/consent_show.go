package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/losses"
	"github.com/capstan-capi/capstan/cmd/terminal"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// awaiting is what -o json prints without objects.
type awaiting struct {
	At time.Time `json:"at"`
	// Revision is the number of the one beside which they are retained.
	Revision int64         `json:"revision,omitempty"`
	Retained []losses.Loss `json:"retained"`
	// Unread says of which objects it cannot be told what they hold, and why.
	Unread []string `json:"unread,omitempty"`
	// Uninstall is the name of a revision that would end what runs.
	Uninstall string `json:"uninstall,omitempty"`
}

// show tells of all that is retained.
func (f *consentFlags) show(ctx context.Context, out io.Writer) error {
	switch {
	case f.yes || f.dryRun || f.digest != "" || f.reason != "":
		return errors.New("name the objects that are consented to, which capstan consent shows, or say --uninstall")
	case f.timeout <= 0:
		return fmt.Errorf("--timeout is %s, and has to be above 0", f.timeout)
	}
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	cluster, looked, err := f.askFlags.look(ctx, acts.ConsentToDelete)
	if err != nil {
		return err
	}
	kept, err := cluster.Kept(ctx)
	if err != nil {
		return err
	}
	lister, err := f.lister()
	if err != nil {
		return err
	}
	found := awaiting{At: looked.At, Revision: looked.Newest, Retained: []losses.Loss{}, Uninstall: kept.Uninstall}
	var texts []string
	for _, r := range kept.Retained {
		text, err := f.showOne(ctx, lister, &found, r, looked)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	if f.output == "json" {
		return terminal.JSON(out, found)
	}
	_, err = io.WriteString(out, printable(found.text(texts, kept)))
	return err
}

// showOne tells of one object that is retained; that it cannot be read is told in its place.
func (f *consentFlags) showOne(ctx context.Context, lister *losses.Lister, found *awaiting, told guards.RetainedObject, looked asking.Looked) (string, error) {
	name := told.Named()
	object, err := acts.Named(name)
	if err != nil {
		return "", err
	}
	loss, err := lister.Of(ctx, object, f.named(), givenAt(looked, object, told.Void))
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		found.Unread = append(found.Unread, name+": "+err.Error())
		return name + "\n  " + strings.ReplaceAll(err.Error(), "\n", "\n  ") + "\n", nil
	}
	found.Retained = append(found.Retained, loss)
	return retained(loss, told, looked.At), nil
}

// retained tells of one object what would be lost with it, as the caller sees that, and what the operator says of it. Nobody can
// consent to what the operator cannot tell all of.
func retained(loss losses.Loss, told guards.RetainedObject, now time.Time) string {
	text := loss.Text(now)
	if told.Void != "" {
		text += "  Consent: " + told.Void + "\n"
	}
	switch {
	case told.Uncounted():
		text += "  Operator: " + told.Why + "\n"
	case loss.Digest != "":
		text += "  Next:    " + asking.Command(asking.Consent, []string{told.Named()}) + " --reason TEXT\n"
	}
	return text
}

// givenAt is when a consent to lose an object was given that does not count any more, the zero time for none.
func givenAt(looked asking.Looked, object acts.Object, void string) time.Time {
	act, counts := stands(acts.ConsentToDelete, looked.Text, looked.At)
	if void == "" || !counts || !slices.ContainsFunc(act.Objects(), func(o acts.Object) bool { return o.String() == object.String() }) {
		return time.Time{}
	}
	return act.At
}

func (a awaiting) text(texts []string, kept asking.Kept) string {
	text := "Nothing is retained for the data in it.\n"
	if len(texts) > 0 {
		text = fmt.Sprintf("Retained beside revision %d for the data in them. Each goes by itself once it holds nothing.\n\n%s", a.Revision, strings.Join(texts, "\n"))
	}
	if a.Uninstall != "" {
		text += fmt.Sprintf("\nRevision %s is not listed because it would end what runs: %s\n  Next:    %s --reason TEXT\n", a.Uninstall, kept.Why, phases.ConsentToUninstall)
	}
	return text
}
