package admission_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

// moved is a request that a move makes, or one like it.
type moved struct {
	operation   apiserver.Operation
	now, old    string
	in          *corev1.Namespace
	subresource string
	refused     bool
}

// controlPlane is the namespace of a hosted control plane, with a fence or without.
func controlPlane(fence string) *corev1.Namespace {
	labels := map[string]string{"hypershift.openshift.io/hosted-control-plane": "true"}
	if fence != "" {
		labels["capstan.openshift.io/private-capi-fence"] = fence
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c-e", Labels: labels}}
}

// elsewhere is a namespace of somebody else, which has a fence all the same.
func elsewhere() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c-e", Labels: map[string]string{"capstan.openshift.io/private-capi-fence": "both"}}}
}

// checkMoved asks about each request with the verb that it takes, and without: then all are refused.
func checkMoved(t *testing.T, verb string, rows map[string]moved) {
	t.Helper()
	policy := shipped(t, "capstan-writes")
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			for _, verbs := range [][]string{{verb}, nil, {"get", "list", "watch", "create", "update", "patch", "delete"}} {
				refused := row.refused || !slices.Contains(verbs, verb)
				answers, err := policy.Ask(t.Context(), admissiontest.Request{
					Operation: row.operation, Object: object(t, row.now), Old: object(t, row.old), Namespace: row.in, Subresource: row.subresource, Verbs: verbs,
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, answer := range answers {
					if (answer.Refused != "") != refused || strings.HasPrefix(answer.Refused, "error") {
						t.Errorf("to who may %v the answer is %q", verbs, answer.Refused)
					}
				}
			}
		})
	}
}

