package payload

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	made "github.com/capstan-capi/capstan/deploy/payload"
)

// files are a payload that a test may break.
type files map[string]string

func sound(t *testing.T) files {
	t.Helper()
	all, err := theMade()
	if err != nil {
		t.Fatal(err)
	}
	found := files{}
	for name, data := range all {
		found[name] = string(data)
	}
	return found
}

var theMade = sync.OnceValues(made.Files)

// name is the file whose name ends so.
func (f files) name(t *testing.T, end string) string {
	t.Helper()
	for name := range f {
		if strings.HasSuffix(name, end) {
			return name
		}
	}
	t.Fatalf("no file ends in %s", end)
	return ""
}

func (f files) lint(t *testing.T) []Problem {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range f {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	report, err := Lint(folder)
	if err != nil {
		t.Fatal(err)
	}
	return report.Problems
}

func TestLint_tells_of_objects_that_no_rule_can_read(t *testing.T) {
	const end = "\nmetadata: {name: a, namespace: openshift-cluster-api-operator}\nspec: text\n"
	for object, want := range map[string]string{
		"apiVersion: example.com/v1\nkind: Deployment" + end:                                                                              "a Deployment of example.com/v1, and the rules read only those of apps/v1",
		"apiVersion: apps/v1beta1\nkind: Deployment" + end:                                                                                "only those of apps/v1",
		"apiVersion: crd.projectcalico.org/v1\nkind: NetworkPolicy" + end:                                                                 "only those of networking.k8s.io/v1",
		"apiVersion: example.com/v1\nkind: DaemonSet" + end:                                                                               "no rule looks at the pods of a DaemonSet",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: openshift-cluster-api-operator}\nspec: {template: {spec: {}}}\n": "no rule looks at the pods of a Job",
	} {
		all := sound(t)
		all["0000_30_cluster-api-operator_98_more.yaml"] = object
		if !slices.ContainsFunc(all.lint(t), func(p Problem) bool { return strings.Contains(p.String(), want) }) {
			t.Errorf("of %q it does not say %q", object, want)
		}
	}
}

func TestLint_finds_nothing_wrong_with_the_payload_that_is_made(t *testing.T) {
	for _, problem := range sound(t).lint(t) {
		t.Error(problem)
	}
}

// broken is a payload in which a text of a file is another one, everywhere.
type broken struct{ file, old, new, want string }

