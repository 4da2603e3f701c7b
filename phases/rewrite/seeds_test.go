package rewrite_test

// What fuzzing begins with, and every test runs.
var seeds = []string{
	`{}`, `[]`, ` null `, `"cluster.x-k8s.io"`, `1`, `-0.5e+10`, `01`, `1.`, `{"a":1,}`, `{"a"}`, `[1 2]`, `tru`, `true false`, ``,
	`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","metadata":{"labels":{"apiVersion":"cluster.x-k8s.io/v1"},"annotations":{"apiGroup":"cluster.x-k8s.io"}}}`,
	`{"apiVersion" : "cluster.hypershift.openshift.io/v1beta1" , "spec":{"ref":{"apiGroup":"infrastructure.cluster.hypershift.openshift.io"},"x":[{"apiVersion":"platform-native.cluster.x-k8s.io/v1"}]}}`,
	`{"\u0061piVersion":"cluster\u002ehypershift.openshift.io\/v1","apiVersion":{"apiVersion":"cluster.x-k8s.io"},"apiGroup":["cluster.x-k8s.io"]}`,
	`{"metadata":{"name":"machines.cluster.x-k8s.io","ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta1"}],"managedFields":[{"apiVersion":"cluster.x-k8s.io/v1","fieldsV1":{"apiVersion":"cluster.x-k8s.io"}}]},"spec":{"group":"cluster.x-k8s.io"}}`,
	`{"items":[{"metadata":{"name":"machines.ipam.cluster.hypershift.openshift.io","ownerReferences":[{"apiVersion":"cluster.hypershift.openshift.io/v1beta1"}]},"spec":{"group":"ipam.cluster.hypershift.openshift.io"}}]}`,
	`{"type":"ADDED","object":{"metadata":{"ownerReferences":[{"apiVersion":"cluster.hypershift.openshift.io/v1beta1"}]}}}
{"type":"BOOKMARK","object":{"apiVersion":"cluster.hypershift.openshift.io/v1beta1"}}
`,
	`{"spec":{"resourceAttributes":{"name":"machines.cluster.x-k8s.io","group":"apiextensions.k8s.io","resource":"customresourcedefinitions"}}}`,
	`{"spec":{"resourceAttributes":{"group":"cluster.x-k8s.io","resource":"machines","name":"machines.cluster.x-k8s.io"}}}`,
	`{"status":{"resourceRules":[{"apiGroups":["apiextensions.k8s.io","cluster.x-k8s.io"],"resources":["customresourcedefinitions"],"resourceNames":["machines.cluster.hypershift.openshift.io"]}]}}`,
	`{"webhooks":[{"rules":[{"apiGroups":["cluster.x-k8s.io","*"],"apiVersions":["v1"]}]}]}`,
	`{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["cluster.x-k8s.io"]}],"excludeResourceRules":[{"apiGroups":["cluster.x-k8s.io"]}]},"paramKind":{"apiVersion":"cluster.x-k8s.io/v1"},"matchResources":{"resourceRules":[{"apiGroups":["cluster.x-k8s.io"]}]}}}`,
	`{"involvedObject":{"apiVersion":"cluster.x-k8s.io/v1"},"related":{"apiVersion":"cluster.x-k8s.io/v1"},"regarding":{"apiVersion":"cluster.x-k8s.io/v1"}}`,
	`{"spec":{"scaleTargetRef":{"apiVersion":"cluster.x-k8s.io/v1"}},"metadata":{"name":"ü\ud83d\ude00\u0000"}}`,
	`{"metadata":{"name":"\u00e9.cluster.x-k8s.io"}}`, `{"metadata":{"name":"é\ud83d\ude00\ud83d.\u0063luster.x-k8s.io"}}`, `{"items":[{"metadata":{"name":"\u00e9é.cluster.hypershift.openshift.io"}}]}`,
	`{"kind":"Status","apiVersion":"v1","message":"cluster.hypershift.openshift.io","details":{"group":"cluster.hypershift.openshift.io"}}`,
	`{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1","message":"cluster.hypershift.openshift.io","kind":"Machine"}}`,
	`{"a":1,"a":{"apiVersion":"cluster.x-k8s.io"},"a":[[[{"apiGroup":"cluster.hypershift.openshift.io"}]]]}`,
	"{\"a\":\"\x01\"}", `{"a":"\x"}`, `{"a":"\u12g4"}`, "\ufeff{}", `{"a":"`, "{\"a\":\"\xff\"}",
}