func TestWrites_lets_a_move_mark_HostedClusters_and_change_nothing_of_them(t *testing.T) {
	hosted := func(metadata, rest string) string {
		return "{apiVersion: hypershift.openshift.io/v1beta1, kind: HostedCluster, metadata: {name: e, namespace: c" + metadata + "}" + rest + "}"
	}
	conditions := func(of ...string) string {
		return ", status: {version: a, conditions: [" + strings.Join(of, ", ") + "]}"
	}
	const (
		spec      = ", spec: {a: b}"
		available = "{type: Available, status: 'True'}"
		moves     = "{type: PrivateCAPIMigrated, status: 'False'}"
		locked    = ", annotations: {a: b, hypershift.openshift.io/migration-in-progress: 'true', capstan.openshift.io/migration: text}, finalizers: [f, capstan.openshift.io/private-capi]"
		free      = ", annotations: {a: b}, finalizers: [f]"
		marked    = ", annotations: {hypershift.openshift.io/private-capi-types: 'true'}"
		legacy    = ", annotations: {hypershift.openshift.io/scope: legacy, capstan.openshift.io/private-capi-revert: a}"
		mine      = "capstan-private-capi-c-e-0123"
	)
	configMap := func(namespace, name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + namespace + "}}"
	}
	namespace := func(labels, rest string) string {
		return "{apiVersion: v1, kind: Namespace, metadata: {name: c-e, labels: {" + labels + "}" + rest + "}}"
	}
	const hcp, shut = "hypershift.openshift.io/hosted-control-plane: 'true'", "capstan.openshift.io/private-capi-fence: "
	checkMoved(t, "move", map[string]moved{
		"a record":                                {operation: apiserver.Create, now: configMap("openshift-cluster-api-operator", mine)},
		"a record, written again":                 {operation: apiserver.Update, now: configMap("openshift-cluster-api-operator", mine), old: configMap("openshift-cluster-api-operator", mine)},
		"the ConfigMap of the programme":          {operation: apiserver.Create, now: configMap("openshift-cluster-api-operator", "capstan-private-capi"), refused: true},
		"a record elsewhere":                      {operation: apiserver.Create, now: configMap("c", mine), refused: true},
		"the lock":                                {operation: apiserver.Update, now: hosted(locked, spec), old: hosted(free, spec)},
		"the lock taken off":                      {operation: apiserver.Update, now: hosted(free, spec), old: hosted(locked, spec)},
		"the commit":                              {operation: apiserver.Update, now: hosted(marked, spec), old: hosted(legacy, spec)},
		"a spec":                                  {operation: apiserver.Update, now: hosted(locked, ", spec: {a: c}"), old: hosted(free, spec), refused: true},
		"a spec, taken away":                      {operation: apiserver.Update, now: hosted(locked, ""), old: hosted(free, spec), refused: true},
		"a pause of somebody":                     {operation: apiserver.Update, now: hosted("", spec), old: hosted(", annotations: {capstan.openshift.io/private-capi-paused: a}", spec), refused: true},
		"another annotation":                      {operation: apiserver.Update, now: hosted(", annotations: {a: c}", spec), old: hosted(", annotations: {a: b}", spec), refused: true},
		"another finalizer, taken off":            {operation: apiserver.Update, now: hosted("", spec), old: hosted(", finalizers: [f]", spec), refused: true},
		"an owner":                                {operation: apiserver.Update, now: hosted(", ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}]", spec), old: hosted("", spec), refused: true},
		"a HostedCluster":                         {operation: apiserver.Create, now: hosted("", spec), refused: true},
		"a HostedCluster, taken away":             {operation: apiserver.Delete, old: hosted("", spec), refused: true},
		"the condition":                           {operation: apiserver.Update, subresource: "status", now: hosted("", conditions(available, moves)), old: hosted("", conditions(available))},
		"the first condition":                     {operation: apiserver.Update, subresource: "status", now: hosted("", ", status: {conditions: ["+moves+"]}"), old: hosted("", "")},
		"the condition of somebody":               {operation: apiserver.Update, subresource: "status", now: hosted("", conditions("{type: Available, status: 'False'}", moves)), old: hosted("", conditions(available)), refused: true},
		"a condition taken away":                  {operation: apiserver.Update, subresource: "status", now: hosted("", conditions(moves)), old: hosted("", conditions(available)), refused: true},
		"the rest of the status":                  {operation: apiserver.Update, subresource: "status", now: hosted("", ", status: {version: b}"), old: hosted("", ", status: {version: a}"), refused: true},
		"the rest of the status, gone":            {operation: apiserver.Update, subresource: "status", now: hosted("", ", status: {conditions: []}"), old: hosted("", conditions()), refused: true},
		"a fence":                                 {operation: apiserver.Update, now: namespace(hcp+", "+shut+"both", ""), old: namespace(hcp, "")},
		"a fence that names its move":             {operation: apiserver.Update, now: namespace(hcp+", "+shut+"both, capstan.openshift.io/private-capi-move: a", ""), old: namespace(hcp, "")},
		"a fence, taken off":                      {operation: apiserver.Update, now: namespace(hcp, ""), old: namespace(hcp+", "+shut+"standard", "")},
		"a fence that nobody knows":               {operation: apiserver.Update, now: namespace(hcp+", "+shut+"none", ""), old: namespace(hcp, ""), refused: true},
		"a fence elsewhere":                       {operation: apiserver.Update, now: namespace(shut+"both", ""), old: namespace("", ""), refused: true},
		"a namespace made one of a control plane": {operation: apiserver.Update, now: namespace(hcp+", "+shut+"both", ""), old: namespace("a: b", ""), refused: true},
		"a level of Pod security":                 {operation: apiserver.Update, now: namespace(hcp+", pod-security.kubernetes.io/enforce: privileged", ""), old: namespace(hcp, ""), refused: true},
		"an annotation beside the fence":          {operation: apiserver.Update, now: namespace(hcp+", "+shut+"both", ", annotations: {a: b}"), old: namespace(hcp, ""), refused: true},
		"a namespace, taken away":                 {operation: apiserver.Delete, old: namespace(hcp, ""), refused: true},
	})
}

