package clusterapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/newest"
	"github.com/capstan-capi/capstan/phases/render"
)

// world is what people and the platform have put into the cluster: the inputs
// of planning, and the status that planning and applying write.
type world struct {
	// api is nil while there is no ClusterAPI object.
	api *operatorv1alpha1.ClusterAPI
	// current is the name of the current revision, also when somebody has just taken it out of the status.
	current  operatorv1alpha1.RevisionName
	platform string
	// refs are the provider images, sorted; refsErr says why there are none.
	refs []images.Ref
	// listRelease is the release that the list is for, if that is another one than the operator's: its images are not asked for.
	listRelease string
	// list is a fingerprint of what the list says, empty while there is none; pin is what takes its place, nil for nothing, and
	// pinWaits says why it cannot be told yet whether something does.
	list     string
	pin      *pin
	pinWaits string
	// leftKeys are the keys of the list that are another release's, and not followed.
	leftKeys      []string
	refsErr       error
	substitutions map[string]string
	// retry is a word whose change asks for another attempt.
	retry string
	// inputs is a fingerprint of all of the above that is not status, and of the release.
	inputs string
}

// Infrastructure is what the installer of the cluster has said of it; empty for what it has not said yet.
type Infrastructure struct {
	// Platform is what profiles are chosen by, Name what the cluster's machines and folders in the cloud begin with.
	Platform, Name string
}

// InfrastructureOf takes from Infrastructure cluster what is an input. A platform of type "" is one that is not known yet.
func InfrastructureOf(o *configv1.Infrastructure) Infrastructure {
	infrastructure := Infrastructure{Name: o.Status.InfrastructureName}
	if o.Status.PlatformStatus != nil {
		infrastructure.Platform = string(o.Status.PlatformStatus.Type)
	}
	return infrastructure
}

// inputKinds are objects of the kinds that it is read from.
func inputKinds() []client.Object {
	return []client.Object{&operatorv1alpha1.ClusterAPI{}, &configv1.Infrastructure{}, &configv1.APIServer{}, &corev1.ConfigMap{}}
}

// readWorld reads it from the caches, or from the API server itself.
func (p *Phases) readWorld(ctx context.Context, from client.Reader) (world, error) {
	var w world
	api := &operatorv1alpha1.ClusterAPI{}
	found, err := read(ctx, from, client.ObjectKey{Name: Singleton}, api)
	if err != nil {
		return w, err
	}
	if found {
		if err := p.settle(ctx, api); err != nil {
			return w, err
		}
		if api = p.newerOf(api); api != p.memory.wrote {
			p.memory.wrote = nil // the cache has come as far, or the API server has gone back: what it shows from now on is how it is
		}
		w.api = api
		w.retry = api.Annotations[RetryAnnotation]
	}
	w.current = p.currentOf(w.api)
	infra := &configv1.Infrastructure{}
	if _, err = read(ctx, from, client.ObjectKey{Name: Singleton}, infra); err != nil {
		return w, err
	}
	infrastructure := InfrastructureOf(infra)
	w.platform = infrastructure.Platform
	apiServer := &configv1.APIServer{}
	if _, err = read(ctx, from, client.ObjectKey{Name: Singleton}, apiServer); err != nil {
		return w, err
	}
	w.substitutions = render.ClusterSubstitutions(apiServer.Spec.TLSSecurityProfile, infrastructure.Name)

	list := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: p.OperatorNamespace, Name: ImagesConfigMap}
	if found, err = read(ctx, from, key, list); err != nil {
		return w, err
	}
	if list.Data, w.leftKeys = followed(list); found {
		if release := list.Annotations[ReleaseAnnotation]; release != "" && release != p.Release {
			w.listRelease = release
		} else {
			w.refs, w.refsErr = parseImages(list)
		}
	} else {
		w.refsErr = fmt.Errorf("ConfigMap %s does not exist; the release's manifests should create it with one image reference by digest per key", key)
	}
	if found {
		// Another release may have the same images, and ends a rollback as well.
		if w.list, err = fingerprint([]any{list.Data, list.Annotations[ReleaseAnnotation]}); err != nil {
			return w, err
		}
	}
	w.inputs, err = w.fingerprint(p.Release, list.Data)
	return w, err
}

// currentOf is the name of the current revision. One that was taken out of the
// status by hand is still current as long as it is listed, or there is no list
// any more: nothing but this operator makes another one that. When versions go
// back, an etcd was restored, maybe to before the revision had passed its gates;
// since they need not go back, see restore for when it is written again.
func (p *Phases) currentOf(api *operatorv1alpha1.ClusterAPI) operatorv1alpha1.RevisionName {
	if api == nil {
		return p.memory.current
	}
	restored := newest.Behind(api.ResourceVersion, p.memory.version)
	p.memory.version = api.ResourceVersion
	if name := api.Status.CurrentRevision; name != "" || restored || !isListed(api, p.memory.current) {
		p.memory.current = name
	}
	return p.memory.current
}

// specObserved says that the status is not behind the spec. It is ahead of it
// when it came with an object that was restored: generations begin anew, and what
// was observed cannot be taken back.
func (w world) specObserved() bool {
	return w.api != nil && w.api.Status.ObservedRevisionGeneration >= w.api.Generation
}

func read(ctx context.Context, from client.Reader, key client.ObjectKey, into client.Object) (found bool, err error) {
	err = from.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %T %s: %w", into, key, err)
	}
	return true, nil
}

func (w world) unmanaged() []string {
	if w.api == nil || w.api.Spec == nil {
		return nil
	}
	return slices.Sorted(slices.Values(w.api.Spec.UnmanagedCustomResourceDefinitions))
}

func (w world) fingerprint(release string, imagesData map[string]string) (string, error) {
	return fingerprint(map[string]any{
		"release": release, "images": imagesData, "listRelease": w.listRelease, "platform": w.platform,
		"substitutions": w.substitutions, "unmanaged": w.unmanaged(), "clusterAPI": w.api != nil, "retry": w.retry,
	})
}

// fingerprint is a short hash of a value's JSON, whose maps are sorted by key.
func fingerprint(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("fingerprinting: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// desiredEntry and currentEntry are the listed revisions that the machine speaks
// of, nil where there is none.
func (w world) desiredEntry() *operatorv1alpha1.ClusterAPIInstallerRevision {
	if w.api == nil {
		return nil
	}
	return DesiredOf(&w.api.Status)
}

func (w world) currentEntry() *operatorv1alpha1.ClusterAPIInstallerRevision {
	for i, entry := range w.entries() {
		if entry.Name == w.current {
			return &w.api.Status.Revisions[i]
		}
	}
	return nil
}

// desiredName is empty where there is no desired revision.
func (w world) desiredName() operatorv1alpha1.RevisionName {
	if desired := w.desiredEntry(); desired != nil {
		return desired.Name
	}
	return ""
}

// numberOf is the number of a listed revision, zero for a name that is not listed.
func (w world) numberOf(name operatorv1alpha1.RevisionName) int64 {
	for _, entry := range w.entries() {
		if entry.Name == name {
			return entry.Revision
		}
	}
	return 0
}

func (w world) entries() []operatorv1alpha1.ClusterAPIInstallerRevision {
	if w.api == nil {
		return nil
	}
	return w.api.Status.Revisions
}
