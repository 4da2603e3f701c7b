package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/capstan-capi/capstan/e2e/booted"
	"github.com/capstan-capi/capstan/e2e/capiworld"
)

const (
	// guestName is the cluster that is made, guestMasters how many machines its control plane has.
	guestName    = "shop"
	guestMasters = 3
	// guestVersion is the version that its release image says it has.
	guestVersion = "4.22.0"
	// guestPatience is how long a part of an installation may take: seconds on a machine that is not busy, half a minute the last one.
	guestPatience = 10 * time.Minute
)

// installing is the part of a demonstration in which a cluster of OpenShift is made through Cluster API.
type installing struct {
	*demonstration
	world *capiworld.World
	key   capiworld.Key
	// objects is the folder with what asks for the cluster, and release the image of its release.
	objects, release string
	guest            *booted.Guest
	followed         *guestFollower
	told             guestReport
}

// installOpenShift has a cluster of OpenShift made and deleted on a management plane that Capstan has installed.
func (d *demonstration) installOpenShift(ctx context.Context) error {
	d.display.say(`Stand-ins, since no container engine and no cloud are at hand: machines, which are in the memory of Cluster API's dev provider; the
kubelets, operators and the machine-config server of the guest; a release image that has nothing but its version. Real are both
API servers, that of the management plane and that of the guest, Capstan and what it installs from provider images: Cluster
API's own manager, the dev provider's reconcilers, and capstan-provider with the rights that its image gives it; inputs, keys,
certificates and Ignition configs. No payload boots.
`)
	i := &installing{demonstration: d, key: capiworld.Key{Namespace: "fleet", Name: guestName}, objects: filepath.Join(d.dir, "objects")}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := i.play(ctx)
	cancel()
	if i.followed != nil {
		<-i.followed.ended
	}
	if i.guest != nil {
		err = errors.Join(err, i.guest.Stop())
	}
	if i.world != nil {
		err = errors.Join(err, i.world.Stop())
	}
	return err
}

func (i *installing) play(ctx context.Context) error {
	for _, act := range []struct {
		what string
		play func(context.Context) error
	}{
		{"having Capstan install Cluster API and the provider", i.equip},
		{"asking for a cluster", i.ask},
		{"killing the provider half-way", i.killHalfWay},
		{"booting the guest", i.boot},
		{"coming to Installed", i.finish},
		{"using the guest", i.use},
		{"deleting the cluster", i.remove},
	} {
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.what, err)
		}
	}
	i.conclude()
	return save(filepath.Join(i.dir, reportFile), i.told)
}

// equip starts the management plane.
func (i *installing) equip(ctx context.Context) (err error) {
	i.display.now("starting a control plane, and having Capstan install core, the dev provider and openshift-install from their images")
	if i.world, err = capiworld.Start(ctx, capiworld.Options{Bin: i.bin, Dir: i.clusterDir()}); err != nil {
		return err
	}
	i.display.step("Capstan has installed Cluster API, machines in memory and capstan-provider: kubectl --kubeconfig %s", i.world.Cluster.Kubeconfig())
	i.release, err = i.world.Release(ctx, guestVersion)
	return err
}
