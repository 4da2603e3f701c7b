package inputs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/builtin"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

// stubRoles are those whose machines may be made as long as there is a cluster, and twins the other one of each: both configs point at the
// machine-config server, and differ in the role that they ask it for.
var (
	stubRoles = []payload.Role{payload.Master, payload.Worker}
	twins     = map[payload.Role]payload.Role{payload.Master: payload.Worker, payload.Worker: payload.Master}
)

// seeStubs fills in the facts of a payload whose bootstrap is finished. What a process sees first is taken as it is, by its metadata: else
// a restart would read them all. One that was altered before that is refused by whoever is to be started with it.
func (s *Seen) seeStubs(ctx context.Context) error {
	tally := guards.Tally{Known: true, Wanted: len(stubRoles)}
	s.stubs = map[payload.Role]judged{}
	clusterID := ""
	for _, role := range stubRoles {
		found, err := s.judgeStub(ctx, role)
		if err != nil {
			return err
		}
		if s.stubs[role] = found; found.wrong == "" {
			tally.Done++
			clusterID = cmp.Or(clusterID, found.clusterID)
			continue
		}
		tally.Missing = append(tally.Missing, s.missing(role, found.wrong))
	}
	if clusterID == "" { // the bootstrap's config tells, as long as that is there
		found, err := s.judge(ctx, payload.Bootstrap)
		if err != nil {
			return err
		}
		clusterID = cmp.Or(found.clusterID, s.memory.clusterID)
	}
	s.memory.clusterID = clusterID
	s.facts.Payload = guards.Payload{Roles: tally, ClusterID: clusterID}
	return nil
}

func (s *Seen) judgeStub(ctx context.Context, role payload.Role) (judged, error) {
	if _, seen := s.memory.roles[role]; seen {
		return s.judge(ctx, role)
	}
	there := metadata()
	key := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, role)}
	if err := s.r.client.Get(ctx, key, there, asCached); apierrors.IsNotFound(err) {
		return judged{wrong: "it is not there"}, nil
	} else if err != nil {
		return judged{}, fmt.Errorf("looking for the payload: %w", err)
	}
	found := s.judgementOf(there)
	found.version = version(there) + " " + s.frozen()
	s.memory.roles[role] = found
	return found, nil
}

// KeepStubs gives masters and workers their configs back that were lost or altered once the bootstrap was finished: out of the other
// one, or of what they are composed of. Where neither is left, that is told by the facts. Which cluster was made is noted again beside both.
func (s *Seen) KeepStubs(ctx context.Context) (machine.Result, error) {
	if s.unread != nil {
		return machine.Result{}, s.unread
	}
	for _, role := range stubRoles {
		if s.stubs[role].wrong == "" {
			continue
		}
		config, annotations, err := s.stub(ctx, role)
		if err != nil {
			return machine.Result{}, err
		}
		if config == nil {
			continue
		}
		data, err := s.delivered(config)
		if err != nil {
			return machine.Result{}, fmt.Errorf("storing the Ignition config of role %s: %w", role, err)
		}
		annotations[v1alpha1.PayloadSumAnnotation] = payload.Sum(config)
		name := payload.SecretName(s.look.Plane.Name, role)
		was, err := s.held(ctx, name)
		if err != nil {
			return machine.Result{}, err
		}
		switch err := s.keep(ctx, was, name, data, annotations); {
		case isRaced(err):
			return machine.Result{LookAgain: soon}, nil
		case err != nil:
			return machine.Result{}, err
		}
		return machine.Result{Did: "gave Secret " + name + " its Ignition config back", LookAgain: soon}, nil
	}
	return s.keepClusterID(ctx)
}

// keepClusterID notes again which cluster was made where that note is lost, or was never made.
func (s *Seen) keepClusterID(ctx context.Context) (machine.Result, error) {
	for _, role := range stubRoles {
		if is := s.stubs[role]; is.wrong != "" || is.clusterID != "" || s.facts.Payload.ClusterID == "" {
			continue
		}
		name := payload.SecretName(s.look.Plane.Name, role)
		was, err := s.held(ctx, name)
		if err != nil || was[name] == nil {
			return machine.Result{}, err
		}
		switch err := s.keep(ctx, was, name, was[name].Data, map[string]string{v1alpha1.PayloadClusterIDAnnotation: s.facts.Payload.ClusterID}); {
		case isRaced(err):
			return machine.Result{LookAgain: soon}, nil
		case err != nil:
			return machine.Result{}, err
		}
		return machine.Result{Did: "noted in Secret " + name + " which cluster was made", LookAgain: soon}, nil
	}
	return machine.Result{}, nil
}

