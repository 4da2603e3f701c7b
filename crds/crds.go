// Package crds holds the OpenShift custom resource definitions that Capstan
// reads and writes, as github.com/openshift/api publishes them, and installs
// them on a bare kube-apiserver. It refuses to edit them: every file under
// manifests is a byte-for-byte copy, and a test fails when one is stale. On a
// real OpenShift cluster nothing here is needed.
package crds

import (
	"context"
	"embed"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

//go:generate go test -vet=off . -run TestEveryManifestIsACopyOfTheModulesOwn -update

//go:embed manifests/*.yaml
var manifests embed.FS

// All returns a fresh copy of every definition, in the order of their file
// names. It panics when an embedded file does not parse, which a test rules out.
func All() []*apiextensionsv1.CustomResourceDefinition {
	entries, err := manifests.ReadDir("manifests")
	if err != nil {
		panic(fmt.Sprintf("reading the embedded manifests: %v", err))
	}
	all := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(entries))
	for _, entry := range entries {
		data, err := manifests.ReadFile("manifests/" + entry.Name())
		if err != nil {
			panic(fmt.Sprintf("reading the embedded manifests/%s: %v", entry.Name(), err))
		}
		crd, err := Parse(data)
		if err != nil {
			panic(fmt.Sprintf("manifests/%s: %v", entry.Name(), err))
		}
		all = append(all, crd)
	}
	return all
}

// Parse reads one definition from YAML and refuses fields that it does not know.
func Parse(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return nil, fmt.Errorf("parsing a CustomResourceDefinition: %w", err)
	}
	return crd, nil
}

// Install brings every definition of All to the cluster and returns when their
// resources are served; see Establish.
func Install(ctx context.Context, cfg *rest.Config) error {
	return Establish(ctx, cfg, All()...)
}

// Establish creates or updates the definitions and returns when each is
// Established and answers a list in every served version, so that the next
// request for one of their resources cannot meet a 404. It waits as long as the
// context allows.
func Establish(ctx context.Context, cfg *rest.Config, definitions ...*apiextensionsv1.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("building a client for CustomResourceDefinitions: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, crd := range definitions {
		group.Go(func() error {
			if err := put(ctx, client, crd); err != nil {
				return fmt.Errorf("installing CustomResourceDefinition %s: %w", crd.Name, err)
			}
			if err := served(ctx, client, crd); err != nil {
				return fmt.Errorf("waiting for CustomResourceDefinition %s to be served: %w", crd.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func put(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	_, err := definitions.Create(ctx, crd, metav1.CreateOptions{})
	for err != nil {
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			return err
		}
		var existing *apiextensionsv1.CustomResourceDefinition
		if existing, err = definitions.Get(ctx, crd.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		existing.Labels, existing.Annotations, existing.Spec = crd.Labels, crd.Annotations, crd.Spec
		_, err = definitions.Update(ctx, existing, metav1.UpdateOptions{})
	}
	return nil
}

func served(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		seen, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range seen.Status.Conditions {
			if condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse {
				return false, fmt.Errorf("its names are taken: %s", condition.Message)
			}
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return answers(ctx, client, crd)
			}
		}
		return false, nil
	})
}

// answers asks for the resource itself because Established is set a moment
// before the server's handlers have heard of it.
func answers(ctx context.Context, client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		err := client.ApiextensionsV1().RESTClient().Get().
			AbsPath("/apis", crd.Spec.Group, version.Name, crd.Spec.Names.Plural).
			Param("limit", "1").Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
