package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	bytes    int
}

// seePayload fills in the facts. A payload is not looked at before its inputs are frozen, nor once the bootstrap is finished: its
// Secret goes then.
func (s *Seen) seePayload(ctx context.Context) error {
	marks := s.facts.Reached()
	if marks.Finished {
		return nil
	}
	tally := guards.Tally{Known: true, Wanted: len(payload.Roles)}
	var ends time.Time
	for _, role := range payload.Roles {
		found := judged{wrong: "it is not made before the inputs are frozen"}
		if marks.Inputs != "" {
			var err error
			if found, err = s.judge(ctx, role); err != nil {
				return err
			}
		}
		if found.wrong != "" {
			tally.Missing = append(tally.Missing, fmt.Sprintf("that of role %s (Secret %s: %s)", role, payload.SecretName(s.look.Plane.Name, role), found.wrong))
			continue
		}
		tally.Done++
		if ends.IsZero() || found.notAfter.Before(ends) {
			ends = found.notAfter
		}
	}
	s.facts.Payload = guards.Payload{Roles: tally}
	if tally.IsDone() {
		s.facts.Payload.NotAfter = ends
		s.facts.Payload.Ending = !payload.Outlives(ends, s.r.now().Add(s.untilBootstrapped()))
	}
	return s.seeLog(ctx)
}

// untilBootstrapped is how long it may take from the payload to the end of the bootstrap.
func (s *Seen) untilBootstrapped() time.Duration {
	var long time.Duration
	facts := *s.facts
	for _, state := range []struct {
		is    machine.State
		usual time.Duration
	}{
		{guards.CreatingMachines, 15 * time.Minute}, {guards.AwaitingAPI, 20 * time.Minute}, {guards.Bootstrapping, 45 * time.Minute},
	} {
		facts.Then.State = state.is
		if own := guards.Patience(facts, guards.ProgressStalled); own > 0 {
			long += own
		} else {
			long += state.usual
		}
	}
	return long
}

// judge says what is wrong with the Secret of a role, by what is remembered if it has not changed.
func (s *Seen) judge(ctx context.Context, role payload.Role) (judged, error) {
	key := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: payload.SecretName(s.look.Plane.Name, role)}
	there := metadata()
	if err := s.r.client.Get(ctx, key, there); apierrors.IsNotFound(err) {
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

// judgement is of a Secret as it was read.
func (s *Seen) judgement(secret *corev1.Secret) judged {
	if !metav1.IsControlledBy(secret, s.look.Plane) {
		return judged{wrong: "it is somebody else's; remove it, or name the OpenShiftControlPlane otherwise"}
	}
	if secret.Annotations[v1alpha1.PayloadInputsAnnotation] != s.frozen() {
		return judged{wrong: "it is made of other inputs than the frozen ones"}
	}
	ends := timeOf(secret.Annotations[v1alpha1.PayloadNotAfterAnnotation])
	if ends.IsZero() {
		return judged{wrong: "annotation " + v1alpha1.PayloadNotAfterAnnotation + " is no time"}
	}
	config, err := payload.Unpacked(secret.Data)
	if err != nil {
		return judged{wrong: err.Error()}
	}
	if sumOf(config) != secret.Annotations[v1alpha1.PayloadSumAnnotation] {
		return judged{wrong: "it was altered"}
	}
	return judged{notAfter: ends, bytes: len(config)}
}

func sumOf(config []byte) string {
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:])
}
