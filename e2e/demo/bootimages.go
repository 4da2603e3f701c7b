package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// How many sets of each API follow the release at once. One of the Machine API that is owned and one with an image of its own
// stand beside them.
const (
	machineSets = 200
	pools       = 20
)

// custom is an AMI that no release ever had.
const custom = "ami-0123456789abcdef0"

// atOnce bounds how many objects are made at the same time.
const atOnce = 16

// moving is the part of a demonstration in which boot images are moved.
type moving struct {
	*demonstration
	world *bootworld.Cluster
	// sets and pools follow the release, the ones of the Machine API and the others of Cluster API, with their templates.
	sets, pools, templates []*bootworld.Object
	// owned is of somebody else, and foreign has an image of its own.
	owned, foreign *bootworld.Object
	// Secrets with stubs, by who starts from them.
	setsStub, foreignStub, ownedStub, poolsStub *bootworld.Object
	// releases are those that there were, the newest first.
	releases []string
	// since is where in the audit log the last release was completed.
	since cluster.Mark
	told  moved
}

// moveBootImages has the sets of a cluster follow two releases.
func (d *demonstration) moveBootImages(ctx context.Context) error {
	definitions, versions, err := bootworld.Definitions(ctx)
	if err != nil {
		return err
	}
	d.display.step("the definitions of %s are read from the providers' Go modules", listed(versions))
	if err := d.start(ctx, definitions...); err != nil {
		return err
	}
	m := &moving{demonstration: d}
	for _, act := range []struct {
		what string
		play func(context.Context) error
	}{
		{"setting up a cluster with an old boot image", m.place},
		{"opting in during an upgrade", m.optIn},
		{"moving what is enrolled", m.moveAll},
		{"adopting an image", m.adopt},
		{"giving way to somebody who changes an image back", m.giveWay},
		{"telling how it stands", m.account},
		{"taking over from an owner", m.letGo},
		{"following the next release", m.next},
	} {
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.what, err)
		}
	}
	if err := d.operator.Stop(); err != nil {
		return err
	}
	m.conclude()
	return save(filepath.Join(d.dir, reportFile), m.told)
}

// place sets up a cluster that nobody has opted in, and starts an operator in it.
func (m *moving) place(ctx context.Context) (err error) {
	if m.world, err = bootworld.Begin(ctx, m.stage, bootworld.World{Platform: platform, Config: bootworld.Manages()}); err != nil {
		return err
	}
	m.releases = []string{m.world.Version(1), bootworld.Installed}
	m.display.say("\nA cluster on platform %s of release %s, whose sets start machines from the boot image %s and from old stubs", platform, m.releases[0], bootworld.AMI(1))
	if err := m.populate(ctx); err != nil {
		return err
	}
	m.display.step("%d MachineSets of Machine API and %d of Cluster API, each with a template", len(m.sets)+2, len(m.pools))
	for _, secret := range []*bootworld.Object{m.setsStub, m.poolsStub} {
		if err := m.tellStub(ctx, secret); err != nil {
			return err
		}
	}
	if m.since, err = m.stage.Cluster.Mark(ctx); err != nil {
		return err
	}
	m.operator, err = m.stage.StartOperator(harness.OperatorOptions{
		Release: m.releases[0], LeaderElect: true, Arguments: []string{"--boot-images=MachineAPI,ClusterAPI"}, SteeredClock: true,
	})
	if err != nil {
		return err
	}
	err = m.soon(ctx, "the operator to know the golden image", func(ctx context.Context) error { return m.world.Known(ctx, bootworld.AMI(1)) })
	if err != nil {
		return err
	}
	if err := m.tellGate(ctx, bootworld.Open); err != nil {
		return err
	}
	return m.unwritten(ctx, "nobody has opted in")
}

