package support

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
)

// Options are what an archive is made of.
type Options struct {
	OperatorNamespace, CAPINamespace string
	// Machines are the names of all machines, whose records are taken; the first is the one that installs.
	Machines []string
	// Capstan is the version of the command, and At the moment.
	Capstan string
	At      time.Time
	// Plan makes a plan over a connection that it is given, with nothing tried; nil for none.
	Plan func(context.Context, *rest.Config) (any, error)
	// Tell is told of every part that is done, and of one that takes long before it is begun; done is empty then.
	Tell func(name string, done archive.State, why string)
}

// collector collects parts.
type collector struct {
	Options

	config  *rest.Config
	cluster *cluster
	into    *archive.Builder
	// found is what parts are told of by those before them.
	found found
}

// Collect makes an archive. What cannot be read is missing in it, and told; only a cluster that answers nothing is an error.
func Collect(ctx context.Context, config *rest.Config, o Options) (*archive.Builder, error) {
	cluster, err := newCluster(config)
	if err != nil {
		return nil, err
	}
	c := &collector{Options: o, config: config, cluster: cluster, into: archive.NewBuilder(o.At, o.Capstan)}
	if err := c.versions(ctx); err != nil {
		return nil, inspect.Explain(err, cluster.host, "get", "its version")
	}
	for _, part := range []struct {
		name    string
		collect func(context.Context, string) error
		long    bool
	}{
		{clusterPart, c.clusterVersion, false},
		{clusterAPIPart, c.clusterAPI, false},
		{actsPart, c.acts, false},
		{operatorPart, c.clusterOperator, false},
		{requirementsPart, c.requirements, false},
		{historyPart, c.history, false},
		{recorderPart, c.recorder, false},
		{inventoriesPart, c.inventories, false},
		{definitionsPart, c.definitions, true},
		{managersPart, c.managers, true},
		{eventsPart, c.events, true},
		{podsPart, c.pods, false},
		{logsFolder, c.logs, true},
		{planPart, c.plan, true},
	} {
		if part.long {
			c.Tell(part.name, "", "")
		}
		err := part.collect(ctx, part.name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var lack *LackError
		switch {
		case errors.As(err, &lack):
			c.miss(part.name, lack)
		case err != nil:
			return nil, fmt.Errorf("collecting %s: %w", part.name, err)
		}
	}
	return c.into, nil
}

// miss tells of a part that is not there.
func (c *collector) miss(name string, lack *LackError) {
	if name == logsFolder {
		name = logsFolder + "all"
	}
	c.into.Miss(name, lack.Why, lack.Right)
	c.Tell(name, archive.Missing, lack.Why)
}

// add adds a part as JSON; why says what of it is cut, empty for nothing.
func (c *collector) add(name string, content any, why string) error {
	text, err := jsonOf(content, " ")
	if err != nil {
		return err
	}
	c.addBytes(name, text, why)
	return nil
}

// addBytes adds a part that is scrubbed already.
func (c *collector) addBytes(name string, content []byte, why string) {
	if why == "" {
		c.into.Add(name, content)
	} else {
		c.into.AddCut(name, content, why)
	}
	c.told()
}

// told tells of the part that was added last.
func (c *collector) told() {
	parts := c.into.Index().Parts
	last := parts[len(parts)-1]
	c.Tell(last.Name, last.State, last.Why)
}

// addOne adds an object as a part, null if there is none.
func addOne[T any](c *collector, name string, found bool, object *T) error {
	if !found {
		object = nil
	}
	return c.add(name, object, "")
}

// notAll says why a list is cut.
func notAll(all bool) string {
	if all {
		return ""
	}
	return fmt.Sprintf("there are more than the %d that were looked at", maxList)
}
