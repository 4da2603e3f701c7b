package inputs

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

const (
	// whileRunning is after how long a Job is looked at again.
	whileRunning = 5 * time.Second
	// spare is how much earlier the installer is stopped than the state has no more patience, so that people are told of its log.
	spare = 30 * time.Second
	// logMost is how much of a log is told, at most: the rest of it stays in the Secret.
	logMost = 700

	installerKubeconfig = "/opt/openshift/auth/kubeconfig"
)

// installerError is an installer that has failed as often as it is tried.
type installerError struct {
	// Secret has the end of its log, of which Log is the end; it may be empty.
	Secret, Log string
	Why         string
}

func (e installerError) Error() string {
	said := fmt.Sprintf("the installer has failed %d times (%s); set annotation %s to a new value to have it tried again", job.Attempts, e.Why, v1alpha1.RetryAnnotation)
	if e.Log != "" {
		said += fmt.Sprintf(". Secret %s, key %s, has its log, which ends in: %s", e.Secret, job.LogKey, e.Log)
	}
	return said
}

// Terminal is true: it was tried again already.
func (installerError) Terminal() bool { return true }

// byInstaller is the engine InstallerJob. What the installer has made is kept until the bootstrap is over, so that a Secret that is lost
// gets the same bytes.
func (s *Seen) byInstaller(ctx context.Context, in *payload.Inputs, was held, mayMake bool) (machine.Result, error) {
	request, err := s.request(ctx, in)
	if err != nil {
		return machine.Result{}, err
	}
	result := &corev1.Secret{}
	found, err := s.ours(ctx, request.JobName(), result)
	if err != nil {
		return machine.Result{}, err
	}
	ends := timeOf(result.Annotations[v1alpha1.PayloadNotAfterAnnotation])
	undated := found && ends.IsZero() // nobody knows until when it can be used
	if undated && !mayMake {
		return machine.Result{}, lostError{What: fmt.Sprintf("annotation %s of Secret %s is gone, or no time", v1alpha1.PayloadNotAfterAnnotation, request.JobName())}
	}
	if undated || found && s.mayRemake(mayMake, ends) {
		return machine.Result{LookAgain: whileRunning}, s.restart(ctx, request, result)
	}
	if made, err := job.Unpack(result.Data); err == nil {
		if err := s.unaltered(ctx, was, result, made, mayMake); err != nil {
			return machine.Result{}, err
		}
		if err := s.takeOver(ctx, request, made); err != nil {
			return machine.Result{}, err
		}
		return s.store(ctx, was, batch{Payload: made, roles: payload.Roles, ends: ends, platform: in.Config.PlatformName()})
	}
	if !mayMake {
		return machine.Result{}, lostError{What: fmt.Sprintf("Secret %s is gone, or not what the installer has made", request.JobName())}
	}
	return s.run(ctx, request, result)
}

// unaltered fails where machines were made with something else than an installer's result is now, and notes the sum of one that is first seen.
// Whoever may write that Secret may write the sum, too, so that each role's Secret that is there has to agree.
func (s *Seen) unaltered(ctx context.Context, was held, result *corev1.Secret, made payload.Payload, mayMake bool) error {
	sum := wholeSum(made)
	if !mayMake {
		noted, lost := result.Annotations[v1alpha1.PayloadSumAnnotation], false
		agrees := noted == "" || noted == sum
		for _, role := range payload.Roles {
			had := was.annotation(payload.SecretName(s.look.Plane.Name, role), v1alpha1.PayloadSumAnnotation)
			lost = lost || had == ""
			agrees = agrees && (had == "" || had == payload.Sum(made.Of(role)))
		}
		if !agrees || noted == "" && lost {
			return lostError{What: fmt.Sprintf("Secret %s is not known to be what the installer has made", result.Name)}
		}
	}
	return s.keep(ctx, held{result.Name: result}, result.Name, result.Data, map[string]string{v1alpha1.PayloadSumAnnotation: sum})
}

