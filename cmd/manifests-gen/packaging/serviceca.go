package packaging

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	injectCABundle    = "service.beta.openshift.io/inject-cabundle"
	servingCertSecret = "service.beta.openshift.io/serving-cert-secret-name"
)

// useServiceCA lets OpenShift's Service CA do the two jobs of cert-manager:
// issuing serving certificates, and giving their CA to callers.
func useServiceCA(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if isKind(object, certManager, "Certificate") {
			if err := issueCertificate(object, objects); err != nil {
				return err
			}
		}
	}
	for _, object := range objects {
		if err := injectCA(object); err != nil {
			return err
		}
	}
	return nil
}

// issueCertificate makes Service CA fill the Secret that a Certificate would have filled.
func issueCertificate(certificate *unstructured.Unstructured, objects []*unstructured.Unstructured) error {
	spec, err := root(certificate).ensure("spec")
	if err != nil {
		return err
	}
	if spec.fields["isCA"] == true {
		return nil // signs other Certificates; Service CA brings its own
	}
	secret, err := spec.text("secretName")
	if err != nil {
		return err
	}
	service, err := servedBy(spec, objects)
	if err != nil {
		return err
	}
	mounted, err := isMounted(secret, objects)
	if err != nil {
		return err
	}
	if !mounted {
		return spec.errorf("secretName", "is %q, but no workload mounts a Secret of that name", secret)
	}
	annotations, err := root(service).ensure("metadata.annotations")
	if err != nil {
		return err
	}
	if earlier, set := annotations.fields[servingCertSecret]; set && earlier != secret {
		return spec.errorf("secretName", "is %q, but %s already serves with Secret %q: Service CA issues one per Service", secret, describe(service), earlier)
	}
	annotations.fields[servingCertSecret] = secret
	return nil
}

// servedBy finds the Service that a Certificate's DNS names (name.namespace.svc...)
// stand for. The name is enough: all Services end up in one namespace.
func servedBy(certificate node, objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	names, err := certificate.list("dnsNames")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, ok := name.(string)
		labels := strings.Split(text, ".")
		if !ok || len(labels) < 3 || labels[2] != "svc" {
			continue
		}
		for _, object := range objects {
			if isKind(object, "", "Service") && object.GetName() == labels[0] {
				return object, nil
			}
		}
	}
	if len(names) == 0 {
		return nil, certificate.errorf("dnsNames", "is empty: it must name a Service of this kustomization as <name>.<namespace>.svc")
	}
	return nil, certificate.errorf("dnsNames", "%v names no Service of this kustomization as <name>.<namespace>.svc", names)
}

func isMounted(secret string, objects []*unstructured.Unstructured) (bool, error) {
	for _, object := range objects {
		spec, found, err := podSpec(object)
		if err != nil {
			return false, err
		}
		if !found {
			continue
		}
		volumes, err := spec.children("volumes")
		if err != nil {
			return false, err
		}
		for _, volume := range volumes {
			source, found, err := volume.child("secret")
			if err != nil {
				return false, err
			}
			if found && source.fields["secretName"] == secret {
				return true, nil
			}
		}
	}
	return false, nil
}

// injectCA replaces cert-manager's annotations by the one of Service CA. A
// caBundle in the manifest is only a placeholder then, and is removed: applying
// it would take the field away from Service CA again and again.
func injectCA(object *unstructured.Unstructured) error {
	annotations, found, err := root(object).child("metadata.annotations")
	if err != nil || !found {
		return err
	}
	injected := false
	for key := range annotations.fields {
		domain, name, _ := strings.Cut(key, "/")
		if domain != certManager {
			continue
		}
		injected = injected || name == "inject-ca-from" || name == "inject-ca-from-secret"
		delete(annotations.fields, key)
	}
	if !injected {
		if len(annotations.fields) == 0 {
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
		}
		return nil
	}
	annotations.fields[injectCABundle] = "true"
	clients, err := clientConfigs(object)
	if err != nil {
		return err
	}
	for _, client := range clients {
		delete(client.fields, "caBundle")
	}
	return nil
}
