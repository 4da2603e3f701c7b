package privatecrds

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AdmitPath is where the shim has others admit, by route and path below it.
const AdmitPath = "/admit"

// sparing is the name of the condition by which the migration's account is not asked about.
const sparing = "not-the-migration"

// makeWebhooks moves a configuration of webhooks: those of private objects, by way of the shim. A webhook that is about nothing of
// Cluster API goes: the upstream configuration has it still, and it would be asked twice.
func makeWebhooks(configuration *unstructured.Unstructured, o Options) (about bool, problems ProblemsError) {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return true, ProblemsError{wrong("webhooks", "it is no list")}
	}
	var moved []any
	for i, w := range webhooks {
		at := fmt.Sprintf("webhooks[%d]", i)
		webhook, is := w.(map[string]any)
		if !is {
			problems = append(problems, wrong(at, "it is no map"))
			continue
		}
		mapped, wrong := moveWebhook(webhook, at, o)
		problems = append(problems, wrong...)
		if mapped {
			moved = append(moved, webhook)
		}
	}
	if len(moved) == 0 {
		return false, problems
	}
	if err := unstructured.SetNestedSlice(configuration.Object, moved, "webhooks"); err != nil {
		problems = append(problems, wrong("webhooks", "%v", err))
	}
	clean(configuration)
	injected(configuration)
	configuration.SetName(prefix + configuration.GetName())
	return true, problems
}

func moveWebhook(webhook map[string]any, at string, o Options) (about bool, problems ProblemsError) {
	rules, _ := webhook["rules"].([]any)
	var kept []any
	for i, r := range rules {
		rule, _ := r.(map[string]any)
		groups, _ := rule["apiGroups"].([]any)
		if slices.Contains(groups, any("*")) {
			problems = append(problems, wrong(fmt.Sprintf("%s.rules[%d].apiGroups", at, i), "it is asked about every group, so that it would be asked twice; name the groups of the provider"))
			continue
		}
		var ours []any
		for _, g := range groups {
			if to, standard := private(fmt.Sprint(g)); standard {
				ours = append(ours, to)
			}
		}
		if len(ours) > 0 {
			rule["apiGroups"] = ours
			kept = append(kept, rule)
		}
	}
	if len(kept) == 0 {
		return false, problems
	}
	webhook["rules"] = kept
	asked, err := pathOf(webhook, "clientConfig")
	if err != nil {
		return true, append(problems, wrong(at+".clientConfig", "%v", err))
	}
	webhook["clientConfig"] = map[string]any{"service": o.service(AdmitPath + "/" + o.Route + asked)}
	webhook["admissionReviewVersions"] = []any{"v1"}
	conditions, _ := webhook["matchConditions"].([]any)
	problems = append(problems, inValue(webhook["matchConditions"], at+".matchConditions")...)
	webhook["matchConditions"] = append(conditions, map[string]any{"name": sparing, "expression": "request.userInfo.username != " + strconv.Quote(o.Spared)})
	return true, problems
}

// checkPath refuses a path that the shim's server would clean into another one.
func checkPath(asked string) error {
	if asked == "" || asked == "/" {
		return nil
	}
	if !strings.HasPrefix(asked, "/") || path.Clean(asked) != asked {
		return fmt.Errorf("the path %q is not clean, so that it would lead elsewhere by way of the shim", asked)
	}
	return nil
}

func pathOfURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("its URL cannot be read: %w", err)
	}
	if u.RawQuery != "" {
		return "", fmt.Errorf("its URL has a query, which the shim does not hand on")
	}
	return u.Path, checkPath(u.Path)
}