func TestWrites_lets_a_move_write_objects_of_Cluster_API_behind_a_fence_alone(t *testing.T) {
	machine := func(group, metadata, rest string) string {
		return "{apiVersion: " + group + "/v1beta2, kind: Machine, metadata: {name: a, namespace: c-e" + metadata + "}" + rest + "}"
	}
	owned := func(kind, metadata, owners, data string) string {
		return "{apiVersion: v1, kind: " + kind + ", metadata: {name: s, namespace: c-e" + metadata + ", ownerReferences: [" + owners + "]}, data: {a: " + data + "}}"
	}
	const (
		standard, private = "infrastructure.cluster.x-k8s.io", "cluster.hypershift.openshift.io"
		ofCopy            = ", annotations: {capstan.openshift.io/migrated-from: u}"
		paused            = ", annotations: {capstan.openshift.io/prior-pause: absent}"
		held              = ", finalizers: [f]"
		first             = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: a, uid: u}"
		second            = "{apiVersion: cluster.hypershift.openshift.io/v1beta2, kind: Machine, name: a, uid: v, controller: true}"
		another           = "{apiVersion: apps/v1, kind: Deployment, name: a, uid: w}"
	)
	identity := "{apiVersion: " + standard + "/v1beta2, kind: Identity, metadata: {name: default}}"
	checkMoved(t, "move", map[string]moved{
		"a copy":                                {operation: apiserver.Create, now: machine(private, ofCopy, ""), in: controlPlane("both")},
		"a copy, moving back":                   {operation: apiserver.Create, now: machine(standard, ofCopy, ""), in: controlPlane("both")},
		"an object that is no copy":             {operation: apiserver.Create, now: machine(private, "", ""), in: controlPlane("both"), refused: true},
		"a copy without a fence":                {operation: apiserver.Create, now: machine(private, ofCopy, ""), in: controlPlane(""), refused: true},
		"a copy elsewhere":                      {operation: apiserver.Create, now: machine(private, ofCopy, ""), in: elsewhere(), refused: true},
		"of a group of others":                  {operation: apiserver.Create, now: machine("hypershift.openshift.io", ofCopy, ""), in: controlPlane("both"), refused: true},
		"a change":                              {operation: apiserver.Update, now: machine(private, ofCopy, ", spec: {a: c}"), old: machine(private, ofCopy, ", spec: {a: b}"), in: controlPlane("private")},
		"a status":                              {operation: apiserver.Update, subresource: "status", now: machine(private, ofCopy, ", status: {a: c}"), old: machine(private, ofCopy, ""), in: controlPlane("both")},
		"a scale":                               {operation: apiserver.Update, subresource: "scale", now: machine(private, ofCopy, ", status: {a: c}"), old: machine(private, ofCopy, ""), in: controlPlane("both"), refused: true},
		"a change without a fence":              {operation: apiserver.Update, now: machine(private, "", ", spec: {a: c}"), old: machine(private, "", ", spec: {a: b}"), in: controlPlane(""), refused: true},
		"a change elsewhere":                    {operation: apiserver.Update, now: machine(standard, "", ", spec: {a: c}"), old: machine(standard, "", ", spec: {a: b}"), in: elsewhere(), refused: true},
		"a pause given back without a lock":     {operation: apiserver.Update, now: machine(standard, "", ""), old: machine(standard, paused, ", spec: {paused: true}"), in: controlPlane("")},
		"the marks of a copy taken off":         {operation: apiserver.Update, now: machine(private, "", ""), old: machine(private, ofCopy, ""), in: controlPlane("")},
		"one mark of a copy taken off":          {operation: apiserver.Update, now: machine(private, ofCopy, ""), old: machine(private, ofCopy[:len(ofCopy)-1]+", capstan.openshift.io/migrated-by: a}", ""), in: controlPlane(""), refused: true},
		"a pause given back elsewhere":          {operation: apiserver.Update, now: machine(standard, "", ""), old: machine(standard, paused, ", spec: {paused: true}"), in: elsewhere(), refused: true},
		"the source, taken away":                {operation: apiserver.Delete, old: machine(standard, "", ""), in: controlPlane("standard")},
		"the source, with what holds it":        {operation: apiserver.Delete, old: machine(standard, held, ""), in: controlPlane("standard"), refused: true},
		"what was deleted meanwhile":            {operation: apiserver.Delete, old: machine(standard, held, ""), in: controlPlane("both")},
		"taken away without a fence":            {operation: apiserver.Delete, old: machine(standard, "", ""), in: controlPlane(""), refused: true},
		"what lies in no namespace":             {operation: apiserver.Create, now: identity},
		"what lies in no namespace, changed":    {operation: apiserver.Update, now: identity, old: identity, refused: true},
		"what lies in no namespace, taken away": {operation: apiserver.Delete, old: identity, refused: true},
		"a second owner":                        {operation: apiserver.Update, now: owned("Secret", "", first+", "+second+", "+another, "b"), old: owned("Secret", "", first+", "+another, "b"), in: controlPlane("both")},
		"the first one, taken off":              {operation: apiserver.Update, now: owned("Secret", "", second, "b"), old: owned("Secret", "", first+", "+second, "b"), in: controlPlane("standard")},
		"an owner of one that had none":         {operation: apiserver.Update, now: owned("StatefulSet", "", second, "b"), old: owned("StatefulSet", "", "", "b"), in: controlPlane("both"), refused: true},
		"an owner beside others alone":          {operation: apiserver.Update, now: owned("StatefulSet", "", another+", "+second, "b"), old: owned("StatefulSet", "", another, "b"), in: controlPlane("both"), refused: true},
		"an owner by another name":              {operation: apiserver.Update, now: owned("Secret", "", first+", "+strings.Replace(second, "name: a", "name: b", 1), "b"), old: owned("Secret", "", first, "b"), in: controlPlane("both"), refused: true},
		"an owner of another kind":              {operation: apiserver.Update, now: owned("Secret", "", first+", "+strings.Replace(second, "Machine", "MachineSet", 1), "b"), old: owned("Secret", "", first, "b"), in: controlPlane("both"), refused: true},
		"all owners, taken off":                 {operation: apiserver.Update, now: owned("Secret", "", "", "b"), old: owned("Secret", "", second, "b"), in: controlPlane("both")},
		"an owner of another group":             {operation: apiserver.Update, now: owned("Secret", "", first+", "+another, "b"), old: owned("Secret", "", first, "b"), in: controlPlane("both"), refused: true},
		"an owner of another group, taken off":  {operation: apiserver.Update, now: owned("Secret", "", first, "b"), old: owned("Secret", "", first+", "+another, "b"), in: controlPlane("both"), refused: true},
		"content beside an owner":               {operation: apiserver.Update, now: owned("Secret", "", second, "c"), old: owned("Secret", "", first, "b"), in: controlPlane("both"), refused: true},
		"an annotation beside an owner":         {operation: apiserver.Update, now: owned("Secret", ", annotations: {a: b}", second, "b"), old: owned("Secret", "", first, "b"), in: controlPlane("both"), refused: true},
		"an owner without a fence":              {operation: apiserver.Update, now: owned("Secret", "", second, "b"), old: owned("Secret", "", first, "b"), in: controlPlane(""), refused: true},
		"an owner elsewhere":                    {operation: apiserver.Update, now: owned("Secret", "", second, "b"), old: owned("Secret", "", first, "b"), in: elsewhere(), refused: true},
		"a Secret":                              {operation: apiserver.Create, now: owned("Secret", "", second, "b"), in: controlPlane("both"), refused: true},
		"a Secret, taken away":                  {operation: apiserver.Delete, old: owned("Secret", "", second, "b"), in: controlPlane("both"), refused: true},
	})
}

