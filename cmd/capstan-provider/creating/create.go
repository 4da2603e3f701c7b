package creating

import (
	"cmp"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

// Dev chooses the dev provider of Cluster API, whose machines are in memory, in place of the platform's.
const Dev = "dev"

// File is a file of manifests. Path is its folder, manifests or openshift, and its name.
type File struct {
	Path string
	Data []byte
}

// Given is what people give. One of Config and State suffices; what both have has to agree.
type Given struct {
	// Config is the install-config, State the installer's own state, nil for none. The names are those that problems tell.
	Config, State         []byte
	ConfigName, StateName string
	Manifests             []File
	Options
}

// Options are what an install-config does not say.
type Options struct {
	// Namespace is where the objects go, the cluster's name if it is empty.
	Namespace          string
	ReleaseImage       string
	ReleaseImagePolicy v1alpha1.ReleaseImagePolicy
	Management         v1alpha1.Management
	// Infrastructure is Dev, or empty for the platform of the install-config.
	Infrastructure string
	AWS            AWS
}

// Made is what was made.
type Made struct {
	// Objects are in the order in which they have to be applied: Namespace, Secrets, the rest.
	Objects []*unstructured.Unstructured
	// Missing are the fields that somebody has to fill in, because the platform's infrastructure is not made here.
	Missing []payload.Problem
}

// creation is one set of objects while it is made.
type creation struct {
	Options

	in       *payload.Inputs
	replicas int
	places   places
	problems payload.InputsError
}

// Make returns the objects. An error that is a payload.InputsError says all that is wrong with what was given.
func Make(g Given) (Made, error) {
	c := &creation{Options: g.Options, replicas: replicasOf(g), places: placesOf(g)}
	if err := c.read(g); err != nil {
		return Made{}, err
	}
	if files := c.credentials(g.Manifests); len(files) > 0 {
		g.Manifests = slices.Concat(g.Manifests, files)
		if err := c.read(g); err != nil {
			return Made{}, err
		}
	}
	c.Namespace = cmp.Or(c.Namespace, c.name())
	c.check()
	pools := c.pools()
	infrastructure := c.infrastructure(pools)
	secrets, err := c.secrets(g)
	if err != nil {
		return Made{}, err
	}
	if len(c.problems) > 0 {
		return Made{}, c.places.of(c.problems)
	}
	objects := slices.Concat(
		[]any{c.namespace()}, secrets, infrastructure.secrets,
		[]any{c.cluster(infrastructure), c.controlPlane(infrastructure, len(g.Manifests) > 0)},
		infrastructure.objects, c.workers(pools, infrastructure),
	)
	made := Made{Missing: infrastructure.missing}
	for _, object := range objects {
		plain, err := plainly(object)
		if err != nil {
			return Made{}, err
		}
		made.Objects = append(made.Objects, plain)
	}
	return made, nil
}

// read reads all of it as the management plane will.
func (c *creation) read(g Given) (err error) {
	c.in, err = payload.Read(documents(g, c.replicas))
	if problems, is := errors.AsType[payload.InputsError](err); is {
		return c.places.of(problems)
	}
	return err
}

// problem says what is wrong with a field of the install-config.
func (c *creation) problem(field, why string) {
	c.problems = append(c.problems, payload.Problem{At: c.places.config + ", field " + field, Why: why})
}

// check refuses what an API server would refuse, or what would only be found out on the management plane.
func (c *creation) check() {
	if !slices.Contains([]int{1, 3, 5}, c.replicas) {
		c.problem("controlPlane.replicas", "it is none of 1, 3 and 5; set it to one of them")
	}
	c.problems = append(c.problems, c.refused()...)
}