var brokenRows = map[string][]broken{
	parses: {
		{"_serviceaccount.yaml", "kind: ServiceAccount", "kind: [", "document 1, rule parse: yaml:"},
		{"_serviceaccount.yaml", "kind: ServiceAccount", "color: red\nkind: ServiceAccount", `unknown field "color"`},
		{"_serviceaccount.yaml", "kind: ServiceAccount\n", "", "it has no kind or no apiVersion"},
		{"_serviceaccount.yaml", "kind: ServiceAccount", "kind: ServiceAccount\n# " + strings.Repeat("x", 1<<20), "is larger than 1 MiB"},
	},
	profile: {
		{"_serviceaccount.yaml", "self-managed-high-availability: \"true\"", "self-managed-high-availability: \"false\"", "no cluster would get it"},
		{"_serviceaccount.yaml", "    include.release", "    include.release.openshift.io/single-node-developer: \"true\"\n    include.release", "profile single-node-developer has no definition of ClusterAPI"},
	},
	featureGate: {{"_serviceaccount.yaml", "feature-gate: ClusterAPIMachineManagement", "feature-set: TechPreviewNoUpgrade", `has release.openshift.io/feature-gate: "", not ClusterAPIMachineManagement`}},
	capability:  {{"_serviceaccount.yaml", "io/name: ClusterAPI", "io/name: MachineAPI", `has capability.openshift.io/name: "MachineAPI", not ClusterAPI`}},
	createOnly: {
		{"_clusterapi.yaml", "    release.openshift.io/create-only: \"true\"\n", "", "ClusterAPI cluster, field metadata.annotations, rule create-only: has no release.openshift.io/create-only"},
		{"_clusterapi.yaml", "  name: cluster\n", "  name: other\n", "there is no ClusterAPI cluster in the payload"},
		{"_images.yaml", "    include.release", "    release.openshift.io/create-only: \"true\"\n    include.release", "no later release could change it"},
	},
	tombstone: {
		{"_tombstones.yaml", "kind: NetworkPolicy\n", "kind: NetworkPolicy\nspec: {}\n", "field spec, rule tombstone: what is taken away needs a name and nothing else"},
		{"_tombstones.yaml", "kind: ServiceAccount\n", "kind: Namespace\n", "with a Namespace goes what users made"},
		{"_tombstones.yaml", "name: capi-operator\n", "name: capstan\n", "is brought by the same payload"},
		{"_tombstones.yaml", "delete: \"true\"", "delete: \"yes\"", "which takes nothing away"},
	},
	foreign: {
		{"_serviceaccount.yaml", "kind: ServiceAccount\n", "kind: CustomResourceDefinition\n", "definitions come to the release from"},
		{"_serviceaccount.yaml", "namespace: openshift-cluster-api-operator", "namespace: openshift-monitoring", "a ServiceAccount in namespace openshift-monitoring is another component's"},
		{"_namespaces.yaml", "name: openshift-cluster-api\n", "name: openshift-machine-api\n", "is not one of the operator's namespaces"},
	},
	resolved: {
		{"_deployment.yaml", "openshift:cluster-api-operator", "openshift:capstan", `"registry.ci.openshift.org/openshift:capstan" is not in image-references`},
		{"_images.yaml", "image-keys: ", "image-keys: another,", "an image of another release would stay listed"},
		{"_images.yaml", "openshift:vsphere", "openshift:vmware", "field data.vsphere-cluster-api-controllers, rule image"},
		{"image-references", "openshift:vsphere", "openshift:vmware", "openshift:vmware-cluster-api-controllers is used nowhere"},
		{"image-references", "name: aws-cluster", "name: azure-cluster", "tag azure-cluster-api-controllers or its image is there twice"},
		{"image-references", "DockerImage", "ImageStreamTag", "has no image"},
	},
	version: {
		{"_clusteroperator.yaml", "version: 0.0.1-snapshot", "version: 4.22.0", "the release would not wait for its version"},
		{"_deployment.yaml", "0.0.1-snapshot", "4.22.0", `container capstan has RELEASE_VERSION "4.22.0"`},
		{"_images.yaml", "release-version: 0.0.1-snapshot", "release-version: 4.22.0", "the operator of the release before would follow the list"},
		{"_clusteroperator.yaml", "name: cluster-api\n", "name: cluster-api-x\n", "there is no ClusterOperator cluster-api"},
	},
	related:  {{"_clusteroperator.yaml", "name: openshift-cluster-api\n", "name: elsewhere\n", "does not name Namespace openshift-cluster-api"}},
	replicas: {{"_deployment.yaml", "replicas: 1", "replicas: 2", "field spec.replicas, rule replicas: is 2"}},
	limits: {
		{"_deployment.yaml", "          requests:\n", "          limits: {memory: 1Gi}\n          requests:\n", "container capstan has limits"},
		{"_deployment.yaml", "            cpu: 10m\n", "", "container capstan requests no cpu"},
		{"_deployment.yaml", "GOMEMLIMIT", "GOGC", "has no GOMEMLIMIT"},
	},
	priority: {{"_deployment.yaml", "system-cluster-critical", "system-node-critical", `is "system-node-critical"`}},
	restricted: {
		{"_deployment.yaml", "required-scc: restricted-v2", "required-scc: anyuid", `"anyuid", not restricted-v2`},
		{"_deployment.yaml", "runAsNonRoot: true", "runAsUser: 65532", "does not say runAsNonRoot"},
		{"_deployment.yaml", "runAsNonRoot: true", "runAsUser: 65532", "names a user, a group"},
		{"_deployment.yaml", "type: RuntimeDefault", "type: Unconfined", "does not say seccompProfile"},
		{"_deployment.yaml", "allowPrivilegeEscalation: false", "privileged: true", "or is privileged"},
		{"_deployment.yaml", "- ALL", "- NET_RAW", "does not drop ALL"},
		{"_deployment.yaml", "readOnlyRootFilesystem: true", "runAsUser: 1", "can write to its root file system"},
		{"_deployment.yaml", "readOnlyRootFilesystem: true", "runAsUser: 1", "container capstan names a user"},
		{"_deployment.yaml", "      nodeSelector:\n", "      hostNetwork: true\n      nodeSelector:\n", "uses the node's network"},
		{"_deployment.yaml", "      - emptyDir:\n          sizeLimit: 5Gi\n", "      - hostPath: {path: /tmp}\n", "volume cache is a folder of the node"},
	},
	runLevel:    {{"_namespaces.yaml", "    openshift.io/run-level: \"\"\n", "", "what an earlier release has set would stay"}},
	podSecurity: {{"_namespaces.yaml", "audit: restricted", "audit: privileged", `has pod-security.kubernetes.io/audit: "privileged"`}},
	networkRules: {
		{"_network.yaml", "  podSelector: {}\n  policyTypes:\n  - Ingress\n  - Egress\n", "  podSelector: {}\n  policyTypes:\n  - Ingress\n", "Namespace openshift-cluster-api-operator, rule network: no NetworkPolicy denies"},
		{"_network.yaml", "- port: metrics", "- port: 8444", "port 8444 of Deployment openshift-cluster-api-operator/capstan, which nobody needs"},
		{"_network.yaml", "- port: metrics", "- port: health", "is needed, and no NetworkPolicy opens it"},
		{"_network.yaml", "    - port: 9443\n      protocol: TCP\n", "    - port: 9443\n      endPort: 9999\n      protocol: TCP\n", "opens more than one port of Namespace openshift-cluster-api"},
		{"_network.yaml", "  - ports:\n    - port: 9443\n      protocol: TCP\n", "  - {}\n", "opens every port of Namespace openshift-cluster-api"},
		{"_network.yaml", "  egress:\n  - {}\n", "  egress: []\n", "lets its pods reach registries"},
	},
}

