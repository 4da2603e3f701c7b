package inputs

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

// seeCertificates fills in which authorities of the Cluster are there, by a cache of their names. What is in them is read where
// something is signed.
func (s *Seen) seeCertificates(ctx context.Context) error {
	tally := guards.Tally{Known: true}
	if s.engine() == v1alpha1.InstallerJob {
		s.facts.Certificates = tally
		return nil
	}
	for _, purpose := range keys.Purposes {
		name := secret.Name(s.look.Cluster.Name, purpose)
		tally.Wanted++
		switch err := s.r.client.Get(ctx, client.ObjectKey{Namespace: s.look.Cluster.Namespace, Name: name}, metadata(), asCached); {
		case err == nil:
			tally.Done++
		case apierrors.IsNotFound(err):
			tally.Missing = append(tally.Missing, "Secret "+name)
		default:
			return fmt.Errorf("looking for the authorities of Cluster %s: %w", s.look.Cluster.Name, err)
		}
	}
	s.facts.Certificates = tally
	return nil
}
