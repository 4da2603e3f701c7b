package privatecrds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// ConvertPath is where the shim converts by itself; below it, by route and path, it has others convert.
const ConvertPath = "/convert"

// category is the one by which kubectl would list private objects among the platform's.
const category = "cluster-api"

// ConvertsItself says that the shim converts objects of a standard group and kind by the packages of Cluster API that are linked
// into it: all of the core, and kubeadm's.
func ConvertsItself(group, kind string) bool {
	switch prefix := strings.TrimSuffix(strings.TrimSuffix(group, rewrite.Standard), "."); prefix {
	case "", "addons", "ipam", "runtime":
		_, standard := private(group)
		return standard
	case "bootstrap", "controlplane":
		return strings.HasPrefix(kind, "Kubeadm")
	}
	return false
}

func makeDefinition(crd *unstructured.Unstructured, o Options) (bool, ProblemsError) {
	spec, _, err := unstructured.NestedMap(crd.Object, "spec")
	if err != nil {
		return true, ProblemsError{wrong("spec", "it is no map")}
	}
	group, _ := spec["group"].(string)
	to, is := private(group)
	if !is {
		return false, nil
	}
	name, is := privateName(crd.GetName())
	if !is {
		return true, ProblemsError{wrong("metadata.name", "%q is not of the form plural.group with the group %s", crd.GetName(), group)}
	}
	versions, _ := spec["versions"].([]any)
	problems := literals(versions)
	crd.SetName(name)
	clean(crd)
	spec["group"] = to
	names, _ := spec["names"].(map[string]any)
	delete(names, "shortNames")
	if categories, has := names["categories"].([]any); has {
		if categories = slices.DeleteFunc(categories, func(c any) bool { return c == category }); len(categories) == 0 {
			delete(names, "categories")
		} else {
			names["categories"] = categories
		}
	}
	kind, _ := names["kind"].(string)
	conversion, wrongConversion := conversionOf(spec["conversion"], len(versions), ConvertsItself(group, kind), o)
	if wrongConversion != nil {
		problems = append(problems, *wrongConversion)
	}
	spec["conversion"] = conversion
	crd.Object["spec"] = spec
	if conversion["strategy"] == "Webhook" {
		injected(crd)
	}
	return true, problems
}

// conversionOf is how a private definition converts. Where upstream converts nothing between several versions, they are the same,
// and the API server needs nobody.
func conversionOf(upstream any, versions int, itself bool, o Options) (map[string]any, *Problem) {
	none := map[string]any{"strategy": "None"}
	before, _ := upstream.(map[string]any)
	if versions < 2 || before["strategy"] != "Webhook" && !itself {
		return none, nil
	}
	path := ConvertPath
	if !itself {
		asked, err := pathOf(before, "webhook", "clientConfig")
		if err != nil {
			p := wrong("spec.conversion.webhook.clientConfig", "%v", err)
			return none, &p
		}
		path = ConvertPath + "/" + o.Route + asked
	}
	return map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"clientConfig":             map[string]any{"service": o.service(path)},
			"conversionReviewVersions": []any{"v1"},
		},
	}, nil
}

func (o Options) service(path string) map[string]any {
	return map[string]any{"namespace": o.Service.Namespace, "name": o.Service.Name, "path": path, "port": int64(443)}
}

// literals are the standard groups in the schemas of versions.
func literals(versions []any) (problems ProblemsError) {
	for i, v := range versions {
		fields, _ := v.(map[string]any)
		name, is := fields["name"].(string)
		if !is {
			problems = append(problems, wrong(fmt.Sprintf("spec.versions[%d]", i), "it has no name"))
		}
		schema, found, err := unstructured.NestedFieldNoCopy(fields, "schema", "openAPIV3Schema")
		if err != nil || !found {
			continue
		}
		problems = append(problems, inSchema(schema, "spec.versions["+name+"].schema.openAPIV3Schema")...)
	}
	return problems
}

// pathOf is where a webhook of upstream is asked, at a Service or by a URL.
func pathOf(object map[string]any, fields ...string) (string, error) {
	config, _, err := unstructured.NestedMap(object, fields...)
	if err != nil {
		return "", fmt.Errorf("it is no map")
	}
	var asked struct {
		URL     string `json:"url"`
		Service *struct {
			Path string `json:"path"`
		} `json:"service"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(config, &asked); err != nil {
		return "", err
	}
	switch {
	case asked.Service == nil && asked.URL == "":
		return "", fmt.Errorf("it names neither a Service nor a URL that the shim could ask")
	case asked.Service == nil:
		return pathOfURL(asked.URL)
	}
	return asked.Service.Path, checkPath(asked.Service.Path)
}
