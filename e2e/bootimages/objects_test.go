package bootimages_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// create makes an object as an administrator does, and returns it as it is stored.
func create(ctx context.Context, o *object) *object {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, o, harness.Administrator)).To(Succeed())
	return o
}

// merge changes an object by a merge patch in YAML, as an administrator does, and returns what the API server says.
func merge(ctx context.Context, o *object, patch string, arguments ...any) error {
	GinkgoHelper()
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, patch, arguments...))
	Expect(err).NotTo(HaveOccurred())
	return env.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, text), harness.Administrator)
}

// mergeStatus is merge for the status.
func mergeStatus(ctx context.Context, o *object, patch string, arguments ...any) error {
	GinkgoHelper()
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, patch, arguments...))
	Expect(err).NotTo(HaveOccurred())
	return env.Client.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, text), harness.Administrator)
}

// annotate puts an annotation on an object.
func annotate(ctx context.Context, o *object, annotation, value string) {
	GinkgoHelper()
	Expect(merge(ctx, o, "metadata: {annotations: {%s: %q}}", annotation, value)).To(Succeed())
}

// remove deletes an object.
func remove(ctx context.Context, o *object) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, o.DeepCopy())).To(Succeed())
}

// live is an object as it is now.
func live(ctx context.Context, o *object) *object {
	GinkgoHelper()
	now := &object{}
	now.SetGroupVersionKind(o.GroupVersionKind())
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(o), now)).To(Succeed())
	return now
}

// becomes waits until a field of an object has a value, and returns the object.
func becomes(ctx context.Context, o *object, path string, value any) *object {
	GinkgoHelper()
	now := &object{}
	now.SetGroupVersionKind(o.GroupVersionKind())
	eventually(ctx, fmt.Sprintf("%s of %s %s to be %v", path, o.GetKind(), o.GetName(), value), func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
			return err
		}
		is := field(now, path)
		return unless(reflect.DeepEqual(is, value), "it is %v", is)
	})
	return now
}

// same expects that nothing of an object has changed but fields at paths, and what API servers keep of writes.
func same(before, after *object, but ...string) {
	GinkgoHelper()
	one, other := before.DeepCopy(), after.DeepCopy()
	for _, o := range []*object{one, other} {
		for _, path := range append(but, "metadata.resourceVersion", "metadata.generation", "metadata.managedFields") {
			unset(o.Object, strings.Split(path, "."))
		}
	}
	Expect(other.Object).To(Equal(one.Object))
}

// unset takes a field away, also one of an item of a list.
func unset(from any, path []string) {
	for ; len(path) > 1; path = path[1:] {
		from = bootworld.Within(from, path[0])
	}
	if of, is := from.(map[string]any); is {
		delete(of, path[0])
	}
}

// untouched expects that an object is stored as it was.
func untouched(ctx context.Context, was *object) {
	GinkgoHelper()
	Expect(live(ctx, was).GetResourceVersion()).To(Equal(was.GetResourceVersion()), "%s %s was written", was.GetKind(), was.GetName())
}

// configMap makes a ConfigMap hold exactly this.
func configMap(ctx context.Context, namespace, name string, data map[string]string) {
	GinkgoHelper()
	Expect(inEnv().SetConfigMap(ctx, namespace, name, data)).To(Succeed())
}
