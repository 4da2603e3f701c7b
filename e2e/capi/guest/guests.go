package guest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/private/worlds/private/inmemory"
)

// lookEvery is how often the machines of all clusters are looked at: what is in memory tells nobody that it changed.
const lookEvery = 200 * time.Millisecond

// Guests are the clusters of all DevClusters.
type Guests struct {
	// Client reads DevClusters, DevMachines and Secrets.
	Client client.Client
	Memory *inmemory.Memory
	Log    logr.Logger

	all map[client.ObjectKey]*guest
}

// guest is a cluster.
type guest struct {
	objects *objects
	front   *front
	script  *script
}

// Start serves guests until the context ends. It is called once.
func (g *Guests) Start(ctx context.Context) error {
	g.all = map[client.ObjectKey]*guest{}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := g.look(ctx); err != nil && ctx.Err() == nil {
			g.Log.Error(err, "Not all guests are served")
		}
		select {
		case <-ctx.Done():
			for _, one := range g.all {
				one.close()
			}
			return nil
		case <-ticker.C:
		}
	}
}

// look brings every guest to where it can be.
func (g *Guests) look(ctx context.Context) error {
	clusters := &infrav1.DevClusterList{}
	if err := g.Client.List(ctx, clusters); err != nil {
		return fmt.Errorf("listing DevClusters: %w", err)
	}
	gone := maps.Clone(g.all)
	var problems []error
	for i := range clusters.Items {
		one := &clusters.Items[i]
		if one.Spec.Backend.InMemory == nil {
			continue
		}
		delete(gone, client.ObjectKeyFromObject(one))
		if err := g.serve(ctx, one); err != nil {
			problems = append(problems, fmt.Errorf("DevCluster %s/%s: %w", one.Namespace, one.Name, err))
		}
	}
	for key, one := range gone {
		one.close()
		delete(g.all, key)
	}
	return errors.Join(problems...)
}

// serve brings one guest to where it can be. Its fake API server is there once a control-plane machine is.
func (g *Guests) serve(ctx context.Context, of *infrav1.DevCluster) error {
	listener := of.Annotations[infrav1.ListenerAnnotationName]
	server := g.Memory.Servers.GetCluster(listener)
	endpoint := of.Spec.ControlPlaneEndpoint
	if server == nil || endpoint.Port == server.Port {
		return nil
	}
	key := client.ObjectKeyFromObject(of)
	one := g.all[key]
	if one == nil {
		one = &guest{objects: &objects{}}
		one.script = &script{objects: one.objects, memory: g.Memory.Objects.GetResourceGroup(server.ResourceGroup).GetClient(), taken: map[string]bool{}, id: g.idOf(of)}
		g.all[key] = one
	}
	held := strings.Split(of.Annotations[HoldAnnotation], ",")
	if !server.ListenerActive || slices.Contains(held, StepAPI) {
		one.close()
		return nil
	}
	if one.front == nil {
		by, err := g.authority(ctx, listener)
		if err != nil {
			return err
		}
		if one.front, err = newFront(ctx, endpoint.Host, endpoint.Port, by, server.Port, one.objects); err != nil {
			return err
		}
	}
	one.front.lacks.set(held)
	masters, err := g.masters(ctx, listener)
	if err != nil {
		return err
	}
	release := of.Annotations[ReleaseAnnotation]
	if release == "" {
		release = DefaultRelease
	}
	return one.script.play(ctx, held, release, masters)
}

func (g *guest) close() {
	if g.front != nil {
		g.front.close()
		g.front = nil
	}
}

// cluster is the Cluster that a listener is named after.
func cluster(listener string) client.ObjectKey {
	namespace, name, _ := strings.Cut(listener, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// authority is the cluster's, by the Secret of its Cluster.
func (g *Guests) authority(ctx context.Context, listener string) (authority, error) {
	kept, err := secret.Get(ctx, g.Client, cluster(listener), secret.ClusterCA)
	if err != nil {
		return authority{}, fmt.Errorf("reading the authority: %w", err)
	}
	certificate, err := certs.DecodeCertPEM(kept.Data[secret.TLSCrtDataName])
	if err != nil {
		return authority{}, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	key, err := certs.DecodePrivateKeyPEM(kept.Data[secret.TLSKeyDataName])
	if err != nil {
		return authority{}, fmt.Errorf("reading the authority's key: %w", err)
	}
	if certificate == nil || key == nil {
		return authority{}, errors.New("the authority has no certificate or no key")
	}
	return authority{certificate: certificate, key: key}, nil
}

// idNote is the annotation in which a payload has the ID of its cluster.
const idNote = "capstan.openshift.io/payload-cluster-id"

// idOf reads the ID that a guest is to have.
func (g *Guests) idOf(of *infrav1.DevCluster) func(context.Context) (string, error) {
	key := client.ObjectKey{Namespace: of.Namespace, Name: of.Annotations[IDAnnotation]}
	return func(ctx context.Context) (string, error) {
		if key.Name == "" {
			return "", nil
		}
		noted := &corev1.Secret{}
		if err := g.Client.Get(ctx, key, noted); err != nil {
			return "", fmt.Errorf("reading the ID of the cluster: %w", err)
		}
		return noted.Annotations[idNote], nil
	}
}

// masters are the names of the control-plane machines of a cluster, without the bootstrap's.
func (g *Guests) masters(ctx context.Context, listener string) ([]string, error) {
	of := cluster(listener)
	machines := &infrav1.DevMachineList{}
	err := g.Client.List(ctx, machines, client.InNamespace(of.Namespace), client.HasLabels{clusterv1.MachineControlPlaneLabel},
		client.MatchingLabels{clusterv1.ClusterNameLabel: of.Name})
	if err != nil {
		return nil, fmt.Errorf("listing DevMachines: %w", err)
	}
	var names []string
	for i := range machines.Items {
		if !strings.HasSuffix(machines.Items[i].Name, BootstrapSuffix) {
			names = append(names, machines.Items[i].Name)
		}
	}
	return names, nil
}
