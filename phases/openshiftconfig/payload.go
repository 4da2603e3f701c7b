package openshiftconfig

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

// planeKind is the kind of control planes whose payload is taken.
const planeKind = "OpenShiftControlPlane"

// sources are what the data of one config is made of.
type sources struct {
	// missing says what is not there yet, empty once all is.
	missing string
	// secret is where the payload is; spoilt says why it is none that a machine can be started with.
	secret string
	spoilt error
	// config is the Ignition config of the role, overrides what is merged into it, nil for nothing.
	config, overrides []byte
	// stub says that the machine is to fetch the config, from url.
	stub bool
	url  string
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

// sources reads them from the API server itself, since Secrets are watched by their metadata only, and returns the payload among them. The
// one that was read before is taken if the cache still has its version; nil for none.
func (p *Pass) sources(ctx context.Context, before *onePayload) (sources, *onePayload, error) {
	l, c, live := p.Look, p.phases.Client, p.phases.Live
	plane, missing := l.plane()
	if missing != "" {
		return sources{missing: missing}, nil, nil
	}
	key := client.ObjectKey{Namespace: l.Config.Namespace, Name: payload.SecretName(plane, payload.Role(l.Config.Spec.Role))}
	cached, err := versionOf(ctx, c, key)
	if err != nil || cached == "" {
		return sources{missing: notMade(plane, l.Config.Spec.Role)}, nil, err // that it comes is an event
	}
	one := before
	if one == nil || one.version != cached {
		if one, err = readPayload(ctx, live, key, plane); err != nil {
			return sources{}, nil, err
		}
	}
	of := &v1alpha1.OpenShiftControlPlane{}
	known, err := get(ctx, c, client.ObjectKey{Namespace: l.Config.Namespace, Name: plane}, of)
	if err != nil {
		return sources{}, nil, err
	}
	if !one.isOf(plane) || known && one.owner.UID != of.UID {
		return sources{missing: notMade(plane, l.Config.Spec.Role)}, nil, nil
	}
	made, err := l.sourcesOf(ctx, c, live, one, plane)
	return made, one, err
}

// sourcesOf are a payload, and the overrides that the spec names.
func (l Look) sourcesOf(ctx context.Context, c, live client.Reader, one *onePayload, plane string) (made sources, err error) {
	name := payload.SecretName(plane, payload.Role(l.Config.Spec.Role))
	made = sources{secret: name, url: one.url, config: one.config, spoilt: one.spoilt}
	if made.spoilt == nil && one.altered {
		return sources{missing: fmt.Sprintf("the Ignition config of Secret %s was altered, and %s %s has not given it back yet", name, planeKind, plane)}, nil
	}
	if made.spoilt == nil && ignition.Fits(made.config) != nil {
		if made.stub, err = l.byStub(ctx, c, plane); err != nil {
			return sources{}, err
		}
		if made.stub && made.url == "" {
			made.missing = fmt.Sprintf("the Ignition config of Secret %s fits into no data Secret: upload it, and write where to into annotation %s of that Secret",
				name, v1alpha1.PayloadURLAnnotation)
			if l.Config.Spec.Role != v1alpha1.WorkerRole {
				made.missing += fmt.Sprintf("; %s %s fails if that takes longer than CreatingMachines may, see its spec.timeouts.machinesSeconds", planeKind, plane)
			}
		}
	}
	if ref := l.Config.Spec.OverridesSecretRef; ref != nil && made.missing == "" {
		return made.with(ctx, live, client.ObjectKey{Namespace: l.Config.Namespace, Name: ref.Name})
	}
	return made, nil
}

func notMade(plane string, role v1alpha1.Role) string {
	return fmt.Sprintf("%s %s has not made the Ignition config of a %s yet", planeKind, plane, role)
}

// versions are those of all that the data is made of, and that of the data Secret, by what caches hold. Each is empty where something
// of it is not there.
func (l Look) versions(ctx context.Context, c client.Reader) (sources, secret string, err error) {
	plane, missing := l.plane()
	if missing != "" {
		return "", "", nil
	}
	if secret, err = versionOf(ctx, c, client.ObjectKeyFromObject(l.Config)); err != nil {
		return "", "", err
	}
	names := []string{payload.SecretName(plane, payload.Role(l.Config.Spec.Role))}
	if ref := l.Config.Spec.OverridesSecretRef; ref != nil {
		names = append(names, ref.Name)
	}
	all := []string{string(l.Config.UID), strconv.FormatInt(l.Config.Generation, 10), l.Machine.Spec.ClusterName}
	for _, name := range names {
		version, err := versionOf(ctx, c, client.ObjectKey{Namespace: l.Config.Namespace, Name: name})
		if err != nil || version == "" {
			return "", secret, err
		}
		all = append(all, version)
	}
	of := &v1alpha1.OpenShiftControlPlane{}
	if _, err := get(ctx, c, client.ObjectKey{Namespace: l.Config.Namespace, Name: plane}, of); err != nil {
		return "", "", err
	}
	return strings.Join(append(all, string(of.Spec.Ignition.Delivery)), " "), secret, nil
}

// versionOf is that of a Secret, empty where there is none.
func versionOf(ctx context.Context, c client.Reader, key client.ObjectKey) (string, error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	found, err := get(ctx, c, key, o)
	if err != nil || !found {
		return "", err
	}
	return version(o), nil
}

// version tells whether an object is the one that was read.
func version(o client.Object) string { return string(o.GetUID()) + ":" + o.GetResourceVersion() }

// byStub says that the control plane wants machines to fetch what is too large for a Secret.
func (l Look) byStub(ctx context.Context, c client.Reader, name string) (bool, error) {
	plane := &v1alpha1.OpenShiftControlPlane{}
	found, err := get(ctx, c, client.ObjectKey{Namespace: l.Config.Namespace, Name: name}, plane)
	return found && plane.Spec.Ignition.Delivery == v1alpha1.StubDelivery, err
}

// with are the sources with the overrides in a Secret.
func (s sources) with(ctx context.Context, live client.Reader, key client.ObjectKey) (sources, error) {
	overrides := &corev1.Secret{}
	found, err := get(ctx, live, key, overrides)
	if err != nil {
		return sources{}, err
	}
	s.overrides = overrides.Data[v1alpha1.OverridesKey]
	if !found || len(s.overrides) == 0 {
		s.missing = fmt.Sprintf("Secret %s with key %s, which spec.overridesSecretRef names, is not there yet", key.Name, v1alpha1.OverridesKey)
	}
	return s, nil
}

// digest tells what the data is made of, and no byte of it.
func (s sources) digest() string {
	sum := sha256.New()
	for _, part := range [][]byte{s.config, s.overrides, []byte(s.url), []byte(strconv.FormatBool(s.stub))} {
		fmt.Fprintf(sum, "%d\n", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// errStub is what comes of overrides for a machine that fetches its whole config.
var errStub = errors.New("merging into a stub: the machine replaces its config by the one that it fetches, and what is merged would be lost; take spec.overridesSecretRef away")

// data is the Ignition config that the machine is started with: the same bytes for the same sources. Its errors are terminal.
func (s sources) data() ([]byte, error) {
	switch {
	case s.spoilt != nil:
		return nil, machine.Terminal(fmt.Errorf("reading Secret %s: %w", s.secret, s.spoilt))
	case s.stub && s.overrides != nil:
		return nil, machine.Terminal(errStub)
	case s.stub:
		return ignition.Deliver(s.config, ignition.ByStub, ignition.Upload{URL: s.url})
	case s.overrides == nil:
		return ignition.Deliver(s.config, ignition.BySecret, ignition.Upload{})
	}
	merged, err := ignition.Merge(s.config, s.overrides)
	if err != nil {
		return nil, fmt.Errorf("merging what spec.overridesSecretRef names: %w", err)
	}
	return merged, ignition.Fits(merged)
}