// request is what a Job is made for.
func (s *Seen) request(ctx context.Context, in *payload.Inputs) (job.Request, error) {
	if s.r.CollectImage == "" {
		return job.Request{}, errors.New("making the payload: the provider was started without its own image, which collects what the installer makes; tell it by its flag, or set spec.ignition.engine to Builtin")
	}
	of, err := s.release(ctx, in)
	if err != nil {
		return job.Request{}, fmt.Errorf("making the payload: %w", err)
	}
	files, err := job.Folder(in)
	if err != nil {
		return job.Request{}, fmt.Errorf("making the payload: %w", err)
	}
	long := s.facts.PatienceOf(guards.GeneratingIgnition)
	return job.Request{
		Namespace: s.look.Plane.Namespace, Name: s.look.Plane.Name, Owner: s.owner(),
		Labels: map[string]string{clusterv1.ClusterNameLabel: s.look.Cluster.Name}, Digest: s.frozen(), ReleaseImage: string(of.Image),
		InstallerImage: s.look.Plane.Spec.Ignition.InstallerImage, CollectImage: s.r.CollectImage, Files: files,
		Seconds: int64(max(long-spare, spare).Seconds()),
	}, nil
}

// running is a Job that was seen running, the version of its result, which had nothing to take over, and what it was made for.
type running struct{ job, result, of string }

// asks tells apart what a Job is made for, without reading it: whoever mends the image waits for no Job of the former one.
func (s *Seen) asks() string { return fmt.Sprintf("%d %s", s.look.Plane.Generation, s.frozen()) }

// stillRuns says that the installer that was seen running goes on and has stored nothing since. Until it ends nothing is read of what its
// end asks for. What is remembered of it and is lost is looked for once more.
func (s *Seen) stillRuns(ctx context.Context) (bool, error) {
	last := s.memory.running
	if s.engine() != v1alpha1.InstallerJob || last.job == "" || last.of != s.asks() {
		return false, nil
	}
	result := metadata()
	err := s.r.client.Get(ctx, client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: last.job}, result)
	if err != nil || version(result) != last.result {
		return false, client.IgnoreNotFound(err)
	}
	is := &batchv1.Job{}
	found, err := s.ours(ctx, last.job, is)
	if err != nil || !found || !is.DeletionTimestamp.IsZero() {
		return false, err
	}
	state, _ := job.StateOf(is.Status.Conditions)
	return state == job.Running, nil
}

// run has the installer run, and says how that goes.
func (s *Seen) run(ctx context.Context, request job.Request, result *corev1.Secret) (machine.Result, error) {
	is := &batchv1.Job{}
	found, err := s.ours(ctx, request.JobName(), is)
	if err != nil {
		return machine.Result{}, err
	}
	if !found {
		return machine.Result{Did: "started the installer", LookAgain: whileRunning}, s.begin(ctx, request)
	}
	if !is.DeletionTimestamp.IsZero() {
		return machine.Result{LookAgain: whileRunning}, nil
	}
	state, why := job.StateOf(is.Status.Conditions)
	switch {
	case state == job.Running:
		s.memory.running = running{job: request.JobName(), result: version(result), of: s.asks()}
		return machine.Result{LookAgain: whileRunning}, nil
	case is.Annotations[v1alpha1.RetryAnnotation] != s.facts.Object.Retry:
		return machine.Result{Did: "has the installer tried again", LookAgain: whileRunning}, s.discard(ctx, is, metav1.DeletePropagationForeground)
	case state == job.Complete:
		// It may have written its result after that was read.
		if _, err := s.ours(ctx, request.JobName(), result); err != nil {
			return machine.Result{}, err
		}
		_, err := job.Unpack(result.Data)
		if err == nil {
			return machine.Result{LookAgain: soon}, nil
		}
		return machine.Result{}, installerError{Secret: request.JobName(), Why: fmt.Sprintf("it has ended well, and what it has made cannot be used: %v", err)}
	}
	log := job.Tail(result.Data[job.LogKey], job.Secrets(request.Files))
	if len(log) > logMost {
		log = log[len(log)-logMost:]
	}
	return machine.Result{}, installerError{Secret: request.JobName(), Why: why, Log: machine.Shorten(log, logMost)}
}

