package policy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kadmission "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestCheck_anException_isForAKindOfItsGroup(t *testing.T) {
	const (
		secret = "{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: a}}"
		theirs = "{apiVersion: foo.cluster.x-k8s.io/v1, kind: Secret, metadata: {namespace: other, name: a}}"
		job    = "{apiVersion: batch/v1, kind: Job, metadata: {namespace: other, name: a}, spec: {template: {spec: {}}}}"
	)
	wall := second(t, "capstan-exceptions")
	for _, row := range []struct {
		text, object string
		covers       bool
	}{
		{secret, "Secret other/a", true},
		{theirs, "Secret other/a", false},
		{theirs, "Secret.foo.cluster.x-k8s.io other/a", true},
		{theirs, "Secret.cluster.x-k8s.io other/a", false},
		{job, "Job other/a", true},
		{job, "Job.batch other/a", true},
	} {
		p := providers
		p.Exceptions = []policy.Exception{{Name: "a", Reason: "b", Image: image, Rule: "namespace", Object: row.object}}
		if got := broken(t, p, row.text); (len(got) == 0) != row.covers {
			t.Errorf("%s: %s breaks %q", row.object, row.text, got)
		}
		o := managed(parse(t, row.text)[0])
		labels := o.GetLabels()
		labels[policy.ExceptedLabel] = "namespace"
		o.SetLabels(labels)
		answers, err := wall.Ask(t.Context(), admissiontest.Request{
			Operation: kadmission.Create, Object: o, Params: &corev1.ConfigMap{Data: map[string]string{"a": "rule: namespace\nobject: " + row.object}},
		})
		if err != nil || len(answers) != 1 || (answers[0].Refused == "") != row.covers || strings.HasPrefix(answers[0].Refused, "error") {
			t.Errorf("%s: %s: the second wall says %+v, %v", row.object, row.text, answers, err)
		}
	}
}

func TestParseExceptions_refuses_what_could_never_cover_anything(t *testing.T) {
	const object, ref = "ClusterRole manager", "registry.example:5000/capi/metal"
	for name, row := range map[string]struct{ image, object, want string }{
		"as the refusal names it":        {ref, object, ""},
		"with namespace and group":       {"metal", "Thing.example.org capi/a", ""},
		"by digest":                      {ref + "@sha256:" + strings.Repeat("0a", 32), object, ""},
		"an object with its version":     {ref, "rbac.authorization.k8s.io/v1 " + object, "is not of the form"},
		"a version for the kind":         {ref, "v1/Secret other/a", "is not of the form"},
		"two spaces before the object":   {ref, " " + object, "is not of the form"},
		"two spaces within it":           {ref, "ClusterRole  manager", "is not of the form"},
		"an object without its kind":     {ref, "manager", "is not of the form"},
		"an image by tag":                {ref + ":v1", object, "neither a repository nor"},
		"an image by tag and digest":     {ref + ":v1@sha256:" + strings.Repeat("0a", 32), object, "neither a repository nor"},
		"an image by half a digest":      {ref + "@sha256:0a0a", object, "neither a repository nor"},
		"an image with a scheme":         {"docker://" + ref, object, "neither a repository nor"},
		"two spaces before the image":    {" " + ref, object, "neither a repository nor"},
		"a registry that has a port too": {"localhost:5000/metal", object, ""},
	} {
		_, err := policy.ParseExceptions(map[string]string{"mine": "reason: a\nimage: " + row.image + "\nrule: permission\nobject: " + row.object + "\n"})
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", name, err, row.want)
		}
	}
}

func TestCheck_says_of_an_exception_that_nearly_fits_what_it_is_for(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: a}}"
	repository, _, _ := strings.Cut(image, "@")
	for want, e := range map[string]policy.Exception{
		"exception mine is for image mirror.example/a, not for this one":         {Image: "mirror.example/a", Rule: "namespace", Object: "Secret other/a"},
		"exception mine is for rule kind, not for this one":                      {Image: repository, Rule: "kind", Object: "Secret other/a"},
		"exception mine is for Secret other/b, which this profile does not have": {Image: repository, Rule: "namespace", Object: "Secret other/b"},
		"": {Image: "mirror.example/a", Rule: "namespace", Object: "Secret other/b"},
	} {
		p := providers
		e.Name = "mine"
		p.Exceptions = []policy.Exception{e, e, e}
		why := p.Check(image, parse(t, secret))[0].Breaches[0].Why
		if !strings.HasSuffix(why, want) || want == "" && strings.Contains(why, "exception") || strings.Count(why, "exception") > 2 {
			t.Errorf("it says %q, want %q", why, want)
		}
	}
}
