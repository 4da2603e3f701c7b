package decide

import (
	"encoding/base64"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// trustedBundle is the label by which a ConfigMap asks OpenShift's network operator for the cluster's CA bundle.
const trustedBundle = "config.openshift.io/inject-trusted-cabundle"

// injectors are the annotations by which an object asks another controller to fill in its CA bundle. What another
// controller was asked to write is never sent, or both would write for ever.
var injectors = [...]string{
	"service.beta.openshift.io/inject-cabundle",
	"cert-manager.io/inject-ca-from",
	"cert-manager.io/inject-ca-from-secret",
	"cert-manager.io/inject-apiserver-ca",
}

// signatures are the annotations that service CA writes on what it has served.
var signatures = [...]string{"service.beta.openshift.io/serving-cert-signed-by", "service.alpha.openshift.io/serving-cert-signed-by"}

// cleaned is a manifest without what the API server or another controller says: status, nulls, write-only Secret fields,
// injected CA bundles, the rules of aggregated ClusterRoles, when a Job goes by itself. The top level is always a copy;
// below it only what changes is copied.
func cleaned(manifest map[string]any) map[string]any {
	said, _ := withoutNulls(manifest)
	body := shallow(said)
	delete(body, "status")
	meta, _ := body["metadata"].(map[string]any)
	if _, given := meta["creationTimestamp"]; given {
		meta = shallow(meta)
		delete(meta, "creationTimestamp")
		body["metadata"] = meta
	}
	apiVersion, _ := body["apiVersion"].(string)
	switch body["kind"] {
	case "Secret":
		if apiVersion == "v1" {
			encodeSecret(body)
		}
	case "Job": // it is pruned with its revision; one that goes by itself would be created, and run, again and again
		if strings.HasPrefix(apiVersion, "batch/") {
			body = without(body, "spec", "ttlSecondsAfterFinished")
		}
	case "ClusterRole":
		if strings.HasPrefix(apiVersion, "rbac.authorization.k8s.io/") && !empty(body["aggregationRule"]) {
			delete(body, "rules")
		}
	}
	if labels, _ := meta["labels"].(map[string]any); body["kind"] == "ConfigMap" && labels[trustedBundle] == "true" {
		body = without(body, "data", "ca-bundle.crt")
	}
	annotations := (&unstructured.Unstructured{Object: body}).GetAnnotations()
	for _, signature := range signatures {
		if _, given := annotations[signature]; given {
			body = without(body, "metadata", "annotations", signature)
		}
	}
	if injected(annotations) {
		return dropBundles(body)
	}
	return body
}

// injected says that the annotations ask another controller for CA bundles.
func injected(annotations map[string]string) bool {
	return slices.ContainsFunc(injectors[:], func(injector string) bool {
		v := annotations[injector]
		return v != "" && v != "false"
	})
}

// encodeSecret turns stringData, which the server never gives back, into data. What is no text stays where it is, so that
// the API server refuses it.
func encodeSecret(body map[string]any) {
	plain, _ := body["stringData"].(map[string]any)
	delete(body, "stringData")
	if len(plain) == 0 {
		return
	}
	data, wrong := shallow(body["data"]), map[string]any{}
	for k, v := range plain {
		if text, isText := v.(string); isText {
			data[k] = base64.StdEncoding.EncodeToString([]byte(text))
		} else {
			wrong[k] = v
		}
	}
	body["data"] = data
	if len(wrong) > 0 {
		body["stringData"] = wrong
	}
}

// dropBundles removes the CA bundles from where their kind keeps them.
func dropBundles(body map[string]any) map[string]any {
	switch body["kind"] {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		hooks, _ := body["webhooks"].([]any)
		bare := make([]any, 0, len(hooks))
		for _, hook := range hooks {
			if h, isMap := hook.(map[string]any); isMap {
				hook = without(h, "clientConfig", "caBundle")
			}
			bare = append(bare, hook)
		}
		if hooks != nil {
			body["webhooks"] = bare
		}
	case "CustomResourceDefinition":
		return without(body, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	case "APIService":
		return without(body, "spec", "caBundle")
	case "ConfigMap":
		return without(body, "data") // service CA replaces all of it
	}
	return body
}

// without is m less the field at path; only the maps on the path are copied.
func without(m map[string]any, path ...string) map[string]any {
	child, deeper := m[path[0]].(map[string]any)
	if len(path) > 1 && !deeper {
		return m
	}
	out := shallow(m)
	if len(path) == 1 {
		delete(out, path[0])
	} else {
		out[path[0]] = without(child, path[1:]...)
	}
	return out
}

// withoutNulls drops the null fields of maps: "key: null" in a manifest says nothing, but would be sent as a field.
// The second result says whether anything was dropped; if not, v itself comes back.
func withoutNulls(v any) (any, bool) {
	switch w := v.(type) {
	case map[string]any:
		var out map[string]any
		for k, child := range w {
			kept, changed := withoutNulls(child)
			if !changed && child != nil {
				continue
			}
			if out == nil {
				out = shallow(w)
			}
			if child == nil {
				delete(out, k)
			} else {
				out[k] = kept
			}
		}
		if out != nil {
			return out, true
		}
	case []any:
		var out []any
		for i, child := range w {
			kept, changed := withoutNulls(child)
			if !changed {
				continue
			}
			if out == nil {
				out = append([]any(nil), w...)
			}
			out[i] = kept
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

func empty(v any) bool {
	switch w := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(w) == 0
	case []any:
		return len(w) == 0
	case string:
		return w == ""
	}
	return false
}