// begin makes all that a Job needs, and then the Job.
func (s *Seen) begin(ctx context.Context, request job.Request) error {
	made, err := job.Render(request)
	if err != nil {
		return fmt.Errorf("making the payload: %w", err)
	}
	metav1.SetMetaDataAnnotation(&made.Result.ObjectMeta, v1alpha1.PayloadNotAfterAnnotation, s.r.now().Add(payload.Lifetime).UTC().Format(time.RFC3339))
	made.Job.Annotations = map[string]string{v1alpha1.RetryAnnotation: s.facts.Object.Retry}
	var all []client.Object
	for _, part := range made.Assets {
		all = append(all, part)
	}
	for _, one := range append(all, made.Result, made.ServiceAccount, made.Role, made.RoleBinding, made.Job) {
		err := s.r.client.Create(ctx, one)
		if apierrors.IsAlreadyExists(err) {
			err = s.claims(ctx, one)
		}
		if err != nil {
			return fmt.Errorf("starting the installer: creating %T %s: %w", one, one.GetName(), err)
		}
	}
	return nil
}

// claims fails where there is an object of a name that is somebody else's.
func (s *Seen) claims(ctx context.Context, one client.Object) error {
	is, err := s.blank(one)
	if err == nil {
		_, err = s.ours(ctx, one.GetName(), is)
	}
	return err
}

// blank is an empty object of the same kind, of which only the metadata is read.
func (s *Seen) blank(like client.Object) (*metav1.PartialObjectMetadata, error) {
	kind, err := s.r.client.GroupVersionKindFor(like)
	if err != nil {
		return nil, fmt.Errorf("telling the kind of %T: %w", like, err)
	}
	one := &metav1.PartialObjectMetadata{}
	one.SetGroupVersionKind(kind)
	return one, nil
}

// ours reads an object from the API server itself. One of the name that is somebody else's is a conflict.
func (s *Seen) ours(ctx context.Context, name string, into client.Object) (found bool, err error) {
	err = s.r.live.Get(ctx, client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %T %s: %w", into, name, err)
	case !metav1.IsControlledBy(into, s.look.Plane):
		kind, err := s.r.client.GroupVersionKindFor(into)
		return false, errors.Join(phases.Conflict(kind.Kind, client.ObjectKeyFromObject(into), s.look.Plane.Name), err)
	}
	return true, nil
}

// discard deletes the very object that was seen.
func (s *Seen) discard(ctx context.Context, o client.Object, by metav1.DeletionPropagation) error {
	uid := o.GetUID()
	err := s.r.client.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(by))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// restart takes away what an installer has made that would end too soon: its Job first, with its pods.
func (s *Seen) restart(ctx context.Context, request job.Request, result *corev1.Secret) error {
	is := &batchv1.Job{}
	if found, err := s.ours(ctx, request.JobName(), is); err != nil {
		return err
	} else if found {
		return s.discard(ctx, is, metav1.DeletePropagationForeground)
	}
	return s.discard(ctx, result, metav1.DeletePropagationBackground)
}

// takeOver stores the kubeconfig that the installer has made, if there is none yet, and takes away all that it needed: its assets are
// as secret as its result.
func (s *Seen) takeOver(ctx context.Context, request job.Request, made payload.Payload) error {
	if err := s.keepInstallers(ctx, made); err != nil {
		return err
	}
	objects, err := job.Render(request)
	if err != nil {
		return fmt.Errorf("taking away what the installer needed: %w", err)
	}
	all := []client.Object{objects.Job, objects.RoleBinding, objects.Role, objects.ServiceAccount}
	for _, part := range objects.Assets {
		all = append(all, part)
	}
	for _, one := range all {
		is, err := s.blank(one)
		if err != nil {
			return err
		}
		if found, err := s.ours(ctx, one.GetName(), is); err != nil {
			return err
		} else if found {
			if err := s.discard(ctx, is, metav1.DeletePropagationBackground); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepInstallers stores the kubeconfig of an installer's payload. Nobody here has the keys that its certificates are signed by.
func (s *Seen) keepInstallers(ctx context.Context, made payload.Payload) error {
	name := secret.Name(s.look.Cluster.Name, secret.Kubeconfig)
	err := s.r.live.Get(ctx, client.ObjectKey{Namespace: s.look.Cluster.Namespace, Name: name}, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	kubeconfig, err := ignition.FileOf(made.Bootstrap, installerKubeconfig)
	if err != nil || kubeconfig == nil {
		return err
	}
	return s.keep(ctx, nil, name, map[string][]byte{secret.KubeconfigDataName: kubeconfig}, nil)
}
