package bootworld

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// GoldenName is the ConfigMap that has the release's boot images.
const GoldenName = "coreos-bootimages"

// Manager is who writes boot images, stubs and clones.
const Manager = "capstan-bootimage"

// Version is how a release is called.
func (c *Cluster) Version(release int) string { return fmt.Sprintf("4.%d.%d", c.minor, release) }

// createRelease puts release 1 in place, with its boot images.
func (c *Cluster) createRelease(ctx context.Context) error {
	version := Parse(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: 11111111-2222-4333-8444-555555555555}}`)
	if err := c.Create(ctx, version); err != nil {
		return err
	}
	if err := c.History(ctx, configv1.CompletedUpdate, c.Version(1), Installed); err != nil {
		return err
	}
	return c.SetGolden(ctx, 1)
}

// History makes the ClusterVersion say which releases there were, the newest first, in this state.
func (c *Cluster) History(ctx context.Context, newest configv1.UpdateState, versions ...string) error {
	release := func(version string) string {
		return fmt.Sprintf("{version: %s, image: 'example.com/release:%[1]s'}", version)
	}
	now := c.Now().UTC().Format(time.RFC3339)
	var entries []string
	for i, version := range versions {
		state, completed := configv1.CompletedUpdate, "'"+now+"'"
		if i == 0 && newest != configv1.CompletedUpdate {
			state, completed = newest, "null"
		}
		entries = append(entries, fmt.Sprintf("{state: %s, startedTime: '%s', completionTime: %s, verified: false, version: %s, image: 'example.com/release:%[4]s'}",
			state, now, completed, version))
	}
	v := Parse(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion}`)
	if err := c.Client.Get(ctx, client.ObjectKey{Name: "version"}, v); err != nil {
		return fmt.Errorf("reading ClusterVersion version: %w", err)
	}
	Put(v, fmt.Sprintf("{observedGeneration: %d, versionHash: %s, availableUpdates: [], desired: %s, history: [%s]}",
		v.GetGeneration(), made(8, versions), release(versions[0]), strings.Join(entries, ", ")), "status")
	if err := c.Client.Status().Update(ctx, v); err != nil {
		return fmt.Errorf("writing the history of ClusterVersion version: %w", err)
	}
	return nil
}

// SetGolden makes the golden ConfigMap that of a release.
func (c *Cluster) SetGolden(ctx context.Context, release int) error {
	text, err := Golden(release)
	if err != nil {
		return err
	}
	return c.SetGoldenStream(ctx, text, c.Version(release))
}

// SetGoldenStream makes the golden ConfigMap hold a stream.
func (c *Cluster) SetGoldenStream(ctx context.Context, text, version string) error {
	return c.SetConfigMap(ctx, harness.MCONamespace, GoldenName, map[string]string{"stream": text, "releaseVersion": version, "MCOReleaseImageVersion": version})
}

// SetConfigMap makes a ConfigMap hold exactly this.
func (c *Cluster) SetConfigMap(ctx context.Context, namespace, name string, data map[string]string) error {
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	err := c.Client.Update(ctx, wanted, harness.Administrator)
	if apierrors.IsNotFound(err) {
		err = c.Client.Create(ctx, wanted, harness.Administrator)
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", namespace, name, err)
	}
	return nil
}

// Writes keeps what the operator has sent that could have changed boot images, stubs or clones, refused or not.
func Writes(requests cluster.RequestList) cluster.RequestList {
	return requests.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool {
		address, err := url.Parse(r.RequestURI)
		return err == nil && address.Query().Get("fieldManager") == Manager
	})
}

// WritesOf keeps those of an object.
func WritesOf(requests cluster.RequestList, o *Object) cluster.RequestList {
	return Writes(requests).Where(func(r cluster.Request) bool {
		return r.Name == o.GetName() && r.Namespace == o.GetNamespace() && r.APIGroup == o.GroupVersionKind().Group &&
			strings.HasPrefix(r.Resource, strings.ToLower(o.GetKind()))
	})
}
