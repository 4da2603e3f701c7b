package packaging

import (
	"strings"
	"testing"
)

var renameRows = map[string]struct {
	names    map[identity]string
	in, want string
}{
	"a ClusterRole is followed by bindings, a Role of the same name is another": {
		names: map[identity]string{{rbac, "ClusterRole", "manager"}: "openshift-manager"},
		in: `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: c}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}}`,
		want: `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: openshift-manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: openshift-manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: openshift-manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: c}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}}`,
	},
	"a ServiceAccount is followed by subjects and pods": {
		names: map[identity]string{{"", "ServiceAccount", "manager"}: "m"},
		in: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: manager}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, subjects: [{kind: ServiceAccount, name: manager}, {kind: Group, apiGroup: rbac.authorization.k8s.io, name: manager}]}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager}, spec: {template: {spec: {serviceAccountName: manager, serviceAccount: manager}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: manager}}}}}}`,
		want: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: m}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, subjects: [{kind: ServiceAccount, name: m}, {kind: Group, apiGroup: rbac.authorization.k8s.io, name: manager}]}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager}, spec: {template: {spec: {serviceAccountName: m, serviceAccount: m}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: m}}}}}}`,
	},
	"a Service is followed by webhooks, conversions, API services and stateful sets": {
		names: map[identity]string{{"", "Service", "hook"}: "h"},
		in: `
{apiVersion: v1, kind: Service, metadata: {name: hook}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: m}, webhooks: [{clientConfig: {service: {name: hook}}}, {clientConfig: {url: u}}]}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {conversion: {webhook: {clientConfig: {service: {name: hook}}}}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x.io}, spec: {service: {name: hook}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: hook}, spec: {serviceName: hook}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {rules: [{http: {paths: [{backend: {service: {name: hook}}}]}}]}}`,
		want: `
{apiVersion: v1, kind: Service, metadata: {name: h}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: m}, webhooks: [{clientConfig: {service: {name: h}}}, {clientConfig: {url: u}}]}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {conversion: {webhook: {clientConfig: {service: {name: h}}}}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x.io}, spec: {service: {name: h}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: hook}, spec: {serviceName: h}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {rules: [{http: {paths: [{backend: {service: {name: h}}}]}}]}}`,
	},
	"a ConfigMap is followed by volumes and variables, a Deployment by what scales it": {
		names: map[identity]string{{"", "ConfigMap", "c"}: "d", {"apps", "Deployment", "c"}: "e"},
		in: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: c}
spec: {template: {spec: {
  volumes: [{configMap: {name: c}}, {projected: {sources: [{configMap: {name: c}}, {secret: {name: c}}]}}, {secret: {secretName: c}}],
  containers: [{name: c, envFrom: [{configMapRef: {name: c}}], env: [{valueFrom: {configMapKeyRef: {name: c}}}, {valueFrom: {secretKeyRef: {name: c}}}]}]}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: c}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: c}}}`,
		want: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: e}
spec: {template: {spec: {
  volumes: [{configMap: {name: d}}, {projected: {sources: [{configMap: {name: d}}, {secret: {name: c}}]}}, {secret: {secretName: c}}],
  containers: [{name: c, envFrom: [{configMapRef: {name: d}}], env: [{valueFrom: {configMapKeyRef: {name: d}}}, {valueFrom: {secretKeyRef: {name: c}}}]}]}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: c}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: e}}}`,
	},
	"rules that name objects follow, and keep the old name for other kinds": {
		names: map[identity]string{{"", "ConfigMap", "c"}: "d"},
		in: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules:
- {apiGroups: [""], resources: [configmaps], resourceNames: [c, x], verbs: [get]}
- {apiGroups: [""], resources: [configmaps, secrets], resourceNames: [c], verbs: [get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [c], verbs: [get]}`,
		want: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules:
- {apiGroups: [""], resources: [configmaps], resourceNames: [d, x], verbs: [get]}
- {apiGroups: [""], resources: [configmaps, secrets], resourceNames: [c, d], verbs: [get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [c], verbs: [get]}`,
	},
	"two objects can swap names": {
		names: map[identity]string{{"", "ServiceAccount", "a"}: "b", {"", "ServiceAccount", "b"}: "a"},
		in: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, labels: {was: a}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: b, labels: {was: b}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: a}}`,
		want: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: b, labels: {was: a}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, labels: {was: b}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: b}}`,
	},
	"a policy is followed by its binding": {
		names: map[identity]string{{admission, "ValidatingAdmissionPolicy", "p"}: "q"},
		in: `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p}, spec: {policyName: p}}`,
		want: `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: q}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p}, spec: {policyName: q}}`,
	},
}

func TestRename(t *testing.T) {
	for name, row := range renameRows {
		t.Run(name, func(t *testing.T) {
			objects := parse(t, row.in)
			if _, err := rename(objects, row.names); err != nil {
				t.Fatal(err)
			}
			if got, want := render(t, objects), render(t, parse(t, row.want)); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestRename_counts_the_references_that_followed(t *testing.T) {
	row := renameRows["a ServiceAccount is followed by subjects and pods"]
	done, err := rename(parse(t, row.in), row.names)
	if err != nil || len(done) != 1 || done[0].references != 4 {
		t.Errorf("got %v, %v, want 4 references", done, err)
	}
}

func TestRename_refuses_what_is_not_there_and_names_what_is(t *testing.T) {
	objects := parse(t, "{apiVersion: v1, kind: Service, metadata: {name: b}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: a}}")
	_, err := rename(objects, map[identity]string{{"", "Service", "c"}: "d"})
	if err == nil || !strings.Contains(err.Error(), `no Service c of group "" to rename; those of that kind are a, b`) {
		t.Errorf("got %v", err)
	}
}

func TestSettings_refuse_bad_lines(t *testing.T) {
	for name, row := range map[string]struct{ data, want string }{
		"an unknown key":             {"{exclude: a.b}", "field data.exclude is not known: excludeCRDs, renameClusterRoles, renameResources are"},
		"a CRD without group":        {`{excludeCRDs: "a.b\n\n# note\nmachines"}`, `field data.excludeCRDs line 4: "machines" is not the name of a CustomResourceDefinition`},
		"a CRD with a kind":          {"{excludeCRDs: a/b.c}", `"a/b.c" is not the name`},
		"a rename without new name":  {"{renameResources: /Service/a}", "is not of the form <group>/<Kind>/<old name>=<new name>"},
		"a rename without group":     {"{renameResources: Service/a=b}", "is not of the form"},
		"a rename to nothing":        {"{renameResources: /Service/a=}", `"a" cannot be renamed to ""`},
		"a rename to a path":         {"{renameResources: /Service/a=b/c}", `"a" cannot be renamed to "b/c"`},
		"a rename of a CRD":          {"{renameResources: apiextensions.k8s.io/CustomResourceDefinition/a.b=c.b}", "its name is made of its plural and group"},
		"two names for one":          {`{renameResources: "/Service/a=b\n/Service/a=c"}`, "line 2: Service a is renamed twice, to b and to c"},
		"a role without a new name":  {"{renameClusterRoles: a}", "is not of the form <old name>=<new name>"},
		"a value that is not a text": {"{excludeCRDs: [a.b]}", "field data.excludeCRDs is a list, not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := takeSettings(parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: rename-resources-config}, data: "+row.data+"}"))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want ...%s...", err, row.want)
			}
		})
	}
}
