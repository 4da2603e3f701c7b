package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
)

// Target says which machine to look at, and where.
type Target struct {
	Access
	// Views are those of all machines; the first is looked at unless another is named.
	Views   []view.View
	Machine string
	Key     string
}

// Flags adds the flags of a target.
func (t *Target) Flags(flags *pflag.FlagSet) {
	t.Access.Flags(flags)
	flags.StringVar(&t.Machine, "machine", t.Views[0].Table.Name, "`name` of the machine to look at: "+t.names())
	flags.StringVar(&t.Key, "key", "", "`[namespace/]name` of the object to look at, for a machine that has one for each")
}

func (t *Target) names() string {
	var names []string
	for _, v := range t.Views {
		names = append(names, v.Table.Name)
	}
	return strings.Join(names, ", ")
}

// View is that of the machine.
func (t *Target) View() (view.View, error) {
	for _, v := range t.Views {
		if v.Table.Name == t.Machine {
			return v, nil
		}
	}
	return view.View{}, &Error{What: fmt.Sprintf("there is no machine %q", t.Machine), Next: "name one of these with --machine: " + t.names()}
}

// Looker finds the cluster and binds to it; nothing is sent before it looks.
func (t *Target) Looker() (func(context.Context) (View, error), error) {
	of, err := t.View()
	if err != nil {
		return nil, err
	}
	reader, err := t.Reader()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (View, error) {
		seen, err := of.Look(ctx, reader.Get, machine.Key(t.Key))
		return View{Seen: seen, Table: of.Table}, err
	}, nil
}

// Look finds the cluster and reads it once.
func (t *Target) Look(ctx context.Context) (View, error) {
	look, err := t.Looker()
	if err != nil {
		return View{}, err
	}
	return look(ctx)
}
