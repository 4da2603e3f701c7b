package inputs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/builtin"
)

const (
	// again is after how long inputs are looked at anew that are not valid: what they rest on beside Secrets is not watched.
	again = 10 * time.Second
	// fresh is after how long inputs are looked at anew that are valid.
	fresh = 10 * time.Minute
	// asCached is for what is read of a cache and not changed, which needs no copy of its own.
	asCached = client.UnsafeDisableDeepCopy
	// page is how many Secrets are asked for at once.
	page = 100
)

// reading is what came of reading the inputs, as long as they have the same versions.
type reading struct {
	versions string
	// whole says that release and templates were looked at, too, which nobody asks for once the inputs are frozen.
	whole    bool
	until    time.Time
	problems []string
	digest   string
	platform string
}

// seeInputs fills in the facts, by what is remembered if nothing has changed.
func (s *Seen) seeInputs(ctx context.Context) error {
	secrets, err := s.versions(ctx)
	if err != nil {
		return err
	}
	s.versionsSum = payload.Sum([]byte(secrets))
	versions := fmt.Sprintf("%d %s %s", s.look.Plane.Generation, s.look.Cluster.Spec.ControlPlaneEndpoint, secrets)
	whole := s.frozen() == ""
	last := &s.memory.inputs
	if last.versions == "" && s.facts.Reached().Finished {
		if made, err := s.madeOfThese(ctx); err != nil {
			return err
		} else if made {
			*last = reading{versions: versions, digest: s.frozen()}
		}
	}
	if now := s.r.now(); last.versions != versions || whole && (!last.whole || !now.Before(last.until)) {
		read, err := s.read(ctx, whole)
		if err != nil {
			return err
		}
		read.versions, read.whole, read.until = versions, whole, now.Add(fresh)
		if len(read.problems) > 0 {
			read.until = now.Add(again)
		}
		*last = read
	}
	s.facts.Inputs = guards.Inputs{Known: true, Problems: last.problems, Digest: last.digest}
	if frozen := s.frozen(); frozen == "" || last.digest == frozen { // edited ones say nothing of the installation
		s.facts.Cluster.Platform = last.platform
	}
	return nil
}

// versions tell whether an input is another one than before: an object has a version, and another object of the name another UID.
func (s *Seen) versions(ctx context.Context) (string, error) {
	plane := s.look.Plane
	var given []string
	secret := metadata()
	switch err := s.r.client.Get(ctx, client.ObjectKey{Namespace: plane.Namespace, Name: plane.Spec.InstallStateSecretRef.Name}, secret, asCached); {
	case err == nil:
		given = append(given, version(secret))
	case !apierrors.IsNotFound(err):
		return "", fmt.Errorf("looking for the inputs: %w", err)
	}
	chosen, isOne := manifestSelector(plane)
	if !isOne || chosen == nil { // read tells what is wrong with it
		return strings.Join(given, " "), nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.r.client.List(ctx, list, client.InNamespace(plane.Namespace), client.MatchingLabelsSelector{Selector: chosen}, asCached); err != nil {
		return "", fmt.Errorf("looking for manifests: %w", err)
	}
	var found []string
	for i := range list.Items {
		if !isMade(&list.Items[i]) {
			found = append(found, version(&list.Items[i]))
		}
	}
	slices.Sort(found)
	return strings.Join(append(given, found...), " "), nil
}

// madeOfThese says that the payload was made of inputs of these versions, by an annotation of the one that is kept. If that is lost,
// they are read; whoever forges it only keeps a drift from being told.
func (s *Seen) madeOfThese(ctx context.Context) (bool, error) {
	kept := metadata()
	err := s.r.client.Get(ctx, client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, payload.Worker)}, kept, asCached)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return metav1.IsControlledBy(kept, s.look.Plane) && kept.Annotations[v1alpha1.PayloadInputsAnnotation] == s.frozen() &&
		kept.Annotations[v1alpha1.PayloadVersionsAnnotation] == s.versionsSum, nil
}

func metadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return m
}

func version(o client.Object) string {
	return o.GetName() + "@" + string(o.GetUID()) + ":" + o.GetResourceVersion()
}

// isMade says that an object is one that was made for a control plane, whatever labels it has: it is no input.
func isMade(o client.Object) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == "OpenShiftControlPlane"
}

// manifestSelector is nil where none are chosen; isOne is false for what is no selector.
func manifestSelector(plane *v1alpha1.OpenShiftControlPlane) (chosen labels.Selector, isOne bool) {
	given := plane.Spec.ManifestsSelector
	if given == nil || len(given.MatchLabels)+len(given.MatchExpressions) == 0 {
		return nil, true
	}
	chosen, err := metav1.LabelSelectorAsSelector(given)
	return chosen, err == nil
}

