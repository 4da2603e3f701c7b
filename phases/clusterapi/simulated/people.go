package simulated

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// What people and the platform do to the cluster.

// platform is the one that a cluster runs on, once it says so.
const platform = string(configv1.AWSPlatformType)

// CreateClusterAPI creates the ClusterAPI object, if there is none.
func (c *Cluster) CreateClusterAPI() {
	if c.api(context.Background()) != nil {
		return
	}
	c.created++
	must(c.stored.Create(context.Background(), &operatorv1alpha1.ClusterAPI{
		ObjectMeta: metav1.ObjectMeta{Name: phases.Singleton, Generation: 1, UID: types.UID(fmt.Sprintf("clusterapi-%d", c.created))},
		Spec:       &operatorv1alpha1.ClusterAPISpec{},
	}))
	c.announce()
}

// DeleteClusterAPI deletes it, and its status with it.
func (c *Cluster) DeleteClusterAPI() {
	if api := c.api(context.Background()); api != nil {
		must(c.stored.Delete(context.Background(), api))
		c.wrote.last = "" // the versions of another object are others
		c.announce()
	}
}

// SetPlatform lets Infrastructure say on what platform the cluster runs, or not.
func (c *Cluster) SetPlatform(known bool) {
	infra := &configv1.Infrastructure{}
	c.find(context.Background(), client.ObjectKey{Name: phases.Singleton}, infra)
	infra.Status.PlatformStatus = nil
	if known {
		infra.Status.PlatformStatus = &configv1.PlatformStatus{Type: configv1.PlatformType(platform)}
	}
	must(c.stored.Status().Update(context.Background(), infra))
	c.announce()
}

// List lists the images of a release, and returns the content that they render to.
func (c *Cluster) List(release string) string {
	c.Images.add(release)
	data := map[string]string{}
	for _, name := range imageNames {
		data[name] = string(ref(release, name))
	}
	c.listImages(data)
	c.listed = release
	return c.content(release).ContentID
}

// ListNothing empties the list of images.
func (c *Cluster) ListNothing() { c.listImages(map[string]string{}) }

// ListByTag lists an image by tag, which cannot be planned.
func (c *Cluster) ListByTag() {
	c.listImages(map[string]string{"core": "registry.example.com/core:latest"})
}

func (c *Cluster) listImages(data map[string]string) {
	list := &corev1.ConfigMap{}
	c.find(context.Background(), client.ObjectKey{Namespace: operatorNamespace, Name: phases.ImagesConfigMap}, list)
	list.Data = data
	must(c.stored.Update(context.Background(), list))
	c.announce()
}

// content is what a release's images render to here.
func (c *Cluster) content(release string) *render.Revision {
	in := render.Input{Platform: platform, Namespace: providersNamespace, Substitutions: render.ClusterSubstitutions(nil, "")}
	for _, name := range imageNames {
		for _, profile := range profilesOf(release, name) {
			in.Profiles = append(in.Profiles, render.Profile{Image: string(ref(release, name)), Name: profile.Name, Metadata: profile.Metadata, Manifests: profile.Manifests})
		}
	}
	if api := c.api(context.Background()); api != nil && api.Spec != nil {
		in.Unmanaged = api.Spec.UnmanagedCustomResourceDefinitions
	}
	content, err := render.Render(in)
	must(err)
	return content
}

// change changes the ClusterAPI without its status, if there is one.
func (c *Cluster) change(how func(*operatorv1alpha1.ClusterAPI)) {
	api := c.api(context.Background())
	if api == nil {
		return
	}
	how(api)
	must(c.stored.Update(context.Background(), api))
	c.announce()
}

// TouchSpec makes the spec another generation, with the same content.
func (c *Cluster) TouchSpec() { c.change(func(api *operatorv1alpha1.ClusterAPI) { api.Generation++ }) }

// Unmanage lists CRDs that administrators manage themselves.
func (c *Cluster) Unmanage(names ...string) {
	c.change(func(api *operatorv1alpha1.ClusterAPI) {
		api.Generation++
		api.Spec.UnmanagedCustomResourceDefinitions = names
	})
}

// Annotate sets an annotation of the ClusterAPI.
func (c *Cluster) Annotate(key, value string) {
	c.change(func(api *operatorv1alpha1.ClusterAPI) { metav1.SetMetaDataAnnotation(&api.ObjectMeta, key, value) })
}

// Pause pauses the machine for a time from a moment on.
func (c *Cluster) Pause(at time.Time, lasts time.Duration) {
	act := acts.Act{Name: acts.Pause, By: "anna", At: at.Truncate(time.Second), Until: at.Add(lasts).Truncate(time.Second), Reason: "etcd is slow"}
	text, err := act.Text()
	must(err)
	c.Annotate(acts.Annotation(acts.Pause), text)
}

// Resume takes a pause back.
func (c *Cluster) Resume() {
	c.change(func(api *operatorv1alpha1.ClusterAPI) { delete(api.Annotations, acts.Annotation(acts.Pause)) })
}

