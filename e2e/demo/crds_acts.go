package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// needed is the version that is stored and needed, and retired an older one, which nobody needs.
	needed, retired = "v1beta2", "v1beta1"
	// field is one that the user needs, and path how the checker names it.
	field, path = "topology", needed + ": spec." + field + " is missing"
	// silence is what an API server says where the checker would have to be asked and does not answer.
	silence = "failed calling webhook"
	// role is one that Capstan keeps.
	role = "capi-leader-election-role"
)

// requirement is the user's.
var requirement = types.NamespacedName{Name: "a-user-of-clusters"}

// need has a user state its need, and the adopter break it, and drop what nobody needs.
func (s *sharing) need(ctx context.Context) error {
	s.display.say("\nA user writes down that it needs what %s is today", shared)
	data, err := yaml.Marshal(s.definition)
	if err != nil {
		return fmt.Errorf("encoding what the user needs: %w", err)
	}
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: requirement.Name}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(data)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = requirementsv1alpha1.CRDAdmitActionDeny
	if err := s.stage.Client.Create(ctx, r, user); err != nil {
		return fmt.Errorf("creating CompatibilityRequirement %s: %w", r.Name, err)
	}
	if err := s.says(ctx, "Admitted"); err != nil {
		return err
	}
	if err := s.says(ctx, "Compatible"); err != nil {
		return err
	}
	if err := s.refused("the adopter drops spec."+field, s.change(ctx, breaking), "CompatibilityRequirement "+requirement.Name+": "+path); err != nil {
		return err
	}
	return s.passed("the adopter drops version "+retired+", which nobody needs", s.change(ctx, retiring))
}

// goOn kills the checker. What a requirement denies is refused, and all the rest goes on.
func (s *sharing) goOn(ctx context.Context) error {
	s.display.say("\nAll replicas of the checker are killed")
	for _, replica := range s.checkers {
		replica.Kill()
	}
	if err := s.refused("the adopter drops spec."+field, s.change(ctx, breaking), silence); err != nil {
		return err
	}
	labelling := func(live *apiextensionsv1.CustomResourceDefinition) {
		metav1.SetMetaDataLabel(&live.ObjectMeta, "demo.capstan.io/owner", "adopter")
	}
	if err := s.passed("the adopter labels the definition", s.change(ctx, labelling)); err != nil {
		return err
	}
	const other = "notes.demo.capstan.io"
	if err := s.passed("somebody makes another definition, "+other, s.stage.Client.Create(ctx, simple(other))); err != nil {
		return err
	}
	author, cluster, err := s.useClusterAPI(ctx)
	if err := s.passed("a user creates a Cluster", err); err != nil {
		return err
	}
	if err := s.passed("a user deletes it", author.Delete(ctx, cluster)); err != nil {
		return err
	}
	return s.repaired(ctx)
}

// repaired empties a Role that Capstan keeps, and waits until it is as it was.
func (s *sharing) repaired(ctx context.Context) error {
	kept := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: role}}
	emptying := client.RawPatch(types.MergePatchType, []byte(`{"rules":[]}`))
	if err := s.passed("somebody takes all rules out of Role "+role, s.stage.Client.Patch(ctx, kept, emptying, harness.Administrator)); err != nil {
		return err
	}
	err := s.soon(ctx, "the Role to be repaired", func(ctx context.Context) error {
		if err := s.stage.Client.Get(ctx, client.ObjectKeyFromObject(kept), kept); err != nil {
			return err
		}
		return unless(len(kept.Rules) > 0, "it has no rules")
	})
	if err == nil {
		s.display.step("Capstan has put them back")
	}
	return err
}

// comeBack starts a replica again.
func (s *sharing) comeBack(ctx context.Context) error {
	s.display.say("\nA replica of the checker comes back")
	if err := s.check(); err != nil {
		return err
	}
	err := s.soon(ctx, "the checker to answer", func(ctx context.Context) error {
		return unless(!strings.Contains(fmt.Sprint(s.change(ctx, breaking, client.DryRunAll)), silence), "it does not")
	})
	if err != nil {
		return err
	}
	return s.refused("the adopter drops spec."+field, s.change(ctx, breaking), path)
}

// breaking drops the field that is needed, in every version.
func breaking(live *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range live.Spec.Versions {
		delete(version.Schema.OpenAPIV3Schema.Properties["spec"].Properties, field)
	}
}

func retiring(live *apiextensionsv1.CustomResourceDefinition) {
	live.Spec.Versions = slices.DeleteFunc(live.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == retired })
}

// change has the adopter change the shared definition as it is.
func (s *sharing) change(ctx context.Context, change func(*apiextensionsv1.CustomResourceDefinition), options ...client.UpdateOption) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live, err := s.live(ctx)
		if err != nil {
			return err
		}
		change(live)
		return s.stage.Client.Update(ctx, live, append(options, adopter)...)
	})
}

// says waits until the requirement has a condition, and tells it.
func (s *sharing) says(ctx context.Context, kind string) error {
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	var found *metav1.Condition
	err := s.soon(ctx, "the requirement to say "+kind, func(ctx context.Context) error {
		if err := s.stage.Client.Get(ctx, requirement, r); err != nil {
			return err
		}
		found = meta.FindStatusCondition(r.Status.Conditions, kind)
		return unless(found != nil && found.Status == metav1.ConditionTrue, fmt.Sprint("it says ", found))
	})
	if err == nil {
		s.display.step("CompatibilityRequirement %s: %s=%s (%s)%s", r.Name, found.Type, found.Status, found.Reason, because(found.Message))
	}
	return err
}

// soon waits as long as an installation may take, and no longer than the operator runs.
func (d *demonstration) soon(ctx context.Context, what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, end := d.operator.Context(ctx)
	defer end()
	return harness.Eventually(ctx, what, attempt)
}

// refused tells a write that has to be refused with a text.
func (s *sharing) refused(what string, err error, text string) error {
	if err == nil {
		return fmt.Errorf("%s, and nobody refuses it", what)
	}
	if !strings.Contains(err.Error(), text) {
		return fmt.Errorf("%s, which is not refused with %q but: %w", what, text, err)
	}
	s.display.step("%s: refused", what)
	for line := range strings.Lines(err.Error()) {
		s.display.say("         %s", cut(strings.TrimSpace(line), answerWidth))
	}
	s.writes = append(s.writes, written{what, true, err.Error()})
	return nil
}

// answerWidth is how much of an answer is shown on a line.
const answerWidth = 180

// passed tells a write that has to pass.
func (s *sharing) passed(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s.display.step("%s: accepted", what)
	s.writes = append(s.writes, written{Write: what})
	return nil
}

// tell prints what was seen as a whole.
func (s *sharing) tell() {
	s.display.say("")
	table := tabwriter.NewWriter(s.display.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WRITE\tANSWER")
	for _, w := range s.writes {
		answer := "accepted"
		switch {
		case strings.Contains(w.Answer, silence):
			answer = "refused, because nobody answers for the requirement"
		case w.Refused:
			answer = "refused by the requirement"
		}
		fmt.Fprintf(table, "%s\t%s\n", w.Write, answer)
	}
	table.Flush()
	s.display.say("\nThe way through the state diagram: %s", pathOf(s.report.Transitions))
	s.display.say("The report is in %s", s.dir+"/"+reportFile)
}

// simple is a definition that nobody needs.
func simple(name string) *apiextensionsv1.CustomResourceDefinition {
	plural, group, _ := strings.Cut(name, ".")
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: "Note"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func unless(so bool, what string) error {
	if so {
		return nil
	}
	return errors.New(what)
}
