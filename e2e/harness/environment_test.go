package harness

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
)

func TestEnvironment(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	e, err := Start(ctx, Options{Bin: "../../bin", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("Begin erases whatever was done, finalizers and webhooks or not", func(t *testing.T) { beginErases(ctx, t, e) })
	t.Run("a Namespace that comes again keeps what is in it", func(t *testing.T) { comesAgain(ctx, t, e) })
	t.Run("a world has what it says and nothing else", func(t *testing.T) { worlds(ctx, t, e) })
	t.Run("a world begins at the real time", func(t *testing.T) { realTime(ctx, t, e) })
	t.Run("the operator has the rights of its ServiceAccount", func(t *testing.T) { rights(ctx, t, e) })
	t.Run("an operator that ends by itself ends the waiting for it", func(t *testing.T) { endsByItself(ctx, t, e) })
}

func beginErases(ctx context.Context, t *testing.T, e *Environment) {
	stubborn := []string{"example.com/never-removed"}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	if err := crds.Establish(ctx, e.Cluster.Config(), definition); err != nil {
		t.Fatal(err)
	}
	thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing"}}
	thing.SetNamespace("users")
	thing.SetName("thing")
	thing.SetFinalizers(stubborn)
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "users"}},
		thing,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: CAPINamespace, Name: "config", Finalizers: stubborn}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "users"}},
	}
	for _, object := range objects {
		if err := e.Client.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now()
	if err := e.Begin(ctx, World{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("took %s", time.Since(before))
	for _, object := range append(objects, definition) {
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
			if !strings.Contains(fmt.Sprint(err), "no matches for kind") {
				t.Errorf("%T %s is still there: %v", object, object.GetName(), err)
			}
		}
	}
}

// comesAgain has the same Namespaces in one world after the other, for longer than the controller of Namespaces waits before it
// empties one: it looks at one by its name, and finds the next one of that name on its way out, too.
func comesAgain(ctx context.Context, t *testing.T, e *Environment) {
	var roles []*rbacv1.Role
	for round := range 20 {
		if err := e.Begin(ctx, World{}); err != nil {
			t.Fatal(err)
		}
		roles = nil
		for i := range 8 {
			name := fmt.Sprintf("again-%d", i)
			if err := e.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
				t.Fatal(err)
			}
			role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "kept"}}
			if err := e.Client.Create(ctx, role); err != nil {
				t.Fatal(err)
			}
			roles = append(roles, role)
		}
		<-time.After(300 * time.Millisecond)
		for _, role := range roles {
			if err := e.Client.Get(ctx, client.ObjectKeyFromObject(role), role); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
}

func worlds(ctx context.Context, t *testing.T, e *Environment) {
	for _, w := range []World{
		{},
		{Platform: configv1.AWSPlatformType, Images: map[string]string{"a": "b"}},
		{Platform: configv1.VSpherePlatformType, NoClusterAPI: true, Images: map[string]string{}},
	} {
		if err := e.Begin(ctx, w); err != nil {
			t.Fatal(err)
		}
		v, err := See(ctx, e.Client)
		if err != nil || (v.ClusterAPI == nil) != w.NoClusterAPI || v.ClusterOperator == nil || v.Record.State != "" {
			t.Errorf("%+v shows %+v: %v", w, v, err)
		}
		infrastructure, images := &configv1.Infrastructure{}, &corev1.ConfigMap{}
		if err := e.Client.Get(ctx, client.ObjectKey{Name: Singleton}, infrastructure); err != nil {
			t.Error(err)
		}
		if status := infrastructure.Status.PlatformStatus; (status == nil) != (w.Platform == "") || status != nil && status.Type != w.Platform {
			t.Errorf("the platform is %+v, want %q", status, w.Platform)
		}
		err = e.Client.Get(ctx, client.ObjectKey{Namespace: OperatorNamespace, Name: ImagesConfigMap}, images)
		if client.IgnoreNotFound(err) != nil || (err != nil) != (w.Images == nil) || len(images.Data) != len(w.Images) {
			t.Errorf("the images are %v, want %v: %v", images.Data, w.Images, err)
		}
	}
}

func realTime(ctx context.Context, t *testing.T, e *Environment) {
	path, err := e.clock.file(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Operator{clock: &e.clock}).Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(e.Now()); ahead < 59*time.Minute {
		t.Errorf("the clock is %s ahead, want an hour", ahead)
	}
	if err := e.Begin(ctx, World{}); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(e.Now()); ahead > 0 {
		t.Errorf("the clock is %s ahead in a new world", ahead)
	}
	if offset, err := os.ReadFile(path); err != nil || string(offset) != "0s" {
		t.Errorf("operators read the offset %q: %v", offset, err)
	}
}

func rights(ctx context.Context, t *testing.T, e *Environment) {
	path, err := e.operatorKubeconfig("")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	allowed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: CAPINamespace, Name: "allowed", Labels: map[string]string{ManagedByLabel: "a"},
	}}
	if err := operator.Create(ctx, allowed); err != nil {
		t.Errorf("creating a ConfigMap: %v", err)
	}
	refused := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "refused"}}
	err = operator.Create(ctx, refused)
	user := "system:serviceaccount:" + OperatorNamespace + ":" + ServiceAccount
	if err == nil || !strings.Contains(err.Error(), "forbidden") || !strings.Contains(err.Error(), user) {
		t.Errorf("creating a Node: %v, want it forbidden to %s", err, user)
	}
}

func endsByItself(ctx context.Context, t *testing.T, e *Environment) {
	operator, err := e.StartOperator(OperatorOptions{Arguments: []string{"--no-such-flag"}})
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := operator.Context(ctx)
	defer cancel()
	_, err = e.Until(waiting, "an installation", InState(Installed))
	if err == nil || !strings.Contains(err.Error(), "ended by itself") || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("waiting ends with %v, want how the operator ended", err)
	}
	if _, err := os.Stat(operator.Log); err != nil {
		t.Error(err)
	}
	if err := operator.Stop(); err != nil {
		t.Errorf("stopping an operator that is gone: %v", err)
	}
}
