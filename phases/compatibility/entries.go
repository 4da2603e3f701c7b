package compatibility

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

const (
	denyPrefix  = "deny-"
	warnPrefix  = "warn-"
	entrySuffix = ".crds.capstan.openshift.io"
	// maxEntries bounds the number of an entry that is looked for, whoever has written it.
	maxEntries = 1000
)

func isDeny(webhook string) bool {
	return strings.HasPrefix(webhook, denyPrefix) && strings.HasSuffix(webhook, entrySuffix)
}

func crdsConfiguration() *configuration {
	return &configuration{kind: "ValidatingWebhookConfiguration", name: CRDsConfiguration, blank: &admissionregistrationv1.ValidatingWebhookConfiguration{}}
}

// requirementsConfigured is the configuration through which requirements are checked themselves.
func requirementsConfigured() *configuration {
	return &configuration{
		kind: "ValidatingWebhookConfiguration", name: RequirementsConfiguration, blank: &admissionregistrationv1.ValidatingWebhookConfiguration{},
		hooks: []hook{{
			name: requirementsHook, path: paths.Requirements, denies: true,
			rules: rules(requirementsv1alpha1.GroupName, requirementsv1alpha1.GroupVersion.Version, "compatibilityrequirements", admissionregistrationv1.Create, admissionregistrationv1.Update),
			conditions: []admissionregistrationv1.MatchCondition{
				{Name: terminatingSkip, Expression: crdschema.NotTerminating}, {Name: specSkip, Expression: newSpec},
			},
		}},
	}
}

func rules(group, version, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{
		APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}, Scope: ptr.To(admissionregistrationv1.ClusterScope),
	}}}
}

// StateOf is the state that a requirement's record names, empty if there is none.
func StateOf(r *requirementsv1alpha1.CompatibilityRequirement) machine.State {
	if c := meta.FindStatusCondition(r.Status.Conditions, StateCondition); c != nil {
		return machine.State(c.Reason)
	}
	return ""
}

// asked are the definitions that requirements are about, and whether writes of each are denied: by one that denies and is
// not open. All others warn. One whose spec is not known to be usable denies what it has denied before. A name that no data may
// have is not asked about, whoever has written it into a status.
func asked(all []requirementsv1alpha1.CompatibilityRequirement) map[string]bool {
	denied := map[string]bool{}
	for i := range all {
		r := &all[i]
		action := crdschema.Held(r).CRDs
		if name := r.Status.CRDName; name != "" && r.DeletionTimestamp == nil && action != "" && crdschema.Untargetable(name) == "" {
			denied[name] = denied[name] || action == requirementsv1alpha1.CRDAdmitActionDeny && StateOf(r) != Open
		}
	}
	return denied
}

// entries are the webhooks for the definitions that are asked about. A definition stays in the entry that it is in, so that
// an entry that refuses is never traded for one that does not yet.
func entries(denied map[string]bool, live *admissionregistrationv1.ValidatingWebhookConfiguration) []hook {
	var hooks []hook
	for _, kind := range []struct {
		prefix, path string
		denies       bool
	}{{denyPrefix, paths.CRDsDeny, true}, {warnPrefix, paths.CRDsWarn, false}} {
		wanted := map[string]bool{}
		for name, denies := range denied {
			if denies == kind.denies {
				wanted[name] = true
			}
		}
		for i, names := range placed(wanted, places(kind.prefix, live)) {
			if len(names) == 0 {
				continue
			}
			hooks = append(hooks, entry(entryName(kind.prefix, i), kind.path, kind.denies, names))
		}
	}
	return hooks
}

// entry is the webhook for these definitions.
func entry(name, path string, denies bool, names []string) hook {
	return hook{
		name: name, path: path, denies: denies,
		rules: rules(apiextensionsv1.GroupName, "v1", "customresourcedefinitions", admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete),
		conditions: []admissionregistrationv1.MatchCondition{
			{Name: terminatingSkip, Expression: crdschema.NotTerminating}, {Name: schemaSkip, Expression: newSchema()}, {Name: namesSkip, Expression: named(names)},
		},
	}
}

// isEntry says that a live webhook is the one for its definitions in all but the arming.
func (p *Phases) isEntry(live *admissionregistrationv1.ValidatingWebhook) bool {
	path := paths.CRDsWarn
	if isDeny(live.Name) {
		path = paths.CRDsDeny
	}
	h := entry(live.Name, path, isDeny(live.Name), namesIn(live.MatchConditions))
	h.policy, h.ca = ptr.Deref(live.FailurePolicy, admissionregistrationv1.Fail), live.ClientConfig.CABundle
	return equality.Semantic.DeepEqual(p.validating(h), *live)
}

func entryName(prefix string, i int) string { return fmt.Sprintf("%s%d%s", prefix, i, entrySuffix) }

// places are the names in the entries of one kind, each at the number of its entry.
func places(prefix string, live *admissionregistrationv1.ValidatingWebhookConfiguration) [][]string {
	if live == nil {
		return nil
	}
	var all [][]string
	for _, h := range live.Webhooks {
		middle, is := strings.CutPrefix(h.Name, prefix)
		number, ours := strings.CutSuffix(middle, entrySuffix)
		i, err := strconv.Atoi(number)
		if !is || !ours || err != nil || i < 0 || i > maxEntries {
			continue
		}
		for len(all) <= i {
			all = append(all, nil)
		}
		all[i] = namesIn(h.MatchConditions)
	}
	return all
}

// placed distributes names: each stays where it is, and a new one goes where there is room.
func placed(wanted map[string]bool, before [][]string) [][]string {
	left := maps.Clone(wanted)
	after := make([][]string, len(before))
	for i, old := range before {
		for _, name := range old {
			if left[name] && room(after[i]) >= takes(name) {
				after[i] = append(after[i], name)
				delete(left, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		i := slices.IndexFunc(after, func(names []string) bool { return room(names) >= takes(name) })
		if i < 0 {
			i = len(after)
			after = slices.Concat(after, [][]string{nil})
		}
		after[i] = append(after[i], name)
	}
	for i := range after {
		slices.Sort(after[i])
	}
	return after
}

// takes is how much of a condition a name takes, in bytes, with quotes and comma.
func takes(name string) int { return len(name) + 3 }

func room(names []string) int {
	left := maxNames
	for _, name := range names {
		left -= takes(name)
	}
	return left
}