// stub is the config of a role as it was, and what is noted beside it; nil where nobody knows.
func (s *Seen) stub(ctx context.Context, role payload.Role) ([]byte, map[string]string, error) {
	other := &corev1.Secret{}
	err := s.r.live.Get(ctx, client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, twins[role])}, other)
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, fmt.Errorf("reading the payload: %w", err)
	}
	var config []byte
	if err == nil && s.judgement(other).wrong == "" {
		config = twin(other.Data[payload.ValueKey], twins[role], role)
	}
	notes := map[string]string{}
	for _, name := range []string{v1alpha1.PayloadInputsAnnotation, v1alpha1.PayloadNotAfterAnnotation, v1alpha1.PayloadVersionsAnnotation} {
		notes[name] = other.Annotations[name]
	}
	if config == nil {
		if config, err = s.composed(ctx, role); err != nil {
			return nil, nil, err
		}
		maps.Copy(notes, s.notesNow())
	}
	if id := s.facts.Payload.ClusterID; id != "" { // what is refused of the other one tells nothing of it
		notes[v1alpha1.PayloadClusterIDAnnotation] = id
	}
	was, err := s.sumBefore(ctx, role)
	if err != nil || was != "" && was != payload.Sum(config) {
		return nil, nil, err // it was another one than those that we know how to make
	}
	return config, notes, nil
}

// notesNow are what is noted of a config whose twin is gone, too. Nobody asks any more until when the bootstrap could be started.
func (s *Seen) notesNow() map[string]string {
	return map[string]string{
		v1alpha1.PayloadInputsAnnotation: s.frozen(), v1alpha1.PayloadVersionsAnnotation: s.versionsSum,
		v1alpha1.PayloadNotAfterAnnotation: s.r.now().UTC().Format(time.RFC3339),
	}
}

// sumBefore is that of the config that a role has had, as its Secret tells; empty where there is none of ours.
func (s *Seen) sumBefore(ctx context.Context, role payload.Role) (string, error) {
	there := metadata()
	err := s.r.client.Get(ctx, client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, role)}, there, asCached)
	if err != nil || !metav1.IsControlledBy(there, s.look.Plane) {
		return "", client.IgnoreNotFound(err)
	}
	return there.Annotations[v1alpha1.PayloadSumAnnotation], nil
}

// twin is the config of another role, nil where it does not ask for its role in one place.
func twin(config []byte, of, role payload.Role) []byte {
	asks := []byte("/config/" + string(of))
	if bytes.Count(config, asks) != 1 {
		return nil
	}
	return bytes.Replace(config, asks, []byte("/config/"+string(role)), 1)
}

// composed is the config of a role as the engine Builtin makes it, of the authority that is there and of the inputs, unless they were
// edited; nil where something of that is gone.
func (s *Seen) composed(ctx context.Context, role payload.Role) ([]byte, error) {
	if s.engine() != v1alpha1.Builtin {
		return nil, nil
	}
	authority := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: secret.Name(s.look.Cluster.Name, keys.MachineConfigServer)}
	if err := s.r.live.Get(ctx, key, authority); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", key, err)
	}
	in, problems, err := s.documents(ctx)
	if err != nil || len(problems) > 0 || in == nil || len(authority.Data[secret.TLSCrtDataName]) == 0 {
		return nil, err
	}
	digest, err := in.Digest()
	if err != nil || digest != s.frozen() {
		return nil, err
	}
	cluster := builtin.Cluster{}
	if server := s.look.Plane.Spec.MachineConfigServer; server != nil {
		cluster.MachineConfigServer = server.Host
	}
	return builtin.Pointer(in, cluster, role, authority.Data[secret.TLSCrtDataName])
}
