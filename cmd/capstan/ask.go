package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/message"
)

// askFlags are those of commands that ask something of a running operator.
type askFlags struct {
	inspect.Access
	intent
	namespace string
	output    string
	timeout   time.Duration
}

func (f *askFlags) add(flags *pflag.FlagSet) {
	f.Flags(flags)
	f.intent.flags(flags)
	flags.StringVar(&f.namespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait until the operator says what it makes of it")
}

// validate refuses what contradicts itself, and what nobody could answer.
func (f *askFlags) validate() error {
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout is %s, and has to be above 0", f.timeout)
	}
	return f.intent.validate(f.output)
}

func (f *askFlags) cluster() (*asking.Cluster, error) {
	config, err := f.Config()
	if err != nil {
		return nil, err
	}
	return asking.NewCluster(config, f.namespace, leaseName)
}

// look binds to the cluster, and finds out who asks, when, and what is asked for already by an act of a name.
func (f *askFlags) look(ctx context.Context, name string) (*asking.Cluster, asking.Looked, error) {
	cluster, err := f.cluster()
	if err != nil {
		return nil, asking.Looked{}, err
	}
	looked, err := cluster.Look(ctx, name)
	return cluster, looked, err
}

// json prints what was done, if that is asked for.
func (f *askFlags) json(out io.Writer, does asked) error {
	if f.output != "json" {
		return nil
	}
	return terminal.JSON(out, does)
}

// agreed asks whoever sits at the terminal.
func agreed(in io.Reader, out io.Writer) error {
	if file, is := in.(*os.File); !is || !term.IsTerminal(int(file.Fd())) {
		return errors.New("nobody sits at a terminal who could be asked: say --yes to do it, or --dry-run to see what would be done")
	}
	fmt.Fprint(out, "\nDo it? [y/N] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

// printable is text that may hold what others wrote, as a terminal can be given it.
func printable(text string) string { return message.Lines(text) }