var patchSeeds = []string{
	`[]`, `{}`, `[1,{"op":"add"}]`,
	`[{"op":"add","path":"/metadata/ownerReferences/0","value":{"apiVersion":"cluster.hypershift.openshift.io/v1beta1"}}]`,
	`[{"value":"cluster.hypershift.openshift.io/v1","path":"/metadata/ownerReferences/-1/apiVersion","op":"test"}]`,
	`[{"value":"cluster.hypershift.openshift.io/v1","path":"/metadata/ownerReferences/-+/apiVersion","op":"test"}]`,
	`[{"value":"cluster.hypershift.openshift.io/v1","path":"/metadata/ownerReferences/+00000000000000000000000/apiVersion","op":"test"}]`,
	`[{"value":"cluster.hypershift.openshift.io/v1","path":"/metadata/ownerReferences/9223372036854775808/apiVersion","op":"test"}]`,
	`[{"op":"replace","path":"","value":{"metadata":{"managedFields":[{"apiVersion":"cluster.x-k8s.io/v1"}],"labels":{"apiVersion":"cluster.x-k8s.io"}}}}]`,
	`[{"op":"add","path":"/metadata/labels","value":{"apiVersion":"cluster.x-k8s.io"}}]`,
	`[{"op":"add","path":"/spec/a~1b~0c/apiGroup","value":"cluster.x-k8s.io"}]`,
	`[{"op":"copy","from":"/spec/a","path":"/spec/b"},{"op":"remove","path":"/x"}]`,
	`[{"op":"move","from":"/metadata/labels/a","path":"/spec/apiVersion"}]`,
	`[{"op":"add","path":"/a","path":"/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
	`[{"op":"add","path":"a/apiVersion","value":"cluster.x-k8s.io/v1"}]`,
	"[{\"path\":\"/0000\",\"value\":{\"000000000\"\x10\x00\"}}]",
}

var yamlSeeds = []string{
	"apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nspec:\n  ref: {apiGroup: infrastructure.cluster.x-k8s.io}\n",
	"a: &x {apiVersion: cluster.x-k8s.io}\nb: *x\nc:\n  <<: *x\n", "a: 1\na: 2\n", "- a\n- b\n", "a: 1\n---\nb: 2\n", "\"\\u0061piGroup\": 'cluster.x-k8s.io'",
	"apiVersion: cluster.hypershift.openshift.io/v1", "a: 0x10\nb: 1e3\nc: ~\nd: 2001-01-01\n", "{a: b}", "\t", "",
}

var messageSeeds = []string{
	`machines.cluster.hypershift.openshift.io "a" not found`, `Machine.infrastructure.cluster.hypershift.openshift.io "a" is invalid`,
	"\ncluster.hypershift.openshift.io.", `<cluster.hypershift.openshift.io/v1>`, `a.b.cluster.hypershift.openshift.io`, `.cluster.hypershift.openshift.io`,
	`ü.cluster.hypershift.openshift.io`, `cluster.x-k8s.io`, ``, `...`,
}

var pathSeeds = []string{
	"/apis/cluster.x-k8s.io/v1beta1/namespaces/a/machines/m/status", "/apis/cluster.x-k8s.io", "/api/v1/namespaces/a/pods/p/proxy/a%2fb/../c",
	"/api/v1/watch/namespaces/a/pods", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a%20b.cluster.x-k8s.io/", "/openapi/v3/apis/cluster.x-k8s.io/v1?hash=A",
	"/api/v1/events?fieldSelector=involvedObject.apiVersion%3Dcluster.x-k8s.io%2Fv1", "/api/v1/namespaces/a%2fb", "/apis/a/v1/..", "//", "/", "/api/v1/proxy/nodes/x/y",
	"/api/v1/pods?watch=1;x&fieldSelector=metadata.name=a",
	"/api/v1/events?fieldSelector=involvedObject.apiVersion%3Dcluster.x-k8s.io%2Fv;x&fieldSelector=metadata.name=a", "/api/v1/namespaces/a/finalize",
}
