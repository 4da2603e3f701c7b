package creating

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

// secretMost is how many bytes go into one Secret; an API server takes 1 MiB with all that is around them.
const secretMost = 900 << 10

func (c *creation) installSecret() string { return c.name() + "-install" }

// secret is one that is moved with the cluster.
func (c *creation) secret(name string, data map[string][]byte) *corev1.Secret {
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: c.meta(name), Type: corev1.SecretTypeOpaque, Data: data,
	}
	secret.Labels[movedLabel] = ""
	return secret
}

// secrets are what the management plane reads: the install-config as it was given, with all that is not read here, and manifests.
func (c *creation) secrets(g Given) ([]any, error) {
	install := documents(g, c.replicas).Data
	var bytes int
	for _, data := range install {
		bytes += len(data)
	}
	if bytes > secretMost {
		return nil, fmt.Errorf("install-config and installer's state have %d bytes together, more than the %d that go into a Secret", bytes, secretMost)
	}
	all := []any{c.secret(c.installSecret(), install)}
	files := slices.SortedFunc(slices.Values(g.Manifests), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, folder := range []string{payload.ManifestsFolder, payload.OpenShiftFolder} {
		for number, data := range packed(files, folder) {
			secret := c.secret(fmt.Sprintf("%s-%s-%d", c.name(), folder, number+1), data)
			secret.Labels[manifestsLabel] = c.name()
			secret.Annotations = map[string]string{v1alpha1.ManifestsDirectoryAnnotation: folder}
			all = append(all, secret)
		}
	}
	return all, nil
}

// packed are the files of a folder in their order, as many in one Secret as it holds. None is larger than half of that.
func packed(files []File, folder string) (all []map[string][]byte) {
	room := 0
	for _, file := range files {
		if path.Dir(file.Path) != folder {
			continue
		}
		if len(file.Data) > room {
			all, room = append(all, map[string][]byte{}), secretMost
		}
		all[len(all)-1][path.Base(file.Path)] = file.Data
		room -= len(file.Data)
	}
	return all
}
