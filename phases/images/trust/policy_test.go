package trust_test

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/phases/images/trust"
	"github.com/capstan-capi/capstan/phases/images/trust/trusttest"
)

func TestPolicies_of_an_image(t *testing.T) {
	key := byKey(trusttest.NewKey())
	policy := func(name string, all ...configv1.ImageScope) trust.Policy {
		return trust.Policy{From: name, Scopes: all, Asks: key}
	}
	own := func(name string, all ...configv1.ImageScope) trust.Policy {
		return trust.Policy{From: name, Namespaced: true, Scopes: all, Asks: key}
	}
	image := "registry.test:5000/product/provider@" + digest(manifest)
	for name, c := range map[string]struct {
		all  trust.Policies
		want string // nothing: nothing is asked
	}{
		"none":                            {nil, ""},
		"a host":                          {trust.Policies{policy("a", "registry.test:5000")}, "a (scope registry.test:5000)"},
		"the host without its port":       {trust.Policies{policy("a", "registry.test")}, ""},
		"all hosts under one":             {trust.Policies{policy("a", "*.test")}, "a (scope *.test)"},
		"half of a folder's name":         {trust.Policies{policy("a", "registry.test:5000/prod")}, ""},
		"another image of the repository": {trust.Policies{policy("a", configv1.ImageScope(repository+"@"+digest([]byte("other"))))}, ""},
		"this very image":                 {trust.Policies{policy("a", configv1.ImageScope(image))}, "a (scope " + image + ")"},
		"the most specific one": {
			trust.Policies{policy("a", "*.test", "registry.test:5000"), policy("b", "registry.test:5000/product"), policy("c", "registry.test:5000")},
			"b (scope registry.test:5000/product)",
		},
		"all of the same scope": {
			trust.Policies{policy("a", repository), policy("b", "*.test", repository)}, "a, b (scope " + repository + ")",
		},
		"a namespaced one alone":                   {trust.Policies{own("a", repository)}, "a (scope " + repository + ")"},
		"a namespaced one nested in the cluster's": {trust.Policies{policy("a", "*.test"), own("b", repository)}, "a (scope *.test)"},
		"a namespaced one equal to the cluster's":  {trust.Policies{own("a", repository), policy("b", repository)}, "b (scope " + repository + ")"},
		"a namespaced one that is wider":           {trust.Policies{own("a", "registry.test:5000"), policy("b", repository)}, "b (scope " + repository + ")"},
		"a namespaced one, and others elsewhere":   {trust.Policies{own("a", "registry.test:5000"), policy("b", "other.test")}, "a (scope registry.test:5000)"},
	} {
		rule, err := c.all.Of(image)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := describe(rule); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func describe(rule *trust.Rule) string {
	if rule == nil {
		return ""
	}
	return rule.String()
}

func TestPolicies_refuse_an_image_whose_name_they_cannot_be_applied_to(t *testing.T) {
	image := "registry/provider@" + digest(manifest)
	if rule, err := (trust.Policies{}).Of(image); rule != nil || err != nil {
		t.Errorf("without policies: %v, %v", rule, err)
	}
	_, err := (trust.Policies{{From: "a", Scopes: scopes("other.test"), Asks: byKey(trusttest.NewKey())}}).Of(image)
	refuses(t, image, err, "full name")
}

func TestRule_has_another_ID_when_something_else_is_asked(t *testing.T) {
	one, two := byKey(trusttest.NewKey()), byKey(trusttest.NewKey())
	id := func(from string, asks configv1.ImageSigstoreVerificationPolicy) string {
		rule, err := (trust.Policies{{From: from, Scopes: scopes(repository), Asks: asks}}).Of(repository + "@" + digest(manifest))
		if err != nil {
			t.Fatal(err)
		}
		return rule.ID
	}
	if id("a", one) != id("b", one) || id("a", one) == id("a", two) {
		t.Errorf("%s %s %s", id("a", one), id("b", one), id("a", two))
	}
}