func TestWrites_lets_a_move_stop_and_equip_components_and_no_more(t *testing.T) {
	const (
		own        = "{name: manager, image: i, securityContext: {runAsNonRoot: true}"
		containers = "containers: [" + own + "}]"
		pointed    = "containers: [" + own + ", env: [{name: KUBECONFIG, value: k}], volumeMounts: [{name: kube-apiserver-proxy, mountPath: /k}], args: [a]}]"
		proxy      = ", initContainers: [{name: kube-apiserver-proxy, image: p, securityContext: {allowPrivilegeEscalation: false}, volumeMounts: [{name: kube-apiserver-proxy, mountPath: /k}]}]"
		volume     = ", volumes: [{name: kube-apiserver-proxy, emptyDir: {medium: Memory}}]"
		one        = "replicas: 1"
		noted      = ", annotations: {capstan.openshift.io/prior-replicas: '1', capstan.openshift.io/prior-template: '{}'}"
	)
	deployment := func(name, metadata, replicas, about, pod string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + ", namespace: c-e" + metadata + "}, spec: {" + replicas +
			", selector: {}, template: {metadata: {" + about + "}, spec: {serviceAccountName: a, " + pod + "}}}}"
	}
	component := func(metadata, replicas, about, pod string) string {
		return deployment("cluster-api", metadata, replicas, about, pod)
	}
	plain := component("", one, "", containers)
	rows := map[string]moved{
		"stopped":                          {now: component(noted, "replicas: 0", "", containers)},
		"equipped":                         {now: component(noted, one, "", pointed+proxy+volume)},
		"given back":                       {now: plain, old: component(noted, "replicas: 0", "", pointed+proxy+volume)},
		"given back without a lock":        {now: plain, old: component(noted, "replicas: 0", "", pointed+proxy+volume), in: controlPlane("")},
		"given back elsewhere":             {now: plain, old: component(noted, "replicas: 0", "", containers), in: elsewhere(), refused: true},
		"stopped without a fence":          {now: component(noted, "replicas: 0", "", containers), in: controlPlane(""), refused: true},
		"another Deployment":               {now: deployment("etcd-defrag", noted, "replicas: 0", "", containers), old: deployment("etcd-defrag", "", one, "", containers), refused: true},
		"another account":                  {now: strings.Replace(plain, "serviceAccountName: a", "serviceAccountName: b", 1), refused: true},
		"in the network of its host":       {now: component("", one, "", "hostNetwork: true, "+containers), refused: true},
		"a folder of its host":             {now: component("", one, "", containers+", volumes: [{name: kube-apiserver-proxy, hostPath: {path: /}}]"), refused: true},
		"a Secret beside the proxy's":      {now: component("", one, "", containers+", volumes: [{name: other, secret: {secretName: s}}]"), refused: true},
		"a container with more rights":     {now: component("", one, "", "containers: [{name: manager, image: i, securityContext: {privileged: true}}]"), refused: true},
		"another container":                {now: component("", one, "", "containers: ["+own+"}, {name: other, image: i}]"), refused: true},
		"another container that begins":    {now: component("", one, "", containers+", initContainers: [{name: other, image: i}]"), refused: true},
		"a proxy with more rights":         {now: component("", one, "", containers+strings.Replace(proxy, "false", "false, privileged: true", 1)), refused: true},
		"a proxy that may gain rights":     {now: component("", one, "", containers+strings.Replace(proxy, "false", "true", 1)), refused: true},
		"a proxy with a capability":        {now: component("", one, "", containers+strings.Replace(proxy, "false", "false, capabilities: {add: [SYS_ADMIN]}", 1)), refused: true},
		"a proxy that mounts":              {now: component("", one, "", containers+strings.Replace(proxy, "{name: kube-apiserver-proxy, mountPath: /k}", "{name: v, mountPath: /v}", 1)), refused: true},
		"a volume for it that is a Secret": {now: component("", one, "", pointed+proxy+", volumes: [{name: kube-apiserver-proxy, secret: {secretName: s}}]"), refused: true},
		"an annotation of its Pods":        {now: component("", one, "annotations: {a: b}", containers), refused: true},
		"a kubeconfig of former proxies":   {now: plain, old: component("", one, "annotations: {a: b, capstan.openshift.io/proxy-kubeconfig: k}", containers), refused: true},
		"a former proxy, taken away":       {now: component("", one, "annotations: {a: b}", containers), old: component("", one, "annotations: {a: b, capstan.openshift.io/proxy-kubeconfig: k}", pointed+proxy+volume)},
		"a former proxy, the last one":     {now: plain, old: component("", one, "annotations: {capstan.openshift.io/proxy-kubeconfig: k}", pointed+proxy+volume)},
		"a former proxy, put there":        {now: component("", one, "annotations: {capstan.openshift.io/proxy-kubeconfig: k}", pointed+proxy+volume), refused: true},
		"labels of its Pods":               {now: component("", one, "labels: {a: b}", containers), refused: true},
		"which Pods it has":                {now: strings.Replace(plain, "selector: {}", "selector: {matchLabels: {a: b}}", 1), refused: true},
		"an annotation":                    {now: component(", annotations: {a: b}", one, "", containers), refused: true},
		"a component that was not there":   {operation: apiserver.Create, now: plain, refused: true},
		"a component, taken away":          {operation: apiserver.Delete, old: plain, refused: true},
	}
	for name, row := range rows {
		if row.operation == "" {
			row.operation = apiserver.Update
			if row.old == "" {
				row.old = plain
			}
		}
		if row.in == nil {
			row.in = controlPlane("both")
		}
		rows[name] = row
	}
	checkMoved(t, "move", rows)
}

