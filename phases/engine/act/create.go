package act

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// neverWritten is a resourceVersion that no object has: etcd counts its writes from 2 on.
const neverWritten = "1"

// create creates an object, and can never change one that was not seen. There are two ways:
//
//   - an apply that names a version which no object has. Where there is none the API server creates it, with our fields
//     recorded as applied; where there is one, it answers with a conflict. It is the way of kinds that kube-apiserver itself
//     stores, because it takes one request for each object of an installation.
//   - a POST, which records our fields as an update, so that a second request has to migrate them. It is the way of kinds
//     that an aggregated API may serve, of an API server that has just refused to create an object with a version, and of
//     dry runs: nobody reads the fields of those, and a POST is cheaper.
func (r *run) create(ctx context.Context, j *job, as effect) (*see.Object, error) {
	if as == dryRun || j.mustPost || !r.e.checksVersions(j.t.Key.GVK()) {
		return r.e.post(ctx, j.resource, j.t.Key, j.t.Body(j.stamp, ""), r.createOptions(as))
	}
	force := true // or a conflict of managers would be answered before that of versions
	return r.e.patch(ctx, j.resource, j.t.Key, types.ApplyPatchType, j.t.Body(j.stamp, neverWritten), metav1.PatchOptions{
		FieldManager: r.e.us.FieldManager, FieldValidation: metav1.FieldValidationStrict, Force: &force,
	}, false)
}

func (r *run) createOptions(as effect) metav1.CreateOptions {
	opts := metav1.CreateOptions{FieldManager: r.e.us.FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if as == dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return opts
}

// checksVersions says that kube-apiserver itself stores the objects of a kind, and so refuses every apply with a
// resourceVersion that the object does not have. The server of an aggregated API may do anything with one.
func (e *Engine) checksVersions(gvk schema.GroupVersionKind) bool {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	_, always := see.Builtin[gvk]
	return always || e.crdOfLocked(gvk.GroupKind()) != nil
}

// refusesVersion says that, as far as its answer tells, an API server does not create an object by an apply with a
// resourceVersion.
func refusesVersion(j *job, apiErr error) bool {
	var status apierrors.APIStatus
	if j.mustPost || j.verdict.Action != decide.Created || !errors.As(apiErr, &status) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	switch {
	case apierrors.IsNotFound(apiErr): // another name is that of a namespace that is missing
		return details.Name == j.t.Key.Name && details.Kind == j.resource.GVR.Resource
	case apierrors.IsInvalid(apiErr):
		return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.resourceVersion" })
	}
	return false
}