// ConsentToDelete consents to lose, for the desired revision, whatever holds data now.
func (c *Cluster) ConsentToDelete() {
	desired := c.desired()
	if desired == nil {
		return
	}
	act := acts.Act{Name: acts.ConsentToDelete, By: "anna", At: c.Now().Truncate(time.Second), Reason: "nobody needs it", Items: []acts.Said{
		{Key: "revision", Value: fmt.Sprint(desired.Revision)},
	}}
	for _, name := range slices.Sorted(maps.Keys(c.Engine.objects)) {
		if o := c.Engine.objects[name]; o.data > 0 {
			named := acts.Object{Group: o.key.Group, Kind: o.key.Kind, Namespace: o.key.Namespace, Name: o.key.Name}
			act.Items = append(act.Items, acts.Said{Key: "object", Value: fmt.Sprintf("%s %s %d %s", named, o.uid(), o.data, o.holding().Digest())})
		}
	}
	if len(act.Items) == 1 {
		return
	}
	text, err := act.Text()
	must(err)
	c.Annotate(acts.ConsentAct, text)
}

// ConsentToUninstall consents that the revision of a name ends what runs.
func (c *Cluster) ConsentToUninstall(revision string) {
	act := acts.Act{Name: acts.ConsentToUninstall, By: "anna", At: c.Now().Truncate(time.Second), Reason: "it moves elsewhere", Items: []acts.Said{
		{Key: "revision", Value: revision},
	}}
	text, err := act.Text()
	must(err)
	c.Annotate(acts.UninstallAct, text)
}

// EditStatus changes ClusterAPI.status by hand, if there is a ClusterAPI.
func (c *Cluster) EditStatus(how func(*operatorv1alpha1.ClusterAPIStatus)) {
	api := c.api(context.Background())
	if api == nil {
		return
	}
	how(&api.Status)
	must(c.stored.Status().Update(context.Background(), api))
	c.announce()
}

// ClearCurrent takes the current revision out of the status.
func (c *Cluster) ClearCurrent() {
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) { status.CurrentRevision = "" })
}

// Enlist lists a revision of a release as an operator of this release does. One of another installer has content that no
// image renders to here, and no inventory.
func (c *Cluster) Enlist(release string, number int64, foreign bool) {
	c.EnlistUnproven(release, number, foreign)
	if foreign || c.Engine.inventories[number] != nil {
		return
	}
	if api := c.api(context.Background()); api != nil {
		for _, entry := range api.Status.Revisions {
			if entry.Revision == number {
				c.Engine.inventories[number] = announcement(engine.RevisionRef{Name: string(entry.Name), Number: number, ContentID: entry.ContentID, Listed: phases.ProofOf(entry)})
			}
		}
	}
}

// EnlistUnproven lists a revision by hand, for which there is no inventory.
func (c *Cluster) EnlistUnproven(release string, number int64, foreign bool) {
	c.Images.add(release)
	content := c.content(release)
	if foreign {
		content.ContentID = strings.Repeat("c", len(content.ContentID))
	}
	entry := phases.NewEntry(Release, number, content)
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) {
		if slices.ContainsFunc(status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool { return r.Revision == number }) {
			return
		}
		status.Revisions = append(status.Revisions, entry)
		if desired := phases.DesiredOf(status); desired.Revision == number {
			status.DesiredRevision = entry.Name
		}
	})
}

// Wipe empties the status.
func (c *Cluster) Wipe() {
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) { *status = operatorv1alpha1.ClusterAPIStatus{} })
}

// MakeCurrent makes a listed revision the current one, as another installer does.
func (c *Cluster) MakeCurrent(number int64) {
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) {
		for _, entry := range status.Revisions {
			if entry.Revision == number {
				status.CurrentRevision = entry.Name
			}
		}
	})
}

// Unlist takes revisions off the list that never became current and are not the desired one, the oldest first.
func (c *Cluster) Unlist(count int) {
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) {
		desired := phases.DesiredOf(status)
		status.Revisions = slices.DeleteFunc(status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool {
			goes := count > 0 && r.Name != status.CurrentRevision && r.Name != desired.Name
			if goes {
				count--
			}
			return goes
		})
	})
}

// UnlistDesired takes the desired revision off the list, if another one is listed.
func (c *Cluster) UnlistDesired() {
	c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) {
		desired := phases.DesiredOf(status)
		if desired == nil || len(status.Revisions) < 2 || desired.Name == status.CurrentRevision {
			return
		}
		name := desired.Name
		status.Revisions = slices.DeleteFunc(status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool { return r.Name == name })
		status.DesiredRevision = phases.DesiredOf(status).Name
	})
}

func (c *Cluster) desired() *operatorv1alpha1.ClusterAPIInstallerRevision {
	if api := c.api(context.Background()); api != nil {
		return phases.DesiredOf(&api.Status)
	}
	return nil
}
