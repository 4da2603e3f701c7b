package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/support"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// fromFlag has a command read an archive of capstan support as if it were the cluster.
type fromFlag struct{ from string }

func (f *fromFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.from, "from", "", "archive of capstan support, a `file` that is read in place of a cluster")
}

// use has a target look at the archive, if there is one. now is the moment of what is seen.
func (f *fromFlag) use(target *inspect.Target) (now func() time.Time, err error) {
	if f.from == "" {
		return time.Now, nil
	}
	source, err := f.open(&target.Access)
	if err != nil {
		return nil, err
	}
	target.Instead = source
	return source.At, nil
}

// open opens the archive, which takes the place of a cluster.
func (f *fromFlag) open(cluster *inspect.Access) (*support.Source, error) {
	if cluster.Kubeconfig != "" || cluster.Context != "" || cluster.As != "" {
		return nil, errors.New("--from names an archive in place of a cluster: leave out --kubeconfig, --context and --as")
	}
	return support.Open(f.from)
}

// recorded are the entries of the flight recorder in the archive.
func (f *fromFlag) recorded() ([]recorder.Entry, error) {
	source, err := support.Open(f.from)
	if err != nil {
		return nil, err
	}
	return source.Recorded()
}
