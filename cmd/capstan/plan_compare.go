package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan/plan"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// comparison is a plan without a cluster.
type comparison struct {
	from, to  []string
	platform  string
	set       []string
	unmanaged []string
	contents
}

func (c *comparison) flags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.from, "from", nil, "without a cluster: `images` that are there: an image by digest, that of a release too, the folder of an image, a file with a list of images, or a folder with the manifests of a release (repeatable)")
	flags.StringArrayVar(&c.to, "to", nil, "without a cluster: `images` that come, alike (repeatable)")
	flags.StringVar(&c.platform, "platform", "", "without a cluster: the `platform`, such as AWS, VSphere or None")
	flags.StringArrayVar(&c.set, "set", nil, "without a cluster: value of a variable in the manifests, as `KEY=VALUE` (repeatable)")
	flags.StringArrayVar(&c.unmanaged, "unmanaged", nil, "without a cluster: `name` of a CustomResourceDefinition that is listed as unmanaged (repeatable)")
	c.contents.flags(flags)
}

func (c *comparison) given() bool { return len(c.from)+len(c.to) > 0 }

func (c *comparison) validate() error {
	switch {
	case !c.given() && c.platform != "":
		return errors.New("--platform is for --from and --to: a cluster says what its platform is")
	case !c.given():
		return nil
	case len(c.from) == 0 || len(c.to) == 0:
		return errors.New("--from and --to belong together: give both, or none to plan for a cluster")
	case c.platform == "":
		return errors.New("--platform is needed without a cluster, such as AWS; it chooses the profiles")
	}
	if err := render.CheckPlatform(c.platform); err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	return nil
}

// compare plans without a cluster.
func (f *planFlags) compare(ctx context.Context) (*plan.Plan, error) {
	if err := f.without.readExceptions(); err != nil {
		return nil, err
	}
	var sides [2]plan.Side
	for i, named := range [][]string{f.without.from, f.without.to} {
		var err error
		if sides[i], err = f.side(ctx, named, int64(i+1)); err != nil {
			return nil, fmt.Errorf("--%s: %w", [...]string{"from", "to"}[i], err)
		}
	}
	return plan.Compare(sides[0], sides[1], time.Now())
}

// side renders one of the two sets of images.
func (f *planFlags) side(ctx context.Context, named []string, number int64) (plan.Side, error) {
	s := f.sources // registries are reached in the same way for both
	s.images, s.dirs, s.asRelease = nil, nil, f.payloadImage
	for _, one := range named {
		if err := s.addSet(one); err != nil {
			return plan.Side{}, err
		}
	}
	values, err := substitutions(f.without.set, "")
	if err != nil {
		return plan.Side{}, err
	}
	profiles, problems := s.load(ctx)
	if len(problems) > 0 {
		return plan.Side{}, asError(problems)
	}
	rendered, err := render.Render(render.Input{
		Profiles: profiles, Platform: f.without.platform, Substitutions: values, Unmanaged: f.without.unmanaged, Namespace: f.without.namespaces[0],
		FaultOf: engine.FaultOf, Policy: f.without.policy(s.folders),
	})
	if err != nil {
		return plan.Side{}, err
	}
	release := f.release
	if release == "" {
		release = [...]string{"from", "to"}[number-1]
	}
	return plan.Side{Release: release, Number: number, Rendered: rendered, Components: components(rendered)}, nil
}
