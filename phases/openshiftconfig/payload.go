package openshiftconfig

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

// planeKind is the kind of control planes whose payload is taken.
const planeKind = "OpenShiftControlPlane"

// sources are what the data of one config is made of, as they were read live.
type sources struct {
	// missing says what is not there yet, empty once all is.
	missing string
	// config is the Ignition config of the role, overrides what is merged into it, nil for nothing.
	config, overrides []byte
}

// plane is the name of the OpenShiftControlPlane whose payload it is, or what speaks against there being one.
func (l Look) plane() (name, missing string) {
	if ref := l.Config.Spec.ControlPlaneRef; ref != nil {
		return ref.Name, ""
	}
	if l.Cluster == nil {
		return "", "it is not known yet which Cluster the machine is of"
	}
	ref := l.Cluster.Spec.ControlPlaneRef
	if ref.Kind != planeKind || ref.APIGroup != v1alpha1.GroupVersion.Group {
		return "", "the control plane of Cluster " + l.Cluster.Name + " is no " + planeKind + "; spec.controlPlaneRef can name one"
	}
	return ref.Name, ""
}

// sources reads them from the API server itself: Secrets are watched by their metadata only.
func (l Look) sources(ctx context.Context, live client.Reader) (sources, error) {
	plane, missing := l.plane()
	if missing != "" {
		return sources{missing: missing}, nil
	}
	name := v1alpha1.PayloadSecretName(plane, l.Config.Spec.Role)
	secret := &corev1.Secret{}
	found, err := get(ctx, live, client.ObjectKey{Namespace: l.Config.Namespace, Name: name}, secret)
	if err != nil {
		return sources{}, err
	}
	if owner := metav1.GetControllerOf(secret); !found || len(secret.Data[v1alpha1.DataKey]) == 0 || owner == nil || owner.Kind != planeKind || owner.Name != plane {
		return sources{missing: fmt.Sprintf("%s %s has not made the Ignition config of a %s yet", planeKind, plane, l.Config.Spec.Role)}, nil
	}
	made := sources{config: secret.Data[v1alpha1.DataKey]}
	ref := l.Config.Spec.OverridesSecretRef
	if ref == nil {
		return made, nil
	}
	overrides := &corev1.Secret{}
	if found, err = get(ctx, live, client.ObjectKey{Namespace: l.Config.Namespace, Name: ref.Name}, overrides); err != nil {
		return sources{}, err
	}
	if !found || len(overrides.Data[v1alpha1.OverridesKey]) == 0 {
		return sources{missing: fmt.Sprintf("Secret %s with key %s, which spec.overridesSecretRef names, is not there yet", ref.Name, v1alpha1.OverridesKey)}, nil
	}
	made.overrides = overrides.Data[v1alpha1.OverridesKey]
	return made, nil
}

// digest tells what the data is made of, and no byte of it.
func (s sources) digest() string {
	sum := sha256.New()
	for _, part := range [][]byte{s.config, s.overrides} {
		fmt.Fprintf(sum, "%d\n", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// errStub is what comes of overrides for a machine that fetches its whole config.
var errStub = errors.New("merging into a stub: the machine replaces its config by the one that it fetches, and what is merged would be lost; take spec.overridesSecretRef away")

// data is the Ignition config that the machine is started with: the same bytes for the same sources. Its errors are terminal.
func (s sources) data() ([]byte, error) {
	if s.overrides == nil {
		if err := ignition.Fits(s.config); err != nil {
			return nil, err
		}
		return s.config, ignition.Check(s.config)
	}
	at, err := ignition.PointsAt(s.config)
	if err != nil {
		return nil, err
	}
	if at.Hash != "" {
		return nil, machine.Terminal(errStub)
	}
	merged, err := ignition.Merge(s.config, s.overrides)
	if err != nil {
		return nil, fmt.Errorf("merging what spec.overridesSecretRef names: %w", err)
	}
	return merged, ignition.Fits(merged)
}
