package openshiftconfig

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

// payloadsKept is how many payloads are kept in memory, each of them at most a megabyte: the machines of a cluster ask for the same ones
// within a few seconds.
const payloadsKept = 32

// payloads are those that were read last, so that each version of one is read and parsed once for all machines. Lost, one is read again.
// The zero value is ready, and may be used by many goroutines.
type payloads struct {
	once sync.Once
	kept *lru.Cache
}

// onePayload is what a Secret with the Ignition config of a role says. Nobody changes it.
type onePayload struct {
	version string
	// owner is its controller, nil for none.
	owner *metav1.OwnerReference
	// config is the Ignition config; spoilt says why it is none, altered that it is not what its sum was noted of.
	config  []byte
	spoilt  error
	altered bool
	url     string
}

// read returns what a Secret says of which the cache has a version; nothing where it is gone.
func (p *payloads) read(ctx context.Context, live client.Reader, key client.ObjectKey, cached string) (*onePayload, error) {
	p.once.Do(func() { p.kept = lru.New(payloadsKept) })
	if kept, has := p.kept.Get(key); has {
		if one, is := kept.(*onePayload); is && one.version == cached {
			return one, nil
		}
	}
	secret := &corev1.Secret{}
	found, err := get(ctx, live, key, secret)
	if err != nil || !found {
		p.kept.Remove(key)
		return &onePayload{}, err
	}
	one := &onePayload{version: version(secret), owner: metav1.GetControllerOf(secret), url: secret.Annotations[v1alpha1.PayloadURLAnnotation]}
	one.config, one.spoilt = payload.Unpacked(secret.Data)
	one.altered = one.spoilt == nil && payload.Sum(one.config) != secret.Annotations[v1alpha1.PayloadSumAnnotation]
	p.kept.Add(key, one)
	return one, nil
}
