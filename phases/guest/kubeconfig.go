package guest

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// kubeconfig is what is known of the Secret of a kubeconfig, as long as it has the same version.
type kubeconfig struct {
	version string
	// ours says that it was made here; others' are used as they are.
	ours bool
	// notAfter is until when its certificates are valid, zero for one without.
	notAfter time.Time
	// leads tells apart where it leads, whom it takes for the guest, and whose it is; a renewed one is the same.
	leads string
	// server is where it leads.
	server string
	// certificate is what it says who it is by, nil for none; authorities are those that it trusts, in PEM.
	certificate *x509.Certificate
	authorities []byte
	// insecure says that it takes anybody for the guest.
	insecure bool
	// wrong says why it cannot be used, empty for nothing.
	wrong string
}

func kubeconfigKey(cluster client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: cluster.Namespace, Name: secret.Name(cluster.Name, secret.Kubeconfig)}
}

// readKubeconfig is what is known of a Secret, read anew if it is another one than before; there is false where there is none.
func (p *Poller) readKubeconfig(ctx context.Context, g *guest, cluster client.ObjectKey) (found kubeconfig, there bool, err error) {
	key := kubeconfigKey(cluster)
	is := &metav1.PartialObjectMetadata{}
	is.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := p.client.Get(ctx, key, is, client.UnsafeDisableDeepCopy); apierrors.IsNotFound(err) {
		return kubeconfig{}, false, nil
	} else if err != nil {
		return kubeconfig{}, false, fmt.Errorf("looking for Secret %s: %w", key.Name, err)
	}
	version := string(is.UID) + ":" + is.ResourceVersion
	g.reading.Lock()
	defer g.reading.Unlock()
	g.mu.Lock()
	found = g.kubeconfig
	g.mu.Unlock()
	if found.version == version {
		return found, true, nil
	}
	stored := &corev1.Secret{}
	if err := p.live.Get(ctx, key, stored); apierrors.IsNotFound(err) {
		return kubeconfig{}, false, nil
	} else if err != nil {
		return kubeconfig{}, false, fmt.Errorf("reading Secret %s: %w", key.Name, err)
	}
	found, l := kubeconfigOf(stored, g.of, p.bounds)
	found.version = version
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kubeconfig.leads != "" && g.kubeconfig.leads != found.leads { // what was seen by the former one tells nothing any more
		g.ask()
	}
	g.use(found, l)
	return found, true, nil
}

// use has a guest spoken to by another kubeconfig. The guest is locked.
func (g *guest) use(k kubeconfig, l *line) {
	if g.line != nil {
		g.line.close()
	}
	g.kubeconfig, g.line = k, l
}

// kubeconfigOf reads a Secret of a Cluster whose OpenShiftControlPlane has a UID. The line is nil where it cannot be used.
func kubeconfigOf(stored *corev1.Secret, controlPlane types.UID, within *bounds) (kubeconfig, *line) {
	owner := metav1.GetControllerOf(stored)
	found := kubeconfig{ours: owner != nil && owner.UID == controlPlane}
	l, err := dial(stored.Data[secret.KubeconfigDataName], within)
	if err != nil {
		found.wrong, found.leads = fmt.Sprintf("key %s: %v", secret.KubeconfigDataName, err), "nowhere"
		return found, nil
	}
	found.server, found.certificate, found.authorities, found.insecure = l.server.String(), l.certificate, l.authorities, l.insecure
	found.leads = fmt.Sprintf("%t %s", found.ours, l.leads)
	if l.certificate != nil {
		found.notAfter = l.certificate.NotAfter
	}
	return found, l
}

