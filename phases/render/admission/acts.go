package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/capstan-capi/capstan/phases/acts"
)

// acts guards what people ask of the operator by annotations of the ClusterAPI: who may, that nobody says to be somebody
// else, and what an act looks like. The operator reads them once more, and more strictly. The spec is held to the right to update: who may
// patch for the sake of an act, as those may who have ClusterRole capstan-operate, may no more than that.
func (i Installation) acts() bound {
	b := bound{
		name: acts.Policy,
		description: "Lets only who has the verbs pause, pin, adopt and consent on ClusterAPI cluster set, change or remove the annotations by which " +
			"Capstan is paused, pinned, given objects and consented to; whoever sets one is named by it, and it is within its limits. Lets only who has the verb update change the spec, owners and finalizers.",
		match: matching(nil, rule([]string{"operator.openshift.io"}, []string{"clusterapis"},
			admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete)),
		conditions: []admissionregistrationv1.MatchCondition{{
			Name:       "an-act-is-new-or-gone",
			Expression: fmt.Sprintf("%s.exists(a, %s != %s) ||\n%s", annotationsOf(annotated(acts.Forms)), annotation("object", "a"), annotation("oldObject", "a"), moreThanMarks),
		}},
		validations: []admissionregistrationv1.Validation{{
			Expression:        fmt.Sprintf("!(%s) ||\n%s", moreThanMarks, mayDo("update")),
			MessageExpression: quoted("changing the spec, owners or finalizers of ClusterAPI cluster takes the verb update on it, which patch alone is not; see docs/threat-model.md"),
		}},
	}
	var verbs []string
	for _, form := range acts.Forms {
		if !slices.Contains(verbs, form.Verb) {
			verbs = append(verbs, form.Verb)
			b.validations = append(b.validations, mayAct(form.Verb))
		}
		b.variables = append(b.variables, variable(camel(form.Name), fmt.Sprintf("%s.split('\\n')", annotation("object", quoted(acts.Annotation(form.Name))))))
		b.validations = append(b.validations, isWhole(form))
	}
	return b
}

// mayAct asks whether the user has a verb, if an act that takes it is another one than before.
func mayAct(verb string) admissionregistrationv1.Validation {
	keys := annotated(slices.DeleteFunc(slices.Clone(acts.Forms), func(f acts.Form) bool { return f.Verb != verb }))
	var names []string
	for _, key := range keys {
		_, name, _ := strings.Cut(key, "/")
		names = append(names, name)
	}
	return admissionregistrationv1.Validation{
		Expression: fmt.Sprintf("!%s.exists(a, %s != %s) ||\n%s", annotationsOf(keys), annotation("object", "a"), annotation("oldObject", "a"), mayDo(verb)),
		MessageExpression: quoted(fmt.Sprintf("setting, changing or removing %s takes the verb %s on clusterapis.operator.openshift.io cluster; see docs/threat-model.md",
			strings.Join(names, " or "), verb)),
	}
}

// moreThanMarks says that a request changes what ClusterAPI is asked to be, or what lets it go or keeps it: whoever may set an owner has the
// garbage collector delete it.
const moreThanMarks = "request.operation == 'UPDATE' && (object.?spec != oldObject.?spec ||\n" +
	"  object.metadata.?ownerReferences != oldObject.metadata.?ownerReferences || object.metadata.?finalizers != oldObject.metadata.?finalizers)"

// mayDo asks whether the user has a verb on the ClusterAPI.
func mayDo(verb string) string {
	return fmt.Sprintf("authorizer.group('operator.openshift.io').resource('clusterapis').name('cluster').check('%s').allowed()", verb)
}

// aTime is how a moment is written.
const aTime = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"

// isWhole says that an act that is new has the form and the limits that the operator reads, and names who asks.
func isWhole(form acts.Form) admissionregistrationv1.Validation {
	key := quoted(acts.Annotation(form.Name))
	holds := []string{
		fmt.Sprintf("bytes(%s).size() <= %d", annotation("object", key), acts.MaxBytes),
		fmt.Sprintf("$lines.all(l, bytes(l).size() <= %d && !l.matches(%s))", acts.MaxLine, "r"+quoted(acts.Unprintable)),
		"$lines[0] == 'by: ' + request.userInfo.username",
		fmt.Sprintf("$lines[1].matches('^at: %s$')", aTime),
	}
	timed := append(slices.Clone(holds), endsInTime(form), itemsFrom(4, form, false))
	endless := append(slices.Clone(holds), "$lines[2].startsWith('reason: ')", itemsFrom(3, form, true))
	var either []string
	if form.Longest > 0 {
		either = append(either, strings.Join(timed, " &&\n  "))
	}
	if form.Longest == 0 || slices.ContainsFunc(form.Items, func(i acts.Item) bool { return i.Instead }) {
		either = append(either, strings.Join(endless, " &&\n  "))
	}
	return admissionregistrationv1.Validation{
		Expression: strings.ReplaceAll(fmt.Sprintf("%s in ['', %s] ||\n  %s", annotation("object", key), annotation("oldObject", key), strings.Join(either, " ||\n  ")),
			"$lines", "variables."+camel(form.Name)),
		MessageExpression: fmt.Sprintf("%s + request.userInfo.username + %s",
			quoted("annotation "+acts.Annotation(form.Name)+" is not an act of "), quoted(" within its limits; capstan writes it, and docs/acts.md says what is in it")),
	}
}

// endsInTime says that an act ends, and soon enough.
func endsInTime(form acts.Form) string {
	lasts := "timestamp($lines[2].substring(7)) - timestamp($lines[1].substring(4))"
	return fmt.Sprintf("$lines[2].matches('^until: %s$') &&\n  %s > duration('0s') &&\n  %s <= duration('%ds') &&\n  $lines[3].startsWith('reason: ')",
		aTime, lasts, lasts, int(form.Longest.Seconds()))
}

// itemsFrom says that from a line on there are the items of a form; instead with the one that stands in place of an end.
func itemsFrom(line int, form acts.Form, instead bool) string {
	var holds []string
	for _, item := range form.Items {
		pattern := quoted(fmt.Sprintf("^%s: (%s)$", item.Key, item.Pattern))
		switch {
		case item.Instead && !(instead && form.Longest > 0):
		case item.Once:
			holds = append(holds, fmt.Sprintf("$lines[%d].matches(%s)", line, pattern))
			line++
		default:
			holds = append(holds, fmt.Sprintf("$lines.size() > %d && $lines.size() - %d <= %d && $lines.filter(l, l.matches(%s)).size() == $lines.size() - %d",
				line, line, acts.MaxItems, pattern, line))
			return strings.Join(holds, " &&\n  ")
		}
	}
	return strings.Join(append([]string{fmt.Sprintf("$lines.size() == %d", line)}, holds...), " &&\n  ")
}

// annotation is what an annotation of an object says, empty if there is none or no object.
func annotation(object, key string) string {
	return fmt.Sprintf("(%s == null ? '' : %s.metadata.?annotations[?%s].orValue(''))", object, object, key)
}

// annotated are the annotations of acts.
func annotated(forms []acts.Form) (keys []string) {
	for _, form := range forms {
		keys = append(keys, acts.Annotation(form.Name))
	}
	return keys
}

// annotationsOf is a list of annotations.
func annotationsOf(keys []string) string {
	var words []string
	for _, key := range keys {
		words = append(words, quoted(key))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// camel is the name of an act as a variable has it.
func camel(name string) string {
	first, rest, _ := strings.Cut(name, "-")
	if rest == "" {
		return first
	}
	return first + camel(strings.ToUpper(rest[:1])+rest[1:])
}