func TestWrites_lets_the_old_operator_lose_its_replicas_and_get_them_back_where_the_verb_names_it(t *testing.T) {
	old := func(annotations, replicas, image string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, namespace: hypershift, annotations: {a: b" + annotations + "}}, spec: {replicas: " + replicas +
			", template: {spec: {containers: [{name: o, image: " + image + "}]}}}}"
	}
	const since, before = ", capstan.openshift.io/unneeded-since: now", ", capstan.openshift.io/replicas-before: '2'"
	rows := map[string]moved{
		"noted that nobody needs it":   {now: old(since, "2", "i"), old: old("", "2", "i")},
		"stopped":                      {now: old(since+before, "0", "i"), old: old(since, "2", "i")},
		"started":                      {now: old("", "2", "i"), old: old(since+before, "0", "i")},
		"stopped without a note":       {now: old(since, "0", "i"), old: old(since, "2", "i"), refused: true},
		"started with more":            {now: old("", "3", "i"), old: old(before, "0", "i"), refused: true},
		"started with none before":     {now: old("", "1", "i"), old: old("", "0", "i"), refused: true},
		"given fewer":                  {now: old(before, "1", "i"), old: old(before, "2", "i"), refused: true},
		"given another image":          {now: old(since, "2", "j"), old: old("", "2", "i"), refused: true},
		"given another annotation":     {now: old(", c: d", "2", "i"), old: old("", "2", "i"), refused: true},
		"taken away":                   {operation: apiserver.Delete, old: old("", "2", "i"), refused: true},
		"stopped by its scale":         {subresource: "scale", now: old(since+before, "0", "i"), old: old(since, "2", "i"), refused: true},
		"made anew, with the old name": {operation: apiserver.Create, now: old("", "2", "i"), refused: true},
	}
	for name, row := range rows {
		if row.operation == "" {
			row.operation = apiserver.Update
		}
		rows[name] = row
	}
	checkMoved(t, "retire", rows)
}
