package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/message"
)

// schemas reports versions of a CustomResourceDefinition without a schema: the
// API server refuses them.
func (l *linter) schemas(f found) {
	if !is(f.object, crdKind) {
		return
	}
	versions := list(field(f.object.Object, "spec"), "versions")
	if len(versions) == 0 {
		l.report(f, "spec.versions", "is empty: a CustomResourceDefinition needs at least one version, with a schema")
	}
	for i, version := range versions {
		if len(field(field(fields(version), "schema"), "openAPIV3Schema")) == 0 {
			l.report(f, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i), "is missing: version %s has no schema, and the API server refuses it",
				message.Shorten(text(fields(version), "name"), 100))
		}
	}
}

// services reports webhooks and API services whose Service is not in the set.
func (l *linter) services(f found) {
	spec := field(f.object.Object, "spec")
	switch {
	case is(f.object, crdKind):
		client := field(field(field(spec, "conversion"), "webhook"), "clientConfig")
		l.service(f, "spec.conversion.webhook.clientConfig.service", client["service"])
	case is(f.object, apiServiceKind):
		l.service(f, "spec.service", spec["service"])
	case f.id.group == "admissionregistration.k8s.io":
		for i, webhook := range list(f.object.Object, "webhooks") {
			l.service(f, fmt.Sprintf("webhooks[%d].clientConfig.service", i), field(fields(webhook), "clientConfig")["service"])
		}
	}
}

// httpsPort is the port that the API server calls when a reference gives none.
const httpsPort = int64(443)

func (l *linter) service(f found, path string, reference any) {
	if reference == nil {
		return
	}
	want := identity{kind: "Service", namespace: text(fields(reference), "namespace"), name: text(fields(reference), "name")}
	if want.namespace == "" || want.name == "" {
		l.report(f, path, "must give the Service's namespace and name, as strings")
		return
	}
	port := httpsPort
	if given, ok := fields(reference)["port"].(int64); ok {
		port = given
	}
	for _, candidate := range l.found {
		if candidate.id != want || !reaches(candidate, f) {
			continue
		}
		for _, served := range list(field(candidate.object.Object, "spec"), "ports") {
			if fields(served)["port"] == port {
				return
			}
		}
		l.report(f, path, "the Service %s/%s has no port %d: the API server could not call it", message.Shorten(want.namespace, 100), message.Shorten(want.name, 100), port)
		return
	}
	l.report(f, path, "no profile brings the Service %s/%s: the API server could not call it, and would refuse every request that needs it",
		message.Shorten(want.namespace, 100), message.Shorten(want.name, 100))
}

// workloads maps kinds to the path of their pod's spec.
var workloads = map[identity][]string{
	{group: "apps", kind: "Deployment"}:  {"spec", "template", "spec"},
	{group: "apps", kind: "DaemonSet"}:   {"spec", "template", "spec"},
	{group: "apps", kind: "StatefulSet"}: {"spec", "template", "spec"},
	{group: "apps", kind: "ReplicaSet"}:  {"spec", "template", "spec"},
	{group: "batch", kind: "Job"}:        {"spec", "template", "spec"},
	{group: "batch", kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template", "spec"},
	{kind: "Pod"}:                        {"spec"},
}

func runsContainers(object *unstructured.Unstructured) bool {
	gvk := object.GroupVersionKind()
	path, ok := workloads[identity{group: gvk.Group, kind: gvk.Kind}]
	if !ok {
		return false
	}
	spec := object.Object
	for _, name := range path {
		spec = field(spec, name)
	}
	return len(list(spec, "containers")) > 0
}

// The functions below read fields of values of any shape; a missing field is
// empty.

func fields(value any) map[string]any {
	if m, ok := value.(map[string]any); ok {
		return m
	}
	return nil
}

func field(of map[string]any, name string) map[string]any { return fields(of[name]) }

func list(of map[string]any, name string) []any {
	if l, ok := of[name].([]any); ok {
		return l
	}
	return nil
}

func text(of map[string]any, name string) string {
	if s, ok := of[name].(string); ok {
		return s
	}
	return ""
}
