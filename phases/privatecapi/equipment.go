package privatecapi

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Component is a Deployment in the namespace of a control plane whose Pods read or write Cluster API.
type Component struct {
	Name string
	// Scales says that it scales others: it goes first. Waits says that it stays at 0 until the source is gone.
	Scales, Waits bool
	// Flags are arguments of its first container that point it at the proxy, where it ignores the environment.
	Flags []string
}

// Components are those of HyperShift.
var Components = []Component{
	{Name: "control-plane-operator", Scales: true},
	{Name: "cluster-api"},
	{Name: "capi-provider"},
	{Name: "machine-approver"},
	{Name: "cluster-autoscaler", Waits: true},
}

// sidecarName is the name of the proxy's container.
const sidecarName = "kube-apiserver-proxy"

// equippedBy is the environment by which the control-plane operator equips the Deployments that it makes.
const equippedBy = "PRIVATE_CAPI_TYPES"

// Equipment is what a Pod needs to see private types as standard ones.
type Equipment struct {
	// Image is that of the proxy.
	Image string
}

const (
	kubeconfigVolume = "kube-apiserver-proxy"
	kubeconfigFolder = "/var/run/kube-apiserver-proxy"
	// KubeconfigPath is where a Pod finds the kubeconfig that leads to its proxy, which has written it.
	KubeconfigPath = kubeconfigFolder + "/kubeconfig"
	// writesKubeconfig has the proxy write it, with a token that it asks for.
	writesKubeconfig = "--write-kubeconfig=" + KubeconfigPath
	// formerKubeconfig is the annotation of a Pod that had its text, when a proxy asked for no token.
	formerKubeconfig = Ours + "proxy-kubeconfig"
)

// container is the proxy's, as deploy/privatecapi/sidecar.yaml has it: a native sidecar, which is ready before any other container
// starts and ends after all of them.
func (e Equipment) container() map[string]any {
	return map[string]any{
		"name": sidecarName, "image": e.Image, "imagePullPolicy": "IfNotPresent", "restartPolicy": "Always",
		"command":      []any{"capstan"},
		"args":         []any{"capi-proxy", "--address=127.0.0.1:8080", "--health-address=:8081", writesKubeconfig},
		"volumeMounts": []any{map[string]any{"name": kubeconfigVolume, "mountPath": kubeconfigFolder}},
		"ports":        []any{map[string]any{"name": "proxy-health", "containerPort": int64(8081)}},
		"startupProbe": map[string]any{
			"httpGet": map[string]any{"path": "/readyz", "port": "proxy-health"}, "periodSeconds": int64(1), "failureThreshold": int64(120),
		},
		"livenessProbe": map[string]any{
			"httpGet": map[string]any{"path": "/healthz", "port": "proxy-health"}, "periodSeconds": int64(20), "timeoutSeconds": int64(5),
		},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}, "limits": map[string]any{"memory": "100Mi"},
		},
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true, "capabilities": map[string]any{"drop": []any{"ALL"}},
		},
		"terminationMessagePolicy": "FallbackToLogsOnError",
	}
}

// volume is where the proxy leaves the kubeconfig for the others. It lasts as long as the Pod, so that a proxy that begins anew finds
// its token again, and is in memory: a node's disk never has the token, and a Pod with a folder on one is not moved by an autoscaler.
func volume() map[string]any {
	return map[string]any{"name": kubeconfigVolume, "emptyDir": map[string]any{"medium": "Memory", "sizeLimit": "1Mi"}}
}

// Equip is a Pod template with the proxy, to which all other containers are pointed, but those that run before them with a KUBECONFIG of
// their own: one that waits for the hosted cluster would wait for ever. A template that has the proxy comes back as it is; a proxy that is
// not as it is made today makes room for one that is.
func (e Equipment) Equip(template map[string]any, of Component) map[string]any {
	out := withoutFormer(template)
	if IsEquipped(template) && of.isTold(template) {
		return out
	}
	if hasProxy(template) {
		out = e.Strip(template)
	}
	spec, _ := out["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
		out["spec"] = spec
	}
	for _, container := range containersOf(spec, "initContainers") {
		if itemOf(container, "env", kubeconfigVariable) == nil {
			point(container)
		}
	}
	for i, container := range containersOf(spec, "containers") {
		point(container)
		if of.Scales {
			take(container, equippedBy, "true")
		}
		if args, _ := container["args"].([]any); i == 0 && len(of.Flags) > 0 {
			for _, flag := range of.Flags {
				args = append(args, flag+"="+KubeconfigPath)
			}
			container["args"] = args
		}
	}
	inits, _ := spec["initContainers"].([]any)
	spec["initContainers"] = append([]any{e.container()}, inits...)
	volumes, _ := spec["volumes"].([]any)
	spec["volumes"] = append(slices.Clip(volumes), volume())
	return out
}

