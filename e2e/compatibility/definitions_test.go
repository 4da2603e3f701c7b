package compatibility_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replaced is the schema with one text in place of another.
func replaced(old, now string) string {
	GinkgoHelper()
	Expect(schema).To(ContainSubstring(old))
	return strings.Replace(schema, old, now, 1)
}

// unserved has a second version not served any more.
func unserved(d *definition) { d.Spec.Versions[1].Served = false }

// scaled gives the first version a subresource scale.
func scaled(d *definition) {
	d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.weight"}
}

// calls finds in the API server's metrics how often it asked a webhook of definitions.
var calls = regexp.MustCompile(`(?m)^apiserver_admission_webhook_request_total\{[^}]*name="[a-z]+-[0-9]+\.crds\.capstan\.openshift\.io".*$`)

// called is how often the API server has asked the checker about definitions, as its metrics tell.
func called(ctx context.Context) []string {
	GinkgoHelper()
	found := calls.FindAllString(metrics(ctx), -1)
	Expect(found).NotTo(BeEmpty())
	return found
}

// metrics are those of the API server.
func metrics(ctx context.Context) string {
	GinkgoHelper()
	config := env.Cluster.Config()
	asker, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/metrics", http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := asker.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// refuses is the error with which a requirement answers.
func refuses(r *requirement, text string) types.GomegaMatcher {
	return MatchError(And(ContainSubstring("CompatibilityRequirement "+r.Name+": "), ContainSubstring(text)))
}

var _ = Describe("Definitions", func() {
	It("keep the fields that a requirement needs under Deny", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny)))
		for path, changed := range map[string]string{
			"spec.color": without("color:"), "spec.lid": without("lid:"),
			"spec.lid.hinge":      replaced("{hinge: {type: string}}", "{pin: {type: string}}"),
			"spec.slots[*].label": replaced("{label: {type: string}}", "{name: {type: string}}"),
			"spec.tags{*}.text":   replaced("{text: {type: string}}", "{name: {type: string}}"),
		} {
			err := k.write(ctx, env.Client, k.definition(changed))
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%s: %v", path, err)
			Expect(err).To(refuses(r, "v1: "+path+" is missing"))
		}
	})

	It("are warned of under Warn", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(warn)))
		Expect(k.write(ctx, a, k.definition(without("color:")))).To(Succeed())
		Expect(a.warned()).To(ConsistOf("CompatibilityRequirement " + r.Name + ": v1: spec.color is missing"))
	})

	It("pass in silence without a block, which the requirement tells", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema)))
		Expect(k.write(ctx, a, k.definition(without("color:")))).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
		told(ctx, r, "Compatible", "False", "RequirementsNotMet", "v1: spec.color is missing")
	})

	It("keep all versions that AllServed selects", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		both := k.definition(schema, version("v2", schema))
		k.establish(ctx, both)
		r := inForce(ctx, k.requirement(both, crds(deny), allServed))
		Expect(k.write(ctx, env.Client, k.definition(schema))).To(refuses(r, "v2: the version is missing"))
		Expect(k.write(ctx, env.Client, k.definition(schema, version("v2", schema), unserved))).To(refuses(r, "v2: the version is not served"))
	})

	It("may drop versions that StorageOnly leaves out, unless they are additional", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		both := k.definition(schema, version("v2", schema))
		k.establish(ctx, both)
		r := inForce(ctx, k.requirement(both, crds(deny)))
		Expect(k.write(ctx, a, k.definition(schema), client.DryRunAll)).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
		Expect(change(ctx, r, also("v2"))).To(Succeed())
		admitted(ctx, r)
		Expect(k.write(ctx, a, k.definition(schema))).To(refuses(r, "v2: the version is missing"))
	})

	It("may drop a field that is excluded", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), excludes("spec.lid", "v1"), excludes("spec.slots.label", "v1")))
		changed := strings.Replace(without("lid:"), "{label: {type: string}}", "{name: {type: string}}", 1)
		Expect(k.write(ctx, a, k.definition(changed))).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
		generation := k.live(ctx).Generation
		eventually(ctx, "the definition to be compared", func(ctx context.Context) error {
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(r), r); err != nil {
				return err
			}
			return unless(r.Status.ObservedCRD.Generation == generation, "it is not")
		})
		told(ctx, r, "Compatible", "True", "Compatible")
	})

	It("are judged by section 4: what is missing, what warns, and what is neither", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		whole := func(changed string, changes ...func(*definition)) *definition {
			return k.definition(changed, append([]func(*definition){version("v2", schema), version("v3", schema), scaled}, changes...)...)
		}
		k.establish(ctx, whole(schema))
		r := inForce(ctx, k.requirement(whole(schema), crds(deny), also("v2")))
		for text, d := range map[string]*definition{
			"v2: the version is missing":            k.definition(schema, scaled),
			"v2: the version is not served":         whole(schema, unserved),
			"v1: the status subresource is missing": whole(schema, func(d *definition) { d.Spec.Versions[0].Subresources.Status = nil }),
			"v1: the scale subresource is missing":  whole(schema, func(d *definition) { d.Spec.Versions[0].Subresources.Scale = nil }),
			"v1: spec.color is missing":             whole(without("color:")),
		} {
			Expect(k.write(ctx, a, d, client.DryRunAll)).To(refuses(r, text))
		}
		a.warned()
		warned := map[string]*definition{
			"the type changed from string to integer": whole(replaced("color: {type: string, enum: [red, blue]}", "color: {type: integer}")),
			"v1: spec.new: is required":               whole(replaced("required: [size]\n    properties:\n", "required: [size, new]\n    properties:\n      new: {type: string}\n")),
			"v1: spec.lid.hinge: is only preserved":   whole(replaced("properties: {hinge: {type: string}}", "x-kubernetes-preserve-unknown-fields: true")),
			"v1: spec.lid: the type of the object":    whole(replaced("lid: {type: object,", "lid: {type: object, x-kubernetes-map-type: atomic,")),
			"the storage version is v2, and not v1":   whole(schema, func(d *definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true }),
		}
		// A list without a type is atomic.
		warned["v1: spec.slots: the type of the array changed"] = whole(strings.Replace(
			replaced("slots: {type: array,", "slots: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [label],"),
			"properties: {label:", "required: [label], properties: {label:", 1))
		for text, d := range warned {
			Expect(k.write(ctx, a, d, client.DryRunAll)).To(Succeed(), text)
			Expect(a.warned()).To(ConsistOf(And(HavePrefix("CompatibilityRequirement "+r.Name+": "), ContainSubstring(text))))
		}
		for what, d := range map[string]*definition{
			"a field more":          whole(replaced("      color:", "      more: {type: string}\n      color:")),
			"tighter":               whole(replaced("maximum: 9}\n      color", "maximum: 5}\n      color")),
			"looser":                whole(replaced("enum: [red, blue]", "maxLength: 99")),
			"arranged otherwise":    whole(replaced("size: {type: integer, maximum: 9}", "size: {type: integer, allOf: [{maximum: 9}]}")),
			"required, but default": whole(replaced("required: [size]\n    properties:\n", "required: [size, new]\n    properties:\n      new: {type: string, default: x}\n")),
			"an unselected version": k.definition(schema, version("v2", schema), scaled),
		} {
			Expect(k.write(ctx, a, d, client.DryRunAll)).To(Succeed(), what)
			Expect(a.warned()).To(BeEmpty(), what)
		}
		Expect(k.write(ctx, a, warned["the type changed from string to integer"])).To(Succeed())
		told(ctx, r, "Compatible", "True", "CompatibleWithWarnings", "v1: spec.color: the type changed from string to integer")
	})

	It("are warned of when they do not preserve any more what they do not know", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		needed := k.definition(replaced("lid: {type: object,", "lid: {type: object, x-kubernetes-preserve-unknown-fields: true,"))
		k.establish(ctx, needed)
		r := inForce(ctx, k.requirement(needed, crds(deny)))
		Expect(k.write(ctx, a, k.definition(schema))).To(Succeed())
		Expect(a.warned()).To(ConsistOf("CompatibilityRequirement " + r.Name + ": v1: spec.lid: unknown fields are not preserved"))
		told(ctx, r, "Compatible", "True", "CompatibleWithWarnings", "spec.lid: unknown fields are not preserved")
	})

	It("keep kind and scope also where the API server lets them change, as it does before they are established", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		// Its kind is taken.
		late := k.definition(schema)
		late.Name, late.Spec.Names.Plural = "crates."+k.group, "crates"
		r := inForce(ctx, k.requirement(late, crds(deny)))
		Expect(env.Client.Create(ctx, late)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, r.DeepCopy()))).To(Succeed())
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, late))).To(Succeed())
		})
		for text, patch := range map[string]string{
			"the kind is not Box":         `{"spec":{"names":{"kind":"Crate","listKind":"CrateList","singular":"crate"}}}`,
			"the scope is not Namespaced": `{"spec":{"scope":"Cluster"}}`,
		} {
			Expect(env.Client.Patch(ctx, late.DeepCopy(), client.RawPatch(apitypes.MergePatchType, []byte(patch)))).To(refuses(r, text))
		}
	})

	It("are judged when they are made after the requirement", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny)))
		told(ctx, r, "Compatible", "False", "CRDNotFound", k.name())
		Expect(env.Client.Create(ctx, k.definition(without("color:")))).To(refuses(r, "v1: spec.color is missing"))
		Expect(env.Client.Create(ctx, k.definition(schema, func(d *definition) { d.Spec.Names.Kind = "Crate" }))).To(refuses(r, "the kind is not Box"))
		Expect(env.Client.Create(ctx, k.definition(schema, func(d *definition) { d.Spec.Scope = apiextensionsv1.ClusterScoped }))).To(refuses(r, "the scope is not Namespaced"))
		k.establish(ctx, k.definition(schema))
		told(ctx, r, "Compatible", "True", "Compatible")
		Expect(env.Client.Delete(ctx, r)).To(Succeed(), "the definition goes with the spec")
	})

	It("that lacked something before are not refused for it, but for more", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(without("color:")))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny)))
		told(ctx, r, "State", "True", "Unmet", "spec.color is missing")
		live := k.live(ctx)
		Expect(env.Client.Update(ctx, live)).To(Succeed(), "nothing changes")
		live.Labels = map[string]string{"a": "b"}
		Expect(env.Client.Update(ctx, live)).To(Succeed())
		live.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/"), CABundle: env.Cluster.Config().CAData},
		}}
		Expect(env.Client.Update(ctx, live)).To(Succeed())
		Expect(k.write(ctx, env.Client, k.definition(strings.Replace(without("lid:"), "enum: [red, blue]", "minLength: 1", 1)))).To(refuses(r, "spec.lid is missing"))
		Expect(k.write(ctx, env.Client, k.definition(schema))).To(Succeed())
		told(ctx, r, "State", "True", "Met")
	})

	It("are deleted only when no requirement denies it", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		d := k.definition(schema)
		k.establish(ctx, d)
		inForce(ctx, k.requirement(d))
		one, two, warns := k.requirement(d, crds(deny)), k.requirement(d, crds(deny)), k.requirement(d, crds(warn))
		for _, r := range []*requirement{require(ctx, one), require(ctx, two), require(ctx, warns)} {
			admitted(ctx, r)
		}
		Expect(a.Delete(ctx, d.DeepCopy())).To(And(refuses(one, "needs "+k.name()), refuses(two, "needs "+k.name())))
		Expect(a.DeleteAllOf(ctx, &definition{}, client.MatchingFields{"metadata.name": k.name()})).To(refuses(one, "needs "+k.name()))
		a.warned()
		Expect(env.Client.Delete(ctx, one)).To(Succeed())
		Expect(a.Delete(ctx, d.DeepCopy())).To(refuses(two, "needs "+k.name()))
		a.warned()
		Expect(env.Client.Delete(ctx, two)).To(Succeed())
		Expect(a.Delete(ctx, d.DeepCopy(), client.DryRunAll)).To(Succeed())
		Expect(a.warned()).To(ConsistOf(ContainSubstring("CompatibilityRequirement " + warns.Name + ": needs " + k.name())))
		Expect(env.Client.Delete(ctx, warns)).To(Succeed())
		Expect(a.Delete(ctx, d.DeepCopy())).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
	})

	It("are refused a hundred times out of a hundred once the requirement is admitted", func(ctx SpecContext) {
		shared(ctx)
		k, other := newKind(), newKind()
		k.establish(ctx, k.definition(schema))
		other.establish(ctx, other.definition(schema))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny)))
		told(ctx, r, "Admitted", "True", "Admitted")
		broken := k.live(ctx)
		broken.Spec.Versions = k.definition(without("color:")).Spec.Versions
		for range 100 {
			Expect(env.Client.Update(ctx, broken.DeepCopy())).To(refuses(r, "v1: spec.color is missing"))
		}
		before := called(ctx)
		Expect(other.write(ctx, env.Client, other.definition(without("color:")))).To(Succeed())
		Expect(called(ctx)).To(Equal(before), "a definition that nobody asks about is not sent")
	})
})

var _ = Describe("A definition that API servers store and nobody judges", func() {
	It("is told of, and may become smaller", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(laxer, func(d *definition) {
			inside := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
			for i := range 4_000 {
				inside.Properties[fmt.Sprint("f", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
			}
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[strings.Repeat("x", 5_000)] = inside
		}))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		told(ctx, r, "Progressing", "True", "TransientError", "CRD "+k.name()+" is too large to be judged: ", "the paths of all")
		eventually(ctx, "its webhooks to be armed all the same", func(ctx context.Context) error {
			refusal := env.Client.Create(ctx, k.box("a", "{size: 1, color: green}"), client.DryRunAll)
			return unless(apierrors.IsInvalid(refusal) && strings.Contains(refusal.Error(), "CompatibilityRequirement "+r.Name), "it is not refused by the checker")
		})
		Expect(k.write(ctx, env.Client, k.definition(schema))).To(Succeed())
		told(ctx, r, "Compatible", "True", "Compatible")
		admitted(ctx, r)
	})
})