// read reads all that is given from the API server itself.
func (s *Seen) read(ctx context.Context, whole bool) (reading, error) {
	var found reading
	in, problems, err := s.documents(ctx)
	if err != nil {
		return found, err
	}
	if in != nil {
		found.platform = in.Config.PlatformName()
		if found.digest, err = in.Digest(); err != nil {
			return found, err
		}
	}
	if whole {
		more, err := s.beside(ctx, in)
		if err != nil {
			return found, err
		}
		problems = append(problems, more...)
	}
	found.problems = said(problems)
	return found, nil
}

// said are problems as people are told them.
func said(problems []payload.Problem) []string {
	var all []string
	for _, problem := range problems {
		all = append(all, problem.String())
	}
	return all
}

// documents returns the inputs as they are, nil for those that are not valid.
func (s *Seen) documents(ctx context.Context) (*payload.Inputs, []payload.Problem, error) {
	plane := s.look.Plane
	d := payload.Documents{Secret: plane.Spec.InstallStateSecretRef.Name, Replicas: s.facts.Object.Replicas}
	if s.facts.Reached().Finished { // it may be scaled since
		d.Replicas = 0
	}
	var problems []payload.Problem
	secret := &corev1.Secret{}
	switch err := s.r.live.Get(ctx, client.ObjectKey{Namespace: plane.Namespace, Name: d.Secret}, secret); {
	case apierrors.IsNotFound(err):
		problems = append(problems, payload.Problem{At: "Secret " + d.Secret, Why: fmt.Sprintf(
			"it is not there, and spec.installStateSecretRef names it; create it with the key %s, %s, or both", payload.ConfigKey, payload.StateKey)})
	case err != nil:
		return nil, nil, fmt.Errorf("reading the inputs: %w", err)
	}
	d.Data = secret.Data
	chosen, isOne := manifestSelector(plane)
	if !isOne {
		problems = append(problems, payload.Problem{At: "spec.manifestsSelector", Why: "it is no selector of labels; write it as Kubernetes documents it"})
	} else if chosen != nil {
		var err error
		if d.Manifests, err = s.manifests(ctx, chosen); err != nil {
			return nil, nil, fmt.Errorf("reading manifests: %w", err)
		}
	}
	if len(problems) > 0 {
		return nil, problems, nil
	}
	in, err := payload.Read(d)
	if wrong, is := errors.AsType[payload.InputsError](err); is {
		return nil, wrong, nil
	}
	return in, nil, err
}

// manifests are the Secrets that are chosen, but for those that were made for a control plane.
func (s *Seen) manifests(ctx context.Context, chosen labels.Selector) ([]payload.ManifestSecret, error) {
	var all []payload.ManifestSecret
	for list := (&corev1.SecretList{}); ; {
		if err := s.r.live.List(ctx, list, client.InNamespace(s.look.Plane.Namespace), client.MatchingLabelsSelector{Selector: chosen},
			client.Limit(page), client.Continue(list.Continue)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if secret := &list.Items[i]; !isMade(secret) {
				all = append(all, payload.ManifestSecret{
					Name: secret.Name, Directory: secret.Annotations[v1alpha1.ManifestsDirectoryAnnotation], Data: secret.Data,
				})
			}
		}
		if list.Continue == "" {
			return all, nil
		}
	}
}

// beside looks at what is not in Secrets: the release, the templates, and whether manifests contradict what is made of all of it.
func (s *Seen) beside(ctx context.Context, in *payload.Inputs) ([]payload.Problem, error) {
	problems, err := s.templateProblems(ctx)
	if err != nil || in == nil {
		return problems, err
	}
	found, failed := s.release(ctx, in)
	switch {
	case failed != nil:
		problems = append(problems, payload.Problem{At: "spec.releaseImage", Why: failed.Error()})
	case s.engine() == v1alpha1.Builtin:
		err = builtin.Check(in, s.cluster(found))
		if wrong, is := errors.AsType[payload.InputsError](err); is {
			problems, err = append(problems, wrong...), nil
		}
	}
	return problems, err
}

// engine is what makes the payload. The API server fills it in.
func (s *Seen) engine() v1alpha1.IgnitionEngine {
	if s.look.Plane.Spec.Ignition.Engine == v1alpha1.InstallerJob {
		return v1alpha1.InstallerJob
	}
	return v1alpha1.Builtin
}