// IsEquipped says that a Pod template has the proxy as it has to be: one that writes a kubeconfig with its token into a folder of the
// Pod's own, in which a container looks for it. One that neither mounts the folder nor names the file speaks of nothing private, and
// whoever equips the template may leave it alone; none may have half of it. What image the proxy has, and what else, does not count.
func IsEquipped(template map[string]any) bool {
	spec, _ := template["spec"].(map[string]any)
	proxy := itemOf(spec, "initContainers", sidecarName)
	args, _ := proxy["args"].([]any)
	_, own := itemOf(spec, "volumes", kubeconfigVolume)["emptyDir"]
	isHalf := func(c map[string]any) bool { return c["name"] != sidecarName && looks(c) != mounts(c) }
	return own && slices.Contains(args, any(writesKubeconfig)) && mounts(proxy) &&
		slices.ContainsFunc(containersOf(spec, "containers"), isPointed) && !slices.ContainsFunc(allOf(spec), isHalf)
}

// isTold says that a component which equips others is told to: else it would take from them what they were given.
func (of Component) isTold(template map[string]any) bool {
	spec, _ := template["spec"].(map[string]any)
	return !of.Scales || slices.ContainsFunc(containersOf(spec, "containers"), func(c map[string]any) bool {
		return itemOf(c, "env", equippedBy)["value"] == "true"
	})
}

// hasProxy says that a Pod template has a proxy, however it is made, or a container that looks for what one writes.
func hasProxy(template map[string]any) bool {
	spec, _ := template["spec"].(map[string]any)
	return itemOf(spec, "initContainers", sidecarName) != nil || itemOf(spec, "volumes", kubeconfigVolume) != nil ||
		slices.ContainsFunc(allOf(spec), looks)
}

// Strip is a Pod template without the proxy, as Equip or an operator of its own has put it there, today or once. No flag names the file
// any more, since a component that cannot read it would not start.
func (e Equipment) Strip(template map[string]any) map[string]any {
	out := withoutFormer(template)
	spec, _ := out["spec"].(map[string]any)
	keep(spec, "initContainers", func(list []any) []any { return without(list, sidecarName) })
	keep(spec, "volumes", func(list []any) []any { return without(list, kubeconfigVolume) })
	for _, container := range allOf(spec) {
		keep(container, "env", givenBack)
		keep(container, "volumeMounts", func(list []any) []any { return without(list, kubeconfigVolume) })
		keep(container, "command", withoutFile)
		keep(container, "args", withoutFile)
	}
	return out
}

// withoutFormer is a copy of a Pod template without what a former proxy read. Nobody reads it, and no write may leave it there.
func withoutFormer(template map[string]any) map[string]any {
	out, _ := cloned(template).(map[string]any)
	metadata, _ := out["metadata"].(map[string]any)
	if annotations, is := metadata["annotations"].(map[string]any); is {
		if delete(annotations, formerKubeconfig); len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	return out
}

// fitted is a Pod template as a side takes it: with the proxy for the private one, and without for the standard one. One in the network
// of its host is left without.
func (e Equipment) fitted(template map[string]any, of Component, side Side) map[string]any {
	host, _, _ := unstructured.NestedBool(template, "spec", "hostNetwork")
	switch {
	case side == Standard && hasProxy(template):
		return e.Strip(template)
	case side == Private && !host:
		return e.Equip(template, of)
	}
	return withoutFormer(template)
}

// keep changes a list of an object, and drops one that is empty.
func keep(in map[string]any, field string, change func([]any) []any) {
	list, is := in[field].([]any)
	if !is {
		return
	}
	if list = change(list); len(list) == 0 {
		delete(in, field)
		return
	}
	in[field] = list
}

// compactJSON is a value as JSON; what came as JSON can be written as it.
func compactJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(text)
}
