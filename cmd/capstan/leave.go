package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
)

// named reads the objects that somebody names, each once.
func named(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		object, err := acts.Named(text)
		switch {
		case err != nil:
			return nil, err
		case len(object.Rest) > 0:
			return nil, fmt.Errorf("%q is more than an object", text)
		case !slices.Contains(all, object.String()):
			all = append(all, object.String())
		}
	}
	return all, nil
}

// about is an act's items that name objects.
func about(objects []string) []acts.Said {
	var items []acts.Said
	for _, o := range objects {
		items = append(items, acts.Said{Key: "object", Value: o})
	}
	return items
}

// stands is the act whose text is there, if it counts at a moment.
func stands(name, text string, now time.Time) (acts.Act, bool) {
	act, err := acts.Read(name, text)
	return act, err == nil && act.Void(now) == ""
}

// leave asks to leave objects alone, besides those that are left alone already.
func (f *pauseFlags) leave(ctx context.Context, in io.Reader, out io.Writer, objects []string) error {
	objects, err := named(objects)
	if err != nil {
		return err
	}
	if err := f.check(acts.LeaveAlone); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.LeaveAlone)
	if err != nil {
		return err
	}
	undo, shows, wanted := asking.Command(asking.Resume, objects), "", slices.Clone(objects)
	if before, counts := stands(acts.LeaveAlone, looked.Text, looked.At); counts {
		for _, o := range before.Objects() {
			if !slices.Contains(objects, o.String()) {
				wanted = append(wanted, o.String())
			}
		}
		shows = fmt.Sprintf("It takes the place of the one by %s until %s: %s\n", before.By, machine.Moment(before.Until), before.Reason)
	}
	act := acts.Act{
		Name: acts.LeaveAlone, By: looked.By, At: looked.At, Until: looked.At.Add(f.lasts).Truncate(time.Second), Reason: f.reason, Items: about(wanted),
	}
	text, err := act.Text()
	if err != nil {
		return fmt.Errorf("what is asked for cannot be written down: %w", err)
	}
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.LeaveAlone, text: text, act: &act, objects: objects,
		does: asked{Does: "leave alone", By: act.By, At: act.At, Until: act.Until, Reason: act.Reason, Objects: wanted, Replaces: looked.Text, Undo: undo},
		shows: fmt.Sprintf("Leave alone until %s (%s), by %s, because: %s\n%s%s%s\n", machine.Moment(act.Until), f.lasts, act.By, act.Reason, listed(wanted), shows,
			"They are not written, created or deleted. A new revision waits at the wave of one that is not as it wants it."),
		said: fmt.Sprintf("Left alone until %s. To end that before: %s\n", machine.Moment(act.Until), undo),
	})
}

// listed has a line for each object.
func listed(objects []string) string {
	return "  " + strings.Join(objects, "\n  ") + "\n"
}

// release ends that objects are left alone, before its time.
func (f *askFlags) release(ctx context.Context, in io.Reader, out io.Writer, objects []string) error {
	objects, err := named(objects)
	if err != nil {
		return err
	}
	if err := f.validate(); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.LeaveAlone)
	if err != nil {
		return err
	}
	does := asked{Does: "resume", By: looked.By, At: looked.At, Objects: objects, Replaces: looked.Text}
	before, counts := stands(acts.LeaveAlone, looked.Text, looked.At)
	var rest, freed []string
	for _, o := range before.Objects() {
		if slices.Contains(objects, o.String()) {
			freed = append(freed, o.String())
		} else {
			rest = append(rest, o.String())
		}
	}
	switch {
	case counts && len(freed) < len(objects):
		return fmt.Errorf("%s is not left alone; those that are: %s", missing(objects, freed), strings.Join(slices.Concat(freed, rest), ", "))
	case looked.Text == "":
		if f.output == "json" {
			return terminal.JSON(out, does)
		}
		fmt.Fprintln(out, "Nothing to do: nothing is left alone.")
		return nil
	}
	r := request{name: acts.LeaveAlone, does: does, shows: "Take back what leaves objects alone, which is void already.\n", said: "Nothing is left alone any more.\n"}
	if counts {
		r.shows = fmt.Sprintf("End that these are left alone, by %s since %s until %s: %s\n%s", before.By, machine.Moment(before.At), machine.Moment(before.Until), before.Reason, listed(freed))
		if left := before.Until.Sub(looked.At); left >= time.Second {
			r.does.Undo = asking.Command(fmt.Sprintf("capstan pause --for %s --reason %s", left, message.ShellWord(before.Reason)), freed)
			r.said = "They are not left alone any more. To do so again: " + r.does.Undo + "\n"
		}
	}
	if counts && len(rest) > 0 {
		r.act = &acts.Act{Name: acts.LeaveAlone, By: looked.By, At: looked.At, Until: before.Until, Reason: before.Reason, Items: about(rest)}
		r.does.Until, r.does.Reason = before.Until, before.Reason
		r.shows += "These stay left alone, from now on in your name:\n" + listed(rest)
		if r.text, err = r.act.Text(); err != nil {
			return fmt.Errorf("what is asked for cannot be written down: %w", err)
		}
	}
	return f.do(ctx, in, out, cluster, looked, r)
}

// missing is the first that a list lacks.
func missing(all, in []string) string {
	return all[slices.IndexFunc(all, func(o string) bool { return !slices.Contains(in, o) })]
}