// lineOf is how a guest is spoken to, and the kubeconfig that says so, as it is now.
func (p *Poller) lineOf(ctx context.Context, g *guest, cluster client.ObjectKey) (*line, kubeconfig, error) {
	found, there, err := p.readKubeconfig(ctx, g, cluster)
	name := kubeconfigKey(cluster).Name
	switch {
	case err != nil:
		return nil, found, err
	case !there:
		return nil, found, fmt.Errorf("the Secret %s is not there yet", name)
	case found.wrong != "":
		return nil, found, fmt.Errorf("the Secret %s cannot be used: %s", name, found.wrong)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == nil { // somebody has read it meanwhile, and it was another one
		return nil, found, fmt.Errorf("the Secret %s has just been replaced", name)
	}
	return g.line, g.kubeconfig, nil
}

// seeKubeconfig fills in the facts.
func (s *Seen) seeKubeconfig(found kubeconfig, there bool) {
	wrong := found.wrong
	if there && s.sight.other {
		wrong = s.sight.problem + "; put the kubeconfig of this one there, or delete the Secret"
	}
	s.facts.Kubeconfig = guards.Kubeconfig{Known: true, There: there && wrong == "", Problem: wrong, NotAfter: found.notAfter, External: there && !found.ours}
}

// KeepKubeconfig makes the kubeconfig where there is none, renews it at half of its life, and makes one of ours anew that cannot be
// used, or that the guest has refused for long and the authority has not issued. One that is somebody else's is left as it is, and so is ours
// where the authority's key is not there. One of another authority that may work still is not replaced: it may be the only way in.
func (s *Seen) KeepKubeconfig(ctx context.Context) (did string, err error) {
	if s.unread != nil || s.guest == nil {
		return "", s.unread
	}
	key := client.ObjectKeyFromObject(s.look.Cluster)
	found, there, err := s.p.readKubeconfig(ctx, s.guest, key)
	if err != nil || there && !found.ours {
		return "", err
	}
	isDue := !there || s.isDue(found)
	if !isDue && !s.sight.refused && !s.sight.other {
		return "", nil
	}
	by, err := s.authority(ctx)
	if err != nil || by == nil {
		return "", err
	}
	issued, isLost := there && by.hasIssued(found), s.isLost(found) || s.sight.other && by.hasSigned(found)
	switch {
	case !isDue && (issued || !isLost): // what the guest refuses is none of its making, or a passing fault; or it was just made anew
		return "", nil
	case there && !issued && !isLost:
		return "", fmt.Errorf("renewing Secret %s: Secret %s is another authority than the one that the guest trusts; put that one back", kubeconfigKey(key).Name, by.name)
	}
	return s.makeKubeconfig(ctx, by)
}

// makeKubeconfig stores one of an authority, and has the guest asked by it.
func (s *Seen) makeKubeconfig(ctx context.Context, by *signer) (did string, err error) {
	name := kubeconfigKey(client.ObjectKeyFromObject(s.look.Cluster)).Name
	made, err := by.kubeconfig(s.look.Cluster.Name, s.server())
	if err != nil {
		return "", fmt.Errorf("making Secret %s: %w", name, err)
	}
	switch err := s.storeKubeconfig(ctx, made); {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err):
		return "", nil // somebody has written it or taken it away since, of which an event tells
	case err != nil:
		return "", fmt.Errorf("storing Secret %s: %w", name, err)
	}
	s.guest.ask()
	return "stored Secret " + name, nil
}

// isLost says that a kubeconfig does not lead to the guest any more: it cannot be used, has ended, or the guest has refused it for as
// long as it has been silent.
func (s *Seen) isLost(found kubeconfig) bool {
	return found.wrong != "" || found.server != s.server() || found.notAfter.Before(s.p.now()) || s.sight.refused && s.sight.silent
}

// isDue says that a kubeconfig of ours has to be made anew, whatever the guest says of it.
func (s *Seen) isDue(found kubeconfig) bool {
	return found.wrong != "" || found.notAfter.IsZero() || found.server != s.server() ||
		found.notAfter.Sub(s.p.now()) < certs.DefaultCertDuration/2
}

func (s *Seen) server() string {
	return "https://" + s.look.Cluster.Spec.ControlPlaneEndpoint.String()
}

// storeKubeconfig creates the Secret, or replaces what is in it.
func (s *Seen) storeKubeconfig(ctx context.Context, data []byte) error {
	cluster := client.ObjectKeyFromObject(s.look.Cluster)
	made := capikubeconfig.GenerateSecretWithOwner(cluster, data, *metav1.NewControllerRef(s.look.Plane, v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane")))
	stored := &corev1.Secret{}
	err := s.p.live.Get(ctx, kubeconfigKey(cluster), stored)
	switch {
	case apierrors.IsNotFound(err):
		return s.p.client.Create(ctx, made)
	case err != nil:
		return err
	case !metav1.IsControlledBy(stored, s.look.Plane):
		return phases.Conflict("Secret", kubeconfigKey(cluster), s.look.Plane.Name)
	}
	stored.Data = made.Data
	if stored.Labels == nil {
		stored.Labels = map[string]string{}
	}
	stored.Labels[clusterv1.ClusterNameLabel] = cluster.Name
	return s.p.client.Update(ctx, stored)
}
