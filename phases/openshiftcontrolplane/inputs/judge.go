package inputs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
)

// judged is what came of reading the Secret of a role, as long as it has the same version.
type judged struct {
	version string
	// wrong says what is wrong with it, empty for nothing.
	wrong    string
	notAfter time.Time
	platform string
	// clusterID is the UUID of the cluster that is made.
	clusterID string
}

// seePayload fills in the facts. A payload is not looked at before its inputs are frozen, nor that of the bootstrap once that is
// finished: its Secret goes then.
func (s *Seen) seePayload(ctx context.Context) error {
	marks := s.facts.Reached()
	if marks.Finished {
		return s.seeStubs(ctx)
	}
	tally := guards.Tally{Known: true, Wanted: len(payload.Roles)}
	var ends time.Time
	clusterID := ""
	for _, role := range payload.Roles {
		found := judged{wrong: "it is not made before the inputs are frozen"}
		if marks.Inputs != "" {
			var err error
			if found, err = s.judge(ctx, role); err != nil {
				return err
			}
		}
		if found.wrong != "" {
			tally.Missing = append(tally.Missing, s.missing(role, found.wrong))
			continue
		}
		tally.Done++
		if found.platform != "" { // as it was when the inputs were frozen
			s.facts.Cluster.Platform = found.platform
		}
		clusterID = cmp.Or(clusterID, found.clusterID)
		if ends.IsZero() || found.notAfter.Before(ends) {
			ends = found.notAfter
		}
	}
	s.memory.clusterID = clusterID
	s.facts.Payload = guards.Payload{Roles: tally, ClusterID: clusterID}
	if tally.IsDone() {
		s.facts.Payload.NotAfter = ends
		s.facts.Payload.Ending = !payload.Outlives(ends, s.r.now().Add(s.untilBootstrapped()))
	}
	return s.seeLog(ctx)
}

// missing is what is told of a role whose config is not right.
func (s *Seen) missing(role payload.Role, wrong string) string {
	return fmt.Sprintf("that of role %s (Secret %s: %s)", role, payload.SecretName(s.look.Plane.Name, role), wrong)
}

// untilBootstrapped is how long it may take from the payload to the end of the bootstrap.
func (s *Seen) untilBootstrapped() (long time.Duration) {
	for _, state := range []machine.State{guards.CreatingMachines, guards.AwaitingAPI, guards.Bootstrapping} {
		long += s.facts.PatienceOf(state)
	}
	return long
}

// judge says what is wrong with the Secret of a role, by what is remembered if it has not changed.
func (s *Seen) judge(ctx context.Context, role payload.Role) (judged, error) {
	key := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, role)}
	there := metadata()
	if err := s.r.client.Get(ctx, key, there, asCached); apierrors.IsNotFound(err) {
		return judged{wrong: "it is not there"}, nil
	} else if err != nil {
		return judged{}, fmt.Errorf("looking for the payload: %w", err)
	}
	is := version(there) + " " + s.frozen()
	if last := s.memory.roles[role]; last.version == is {
		return last, nil
	}
	secret := &corev1.Secret{}
	if err := s.r.live.Get(ctx, key, secret); apierrors.IsNotFound(err) {
		return judged{wrong: "it is not there"}, nil
	} else if err != nil {
		return judged{}, fmt.Errorf("reading the payload: %w", err)
	}
	found := s.judgement(secret)
	found.version = is
	s.memory.roles[role] = found
	return found, nil
}

// judgementOf is of what the metadata of a Secret says.
func (s *Seen) judgementOf(secret metav1.Object) judged {
	notes := secret.GetAnnotations()
	if !metav1.IsControlledBy(secret, s.look.Plane) {
		return judged{wrong: "it is somebody else's; remove it, or name the OpenShiftControlPlane otherwise"}
	}
	if secret.GetLabels()[clusterv1.ClusterNameLabel] != s.look.Cluster.Name {
		return judged{wrong: "it has lost the label of its Cluster"}
	}
	if notes[v1alpha1.PayloadInputsAnnotation] != s.frozen() {
		return judged{wrong: "it is made of other inputs than the frozen ones"}
	}
	ends := timeOf(notes[v1alpha1.PayloadNotAfterAnnotation])
	if ends.IsZero() {
		return judged{wrong: "annotation " + v1alpha1.PayloadNotAfterAnnotation + " is no time"}
	}
	return judged{notAfter: ends, platform: notes[v1alpha1.PayloadPlatformAnnotation], clusterID: notes[v1alpha1.PayloadClusterIDAnnotation]}
}

// judgement is of a Secret as it was read.
func (s *Seen) judgement(secret *corev1.Secret) judged {
	found := s.judgementOf(secret)
	if found.wrong != "" {
		return found
	}
	config, err := payload.Unpacked(secret.Data)
	if err != nil {
		return judged{wrong: err.Error()}
	}
	if payload.Sum(config) != secret.Annotations[v1alpha1.PayloadSumAnnotation] {
		return judged{wrong: "it was altered"}
	}
	found.clusterID = cmp.Or(payload.ClusterID(config), found.clusterID) // the annotation may be lost, and was not written ever since
	return found
}