func TestLint_tells_every_rule_that_is_broken(t *testing.T) {
	for rule, rows := range brokenRows {
		for _, row := range rows {
			t.Run(rule+": "+row.want, func(t *testing.T) {
				all := sound(t)
				name := all.name(t, row.file)
				changed := strings.ReplaceAll(all[name], row.old, row.new)
				if changed == all[name] {
					t.Fatalf("%s has no %q:\n%s", name, row.old, changed)
				}
				all[name] = changed
				if problems := all.lint(t); !told(problems, rule, row.want) {
					t.Errorf("no problem of rule %s has %q:\n%v", rule, row.want, problems)
				}
			})
		}
	}
}

func told(problems []Problem, rule, want string) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == rule && strings.Contains(p.String(), want) })
}

func TestLint_tells_files_that_are_named_or_ordered_wrongly(t *testing.T) {
	move := func(from, to string) func(*testing.T, files) {
		return func(t *testing.T, all files) {
			name := all.name(t, from)
			all[to] = all[name]
			delete(all, name)
		}
	}
	copied := func(t *testing.T, all files) {
		all["0000_30_cluster-api-operator_98_again.yaml"] = all[all.name(t, "_serviceaccount.yaml")]
	}
	for want, change := range map[string]struct {
		rule string
		do   func(*testing.T, files)
	}{
		"is neither image-references nor of the form":        {names, move("_serviceaccount.yaml", "0000_30_cluster-api-operator_serviceaccount.yaml")},
		"comes before its namespace":                         {order, move("_namespaces.yaml", "0000_30_cluster-api-operator_97_namespaces.yaml")},
		"has to be the last object":                          {order, move("_clusteroperator.yaml", "0000_30_cluster-api-operator_01_clusteroperator.yaml")},
		"which its pods need":                                {order, move("_rbac.yaml", "0000_30_cluster-api-operator_97_rbac.yaml")},
		"what is taken away goes first":                      {order, move("_tombstones.yaml", "0000_30_cluster-api-operator_97_tombstones.yaml")},
		"_serviceaccount.yaml too, document 1":               {duplicates, copied},
		"there is no file image-references in the payload":   {resolved, func(_ *testing.T, all files) { delete(all, imageReferences) }},
		"is neither image-references nor of the form 0000_3": {names, func(_ *testing.T, all files) { all["README.md"] = "" }},
	} {
		t.Run(want, func(t *testing.T) {
			all := sound(t)
			change.do(t, all)
			if problems := all.lint(t); !told(problems, change.rule, want) {
				t.Errorf("no problem of rule %s has %q:\n%v", change.rule, want, problems)
			}
		})
	}
}

func TestLint_names_the_line_of_the_field(t *testing.T) {
	all := sound(t)
	name := all.name(t, "_deployment.yaml")
	all[name] = "# a comment\n" + strings.Replace(all[name], "replicas: 1", "replicas: 3", 1)
	line := slices.Index(strings.Split(all[name], "\n"), "  replicas: 3") + 1
	want := Problem{
		File: name, Document: 1, Line: line, Object: "Deployment openshift-cluster-api-operator/capstan", Path: "spec.replicas",
		Rule: replicas, Cause: "is 3: a cluster of one node must have one, and gets the same payload",
	}
	if got := all.lint(t); !slices.Equal(got, []Problem{want}) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestLint_has_a_broken_payload_for_every_rule_and_the_docs_explain_each(t *testing.T) {
	page, err := os.ReadFile("../../../docs/payload.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := slices.Collect(maps.Keys(brokenRows))
	for _, rule := range Rules() {
		if !strings.Contains(string(page), "| `"+rule+"` |") {
			t.Errorf("docs/payload.md does not explain rule %s", rule)
		}
		if rule != names && rule != order && rule != duplicates && !slices.Contains(tried, rule) {
			t.Errorf("no payload breaks rule %s", rule)
		}
	}
}

func TestLint_a_folder_that_cannot_be_read_is_an_error(t *testing.T) {
	if _, err := Lint(os.DirFS(t.TempDir() + "/none")); !strings.Contains(err.Error(), "reading the payload") {
		t.Errorf("got %v", err)
	}
	if _, err := Lint(fstest.MapFS{"x/y.yaml": &fstest.MapFile{Mode: fs.ModeDir}}); err != nil {
		t.Errorf("a folder in it is a problem, and no error: %v", err)
	}
}
