package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// ServiceCAUserAgent is the user agent and field manager of the service CA.
const ServiceCAUserAgent = "service-ca-operator"

const (
	injectAnnotation     = "service.beta.openshift.io/inject-cabundle"
	secretNameAnnotation = "service.beta.openshift.io/serving-cert-secret-name" //nolint:gosec // The name of an annotation.
	signedByAnnotation   = "service.beta.openshift.io/serving-cert-signed-by"
	servedUIDAnnotation  = "service.beta.openshift.io/originating-service-uid"
	signer               = "openshift-service-serving-signer"
)

// serviceCA plays OpenShift's service CA: it puts its CA bundle into the
// CustomResourceDefinitions and webhook configurations that ask for it, and a
// serving certificate into the Secret that a Service asks for. As the real one
// it writes with plain updates, whenever what it looks after differs.
type serviceCA struct {
	authority     *authority
	client        kubernetes.Interface
	apiextensions apiextensionsclient.Interface
	queue         workqueue.TypedRateLimitingInterface[serviceCAItem]
	stop          func()
}

// serviceCAItem is one object to look at, and what to do about it.
type serviceCAItem struct {
	kind, namespace, name string
}

// startServiceCA outlives its context, which bounds the start of the cluster.
func (c *Cluster) startServiceCA(ctx context.Context) (*serviceCA, error) {
	cfg, err := c.ConfigFor("system:serviceaccount:openshift-service-ca:service-ca", administrators)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = ServiceCAUserAgent
	s := &serviceCA{queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[serviceCAItem](20*time.Millisecond, time.Second))}
	if s.authority, err = newAuthority(signer); err != nil {
		return nil, err
	}
	if s.client, err = kubernetes.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("building the service CA's client: %w", err)
	}
	if s.apiextensions, err = apiextensionsclient.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("building the service CA's client of definitions: %w", err)
	}
	core := informers.NewSharedInformerFactory(s.client, 0)
	definitions := apiextensionsinformers.NewSharedInformerFactory(s.apiextensions, 0)
	informed := map[string]cache.SharedIndexInformer{
		"CustomResourceDefinition":       definitions.Apiextensions().V1().CustomResourceDefinitions().Informer(),
		"MutatingWebhookConfiguration":   core.Admissionregistration().V1().MutatingWebhookConfigurations().Informer(),
		"ValidatingWebhookConfiguration": core.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer(),
		"Service":                        core.Core().V1().Services().Informer(),
	}
	for kind, informer := range informed {
		if _, err := informer.AddEventHandler(s.enqueue(kind)); err != nil {
			return nil, fmt.Errorf("watching for the service CA: %w", err)
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	core.Start(ctx.Done())
	definitions.Start(ctx.Done())
	var worker sync.WaitGroup
	for range informed { // the real one has a worker for each kind, too
		worker.Go(func() { s.work(ctx) })
	}
	s.stop = func() {
		cancel()
		s.queue.ShutDown()
		worker.Wait()
		core.Shutdown()
		definitions.Shutdown()
		closeIdleConnections(cfg)
	}
	return s, nil
}

// ServiceCABundle is the bundle that the service CA puts into what asks for it, as PEM; it certifies what Services ask for.
func (c *Cluster) ServiceCABundle() []byte { return c.service.authority.bundle() }

// enqueue lets through what asks for something, before any request is made.
func (s *serviceCA) enqueue(kind string) cache.ResourceEventHandler {
	add := func(seen any) {
		object, isObject := seen.(metav1.Object)
		if !isObject {
			return
		}
		annotations := object.GetAnnotations()
		if annotations[injectAnnotation] == "true" || kind == "Service" && annotations[secretNameAnnotation] != "" {
			s.queue.Add(serviceCAItem{kind: kind, namespace: object.GetNamespace(), name: object.GetName()})
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, seen any) { add(seen) }}
}

func (s *serviceCA) work(ctx context.Context) {
	for {
		item, closed := s.queue.Get()
		if closed {
			return
		}
		// Any failure heals by trying again: a conflict, or a server that restarts.
		if err := ignoreNotFound(s.sync(ctx, item)); err != nil {
			s.queue.AddRateLimited(item)
		} else {
			s.queue.Forget(item)
		}
		s.queue.Done(item)
	}
}

func (s *serviceCA) sync(ctx context.Context, item serviceCAItem) error {
	switch item.kind {
	case "CustomResourceDefinition":
		return s.injectDefinition(ctx, item.name)
	case "MutatingWebhookConfiguration":
		return s.injectMutating(ctx, item.name)
	case "ValidatingWebhookConfiguration":
		return s.injectValidating(ctx, item.name)
	default:
		return s.certify(ctx, item.namespace, item.name)
	}
}

var byServiceCA = metav1.UpdateOptions{FieldManager: ServiceCAUserAgent}

// inject sets a bundle and says whether that changed it.
func (s *serviceCA) inject(bundle *[]byte) bool {
	if bytes.Equal(*bundle, s.authority.bundle()) {
		return false
	}
	*bundle = s.authority.bundle()
	return true
}

func (s *serviceCA) injectDefinition(ctx context.Context, name string) error {
	definitions := s.apiextensions.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := definitions.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return nil
	}
	if s.inject(&conversion.Webhook.ClientConfig.CABundle) {
		_, err = definitions.Update(ctx, crd, byServiceCA)
	}
	return err
}

func (s *serviceCA) injectMutating(ctx context.Context, name string) error {
	configurations := s.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	configuration, err := configurations.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	changed := false
	for i := range configuration.Webhooks {
		changed = s.inject(&configuration.Webhooks[i].ClientConfig.CABundle) || changed
	}
	if changed {
		_, err = configurations.Update(ctx, configuration, byServiceCA)
	}
	return err
}

func (s *serviceCA) injectValidating(ctx context.Context, name string) error {
	configurations := s.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	configuration, err := configurations.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	changed := false
	for i := range configuration.Webhooks {
		changed = s.inject(&configuration.Webhooks[i].ClientConfig.CABundle) || changed
	}
	if changed {
		_, err = configurations.Update(ctx, configuration, byServiceCA)
	}
	return err
}

// certify creates the Secret of a Service and notes on the Service who signed
// it. A Secret that belongs to a deleted Service of the same name is waited for
// until the garbage collector has taken it.
func (s *serviceCA) certify(ctx context.Context, namespace, name string) error {
	services := s.client.CoreV1().Services(namespace)
	service, err := services.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	secretName := service.Annotations[secretNameAnnotation]
	secret, err := s.client.CoreV1().Secrets(namespace).Get(ctx, secretName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if err := s.createSecret(ctx, service, secretName); err != nil {
			return err
		}
	case err != nil:
		return err
	case secret.Annotations[servedUIDAnnotation] != string(service.UID):
		return fmt.Errorf("creating Secret %s/%s: it exists and belongs to another Service", namespace, secretName)
	}
	if service.Annotations[signedByAnnotation] == signer {
		return nil
	}
	service.Annotations = maps.Clone(service.Annotations)
	service.Annotations[signedByAnnotation] = signer
	_, err = services.Update(ctx, service, byServiceCA)
	return err
}

func (s *serviceCA) createSecret(ctx context.Context, service *corev1.Service, name string) error {
	host := service.Name + "." + service.Namespace + ".svc"
	serving, err := s.authority.server(host, host+".cluster.local")
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Secrets(service.Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Annotations:     map[string]string{servedUIDAnnotation: string(service.UID)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: serving.cert, corev1.TLSPrivateKeyKey: serving.key},
	}, metav1.CreateOptions{FieldManager: ServiceCAUserAgent})
	return err
}
