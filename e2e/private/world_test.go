package private_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
)

// world is the managers of one release of Cluster API, and the groups that their objects are stored in.
type world struct {
	// name is that of its identities, its binaries and, as a prefix, its namespaces.
	name string
	// group is the core group as the server stores it; those of providers end in it.
	group    string
	managers map[string]*manager
	// others are the programs that the managers need; proxies are some of them.
	others, proxies []*child
}

// components are the programs of a release, in the order in which they are started.
var components = []string{"core", "bootstrap", "controlplane", "dev"}

// configs are the folders of the manifests of the components of a release, by component.
func configs(ctx context.Context, world, core string) (map[string]string, error) {
	folders := map[string]string{}
	for _, source := range []struct{ component, requiring, module, folder string }{
		{"core", world, "sigs.k8s.io/cluster-api", core},
		{"bootstrap", world, "sigs.k8s.io/cluster-api", "bootstrap/kubeadm"},
		{"controlplane", world, "sigs.k8s.io/cluster-api", "controlplane/kubeadm"},
		{"dev", "worlds/private", "sigs.k8s.io/cluster-api/test", "infrastructure/docker"},
	} {
		module, err := moduleFolder(ctx, source.requiring, source.module)
		if err != nil {
			return nil, err
		}
		folders[source.component] = filepath.Join(module, source.folder, "config")
	}
	return folders, nil
}

// newStandard is the world in the groups of everybody, with its definitions, rights and webhooks installed; nothing runs.
func newStandard(ctx context.Context) (*world, error) {
	w := &world{name: "standard", group: standardGroup, managers: map[string]*manager{}}
	folders, err := configs(ctx, "worlds/standard", "core")
	if err != nil {
		return nil, err
	}
	if err := w.createNamespaces(ctx); err != nil {
		return nil, err
	}
	return w, w.install(ctx, folders, func(m *manager, upstream manifests) (manifests, error) {
		upstream.redirect(m.webhooks)
		return upstream, nil
	})
}

// install makes the managers of all components, and installs what is made of the manifests that each brings.
func (w *world) install(ctx context.Context, folders map[string]string, made func(*manager, manifests) (manifests, error)) error {
	for _, component := range components {
		upstream, err := readManifests(folders[component])
		if err != nil {
			return err
		}
		m, err := newManager(w.name, component)
		if err != nil {
			return err
		}
		w.managers[component] = m
		brought, err := made(m, upstream)
		if err != nil {
			return err
		}
		if err := m.install(ctx, brought); err != nil {
			return fmt.Errorf("installing %s of the %s world: %w", component, w.name, err)
		}
	}
	return nil
}

// namespaces are those that the world's clusters live in.
func (w *world) namespaces() []string { return []string{w.name + "-one", w.name + "-two"} }

func (w *world) createNamespaces(ctx context.Context) error {
	for _, name := range append(w.namespaces(), w.name+"-system") {
		if err := api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("creating Namespace %s: %w", name, err)
		}
	}
	return nil
}

// start runs all managers with the kubeconfigs that they are given, and waits until they are ready.
func (w *world) start(ctx context.Context, kubeconfig func(context.Context, *manager) (string, error)) error {
	for _, component := range components {
		m := w.managers[component]
		file, err := kubeconfig(ctx, m)
		if err != nil {
			return err
		}
		if err := m.start(file); err != nil {
			return err
		}
	}
	for _, component := range components {
		if err := w.managers[component].ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// direct has a manager talk to the control plane itself.
func direct(_ context.Context, m *manager) (string, error) { return m.kubeconfig() }

// alive is an error once any program of the world has ended.
func (w *world) alive() error {
	var problems []error
	for _, c := range w.others {
		problems = append(problems, c.alive())
	}
	for _, m := range w.managers {
		problems = append(problems, m.alive())
	}
	return errors.Join(problems...)
}

// install brings what the component brings; see manifests.redirect for where its webhooks are.
func (m *manager) install(ctx context.Context, brought manifests) error {
	if err := crds.Establish(ctx, config, brought.definitions...); err != nil {
		return err
	}
	if err := m.grant(ctx, brought.role.Rules); err != nil {
		return err
	}
	name := "capi-" + m.id()
	brought.mutating.Name, brought.validating.Name = name, name
	for _, object := range []client.Object{&brought.mutating, &brought.validating} {
		if err := api.Create(ctx, object); err != nil {
			return fmt.Errorf("creating the webhooks of %s: %w", name, err)
		}
	}
	return nil
}

// grant gives the manager's service account the rights of its role, and no more.
func (m *manager) grant(ctx context.Context, rules []rbacv1.PolicyRule) error {
	name := m.id()
	account := metav1.ObjectMeta{Namespace: m.namespace(), Name: m.component}
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: account},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
		},
	} {
		if err := api.Create(ctx, object); err != nil {
			return fmt.Errorf("granting the rights of %s: %w", name, err)
		}
	}
	return nil
}