// populate makes sets, templates and stubs.
func (m *moving) populate(ctx context.Context) error {
	owner := bootworld.Parse(`{apiVersion: v1, kind: ConfigMap, metadata: {name: fleet, namespace: openshift-machine-api}}`)
	m.setsStub = bootworld.MachineAPIStub("shop-user-data", bootworld.OldStub)
	m.foreignStub = bootworld.MachineAPIStub("gpu-user-data", bootworld.OldStub)
	m.ownedStub = bootworld.MachineAPIStub("fleet-user-data", bootworld.OldStub)
	m.poolsStub = bootworld.ClusterAPIStub("pool-user-data", bootworld.OldStub)
	for _, o := range []*bootworld.Object{m.setsStub, m.foreignStub, m.ownedStub, m.poolsStub, owner} {
		if err := m.world.Create(ctx, o); err != nil {
			return err
		}
	}
	for i := range machineSets {
		m.sets = append(m.sets, machineSet(fmt.Sprintf("worker-%03d", i), bootworld.AMI(1), m.setsStub))
	}
	m.foreign = machineSet("gpu", custom, m.foreignStub)
	m.owned = machineSet("fleet", bootworld.AMI(1), m.ownedStub, bootworld.Owned(owner))
	for i := range pools {
		name := fmt.Sprintf("pool-%02d", i)
		template := bootworld.AWSTemplate(name+"-v1", bootworld.AMI(1))
		m.templates = append(m.templates, template)
		m.pools = append(m.pools, bootworld.Set("MachineSet", name, template, func(o *bootworld.Object) {
			bootworld.Put(o, m.poolsStub.GetName(), "spec", "template", "spec", "bootstrap", "dataSecretName")
		}))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, o := range slices.Concat(m.templates, m.sets, m.pools, []*bootworld.Object{m.foreign, m.owned}) {
		group.Go(func() error { return m.world.Create(ctx, o) })
	}
	return group.Wait()
}

// machineSet is one of the Machine API with an image and a stub.
func machineSet(name, image string, stub *bootworld.Object, changes ...func(*bootworld.Object)) *bootworld.Object {
	return bootworld.MachineSet(name, bootworld.OnAWS(image), append(changes, func(o *bootworld.Object) {
		bootworld.Put(o, stub.GetName(), "spec", "template", "spec", "providerSpec", "value", "userDataSecret", "name")
	})...)
}

// optIn opts in all sets while a release is being installed.
func (m *moving) optIn(ctx context.Context) error {
	m.display.say("\nRelease %s is being installed, and brings the boot image %s; an administrator opts in all sets", m.world.Version(2), bootworld.AMI(2))
	if err := m.bring(ctx, 2); err != nil {
		return err
	}
	config := bootworld.MachineConfiguration()
	if err := m.merge(ctx, config, harness.Administrator, `{metadata: {annotations: {%s: All}}}`, bootworld.BySets); err != nil {
		return err
	}
	if err := m.merge(ctx, config, harness.Administrator, "%s", bootworld.Manages("machinesets: All", "controlplanemachinesets: None")); err != nil {
		return err
	}
	err := m.soon(ctx, "the opting in to count", func(ctx context.Context) error {
		now, err := m.world.Config(ctx)
		if err != nil {
			return err
		}
		return unless(now.Status.ObservedGeneration == now.Generation, "it does not")
	})
	if err != nil {
		return err
	}
	if err := m.tellGate(ctx, "WaitingForRelease"); err != nil {
		return err
	}
	return m.unwritten(ctx, "the release is not complete")
}

// bring begins to install a release, as the cluster's operators do.
func (m *moving) bring(ctx context.Context, release int) error {
	m.releases = slices.Insert(m.releases, 0, m.world.Version(release))
	if err := m.world.History(ctx, configv1.PartialUpdate, m.releases...); err != nil {
		return err
	}
	return m.world.SetGolden(ctx, release)
}

// live is an object as it is now.
func (m *moving) live(ctx context.Context, o *bootworld.Object) (*bootworld.Object, error) {
	now := &bootworld.Object{}
	now.SetGroupVersionKind(o.GroupVersionKind())
	if err := m.stage.Client.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return now, nil
}
