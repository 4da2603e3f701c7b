package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

type (
	requirement = requirementsv1alpha1.CompatibilityRequirement
	validating  = admissionregistrationv1.ValidatingWebhookConfiguration
	mutating    = admissionregistrationv1.MutatingWebhookConfiguration
)

// The one requirement of the matrix of compatibility, and the definition that it is about.
const (
	need  = "need"
	boxes = "boxes.faults.example.com"
)

// boxDefinition is the definition of boxes, with the lines of spec's properties.
func boxDefinition(properties string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: faults.example.com
  scope: Namespaced
  names: {plural: boxes, singular: box, kind: Box, listKind: BoxList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}
`, boxes, properties)
}

// What is needed of boxes, and what there is of them: all of it, and more sizes; not the lid; and not the colour either.
const (
	neededBox  = "size: {type: integer, maximum: 9}, colour: {type: string}, lid: {type: string}"
	fittingBox = "size: {type: integer}, colour: {type: string}, lid: {type: string}"
	lidlessBox = "size: {type: integer}, colour: {type: string}"
	brokenBox  = "size: {type: integer}"
)

// defineBoxes creates the definition of boxes, or gives it other fields; the checker may be asked.
func defineBoxes(ctx context.Context, properties string, options ...client.UpdateOption) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		wanted, found := parsed(boxDefinition(properties)), parsed(boxDefinition(properties))
		switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(found), found); {
		case apierrors.IsNotFound(err):
			return env.Client.Create(ctx, wanted)
		case err != nil:
			return err
		}
		found.Object["spec"] = wanted.Object["spec"]
		return env.Client.Update(ctx, found, options...)
	})
}

// newNeed is the requirement, which denies what breaks it.
func newNeed() *requirement {
	r := &requirement{ObjectMeta: metav1.ObjectMeta{Name: need}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: boxDefinition(neededBox)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = requirementsv1alpha1.CRDAdmitActionDeny
	r.Spec.ObjectSchemaValidation.Action = requirementsv1alpha1.CRDAdmitActionDeny
	return r
}

// giveData gives the requirement other data.
func giveData(ctx context.Context, data string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		r := &requirement{}
		if err := env.Client.Get(ctx, client.ObjectKey{Name: need}, r); err != nil {
			return err
		}
		r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = data
		return env.Client.Update(ctx, r)
	})
}

// needView is what an administrator sees of the requirement.
type needView struct {
	*requirement
	record harness.Record
}

// seeNeed reads the requirement. One without a record is an error.
func seeNeed(ctx context.Context) (needView, error) {
	v := needView{requirement: &requirement{}}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: need}, v.requirement); err != nil {
		return v, err
	}
	stored := meta.FindStatusCondition(v.Status.Conditions, "Record")
	if stored == nil {
		return v, errors.New("it has no record")
	}
	return v, json.Unmarshal([]byte(stored.Message), &v.record)
}

// tells is nil when a condition says so, with texts in its message.
func (v needView) tells(kind, reason string, texts ...string) error {
	c := meta.FindStatusCondition(v.Status.Conditions, kind)
	if c == nil {
		return fmt.Errorf("it has no condition %s", kind)
	}
	if c.Reason != reason {
		return fmt.Errorf("%s is %s/%s: %s", kind, c.Status, c.Reason, c.Message)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return fmt.Errorf("%s says %s, and not %q", kind, c.Message, text)
		}
	}
	return nil
}

// untilNeed waits until the requirement satisfies a question.
func untilNeed(ctx context.Context, what string, question func(needView) error) (v needView) {
	GinkgoHelper()
	eventually(ctx, what, func(ctx context.Context) (err error) {
		if v, err = seeNeed(ctx); err == nil {
			err = question(v)
		}
		return err
	})
	return v
}

// inNeed is the question whether the requirement is in a state, and says so.
func inNeed(state string) func(needView) error {
	return func(v needView) error {
		if v.record.State != state {
			return fmt.Errorf("it is in %s: %s", v.record.State, v.record.Reason)
		}
		return v.tells("State", state)
	}
}

// hooksOf are the webhooks that matter to the requirement, without what differs from write to write.
func hooksOf(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, name := range []string{need, "capstan-crds", "capstan-requirements"} {
		o := &validating{}
		if err := client.IgnoreNotFound(env.Client.Get(ctx, client.ObjectKey{Name: name}, o)); err != nil {
			return "", err
		}
		fmt.Fprintln(&b, name, o.Labels, o.OwnerReferences)
		for i := range o.Webhooks {
			fmt.Fprintln(&b, o.Webhooks[i].String())
		}
	}
	o := &mutating{}
	if err := client.IgnoreNotFound(env.Client.Get(ctx, client.ObjectKey{Name: need}, o)); err != nil {
		return "", err
	}
	fmt.Fprintln(&b, need, o.Labels, o.OwnerReferences)
	for i := range o.Webhooks {
		fmt.Fprintln(&b, o.Webhooks[i].String())
	}
	return generations.ReplaceAllString(b.String(), "$1/N"), nil
}

// generations are those of the requirement in the paths at which the checker is asked: another one with each change of its spec.
var generations = regexp.MustCompile(`(/(?:objects|prune)/` + need + `/[0-9a-f-]+)/\d+`)

// editHooks changes a configuration once; the operator may write at the same time.
func editHooks[T client.Object](ctx context.Context, name string, o T, change func(T)) {
	GinkgoHelper()
	eventually(ctx, "editing "+name, func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
			return err
		}
		change(o)
		return env.Client.Update(ctx, o)
	})
}

// refusal is what API servers say of a write that the requirement denies: the checker's words, or that it does not answer.
func refusal(err error) error {
	switch {
	case err == nil:
		return errors.New("it is let through")
	case strings.Contains(err.Error(), "CompatibilityRequirement "+need), strings.Contains(err.Error(), "failed calling webhook"):
		return nil
	}
	return err
}

// breaks asks an API server, without effect, whether boxes may lose what is needed.
func breaks(ctx context.Context) error { return defineBoxes(ctx, brokenBox, client.DryRunAll) }

// bigBox asks an API server, without effect, for a box that the requirement does not allow.
func bigBox(ctx context.Context) error {
	box := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(10)}}}
	box.SetAPIVersion("faults.example.com/v1")
	box.SetKind("Box")
	box.SetNamespace(metav1.NamespaceDefault)
	box.SetName("big")
	return env.Client.Create(ctx, box, client.DryRunAll)
}

// refusesBreaks is nil when what the requirement denies is refused.
func refusesBreaks(ctx context.Context) error {
	return errors.Join(refusal(breaks(ctx)), refusal(bigBox(ctx)))
}

// letsPass is nil when nothing is refused.
func letsPass(ctx context.Context) error { return errors.Join(breaks(ctx), bigBox(ctx)) }
