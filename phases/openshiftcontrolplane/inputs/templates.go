package inputs

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
)

// templateInvalid begins what is told of a template that machines cannot be cloned from.
const templateInvalid = "InfraTemplateInvalid: "

// contracts are those of Cluster API that machines can be cloned by.
var contracts = []string{"v1beta2", "v1beta1"}

// templateRef is a template, and the field that names it.
type templateRef struct {
	field string
	ref   clusterv1.ContractVersionedObjectReference
}

func (t templateRef) String() string { return t.ref.Kind + " " + t.ref.Name }

// templates are those that machines are cloned from, each once.
func (s *Seen) templates() []templateRef {
	spec := &s.look.Plane.Spec
	all := []templateRef{{"spec.machineTemplate.spec.infrastructureRef", spec.MachineTemplate.Spec.InfrastructureRef}}
	if own := spec.BootstrapMachine.InfrastructureRef; own != nil && *own != all[0].ref {
		all = append(all, templateRef{"spec.bootstrapMachine.infrastructureRef", *own})
	}
	return all
}

// template reads one; why says what is wrong with it, empty for nothing.
func (s *Seen) template(ctx context.Context, t templateRef) (found *unstructured.Unstructured, why string, err error) {
	served, err := s.isServed(ctx, t)
	if err != nil {
		return nil, "", err
	}
	if served {
		found, err = external.GetObjectFromContractVersionedRef(ctx, s.r.client, t.ref, s.look.Plane.Namespace)
	}
	switch {
	case !served || meta.IsNoMatchError(err):
		return nil, fmt.Sprintf("kind %s of group %s is not served with a version for the contract of Cluster API; install the provider that has it", t.ref.Kind, t.ref.APIGroup), nil
	case apierrors.IsNotFound(err):
		return nil, "it is not there; create it in this namespace", nil
	case err != nil:
		return nil, "", fmt.Errorf("reading %s: %w", t, err)
	case !found.GetDeletionTimestamp().IsZero():
		return nil, "it is being deleted; create it anew", nil
	}
	return found, "", nil
}

// isServed says that a kind has a definition that tells of a version for the contract. What Cluster API's library says where it has
// none cannot be told from other errors.
func (s *Seen) isServed(ctx context.Context, t templateRef) (bool, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	name := contract.CalculateCRDName(t.ref.APIGroup, t.ref.Kind)
	if err := s.r.client.Get(ctx, client.ObjectKey{Name: name}, definition); apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("reading the definition of %s: %w", t, err)
	}
	for _, version := range contracts {
		if definition.Labels[clusterv1.GroupVersion.Group+"/"+version] != "" {
			return true, nil
		}
	}
	return false, nil
}

func (s *Seen) templateProblems(ctx context.Context) ([]payload.Problem, error) {
	var problems []payload.Problem
	for _, t := range s.templates() {
		_, why, err := s.template(ctx, t)
		if err != nil {
			return nil, err
		}
		if why != "" {
			problems = append(problems, payload.Problem{At: templateInvalid + t.String() + ", named by " + t.field, Why: why})
		}
	}
	return problems, nil
}

// ownTemplates has the Cluster own the templates, so that they move and go with it.
func (s *Seen) ownTemplates(ctx context.Context) error {
	for _, t := range s.templates() {
		found, why, err := s.template(ctx, t)
		if err != nil {
			return err
		}
		if why != "" {
			return fmt.Errorf("having Cluster %s own %s: %s", s.look.Cluster.Name, t, why)
		}
		if err := phases.OwnTemplate(ctx, s.r.client, s.look.Cluster, found); err != nil {
			return err
		}
	}
	return nil
}
