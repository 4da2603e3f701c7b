package clusterapi_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("Trouble in keeping the previous revision does not hold up the next one:", func() {
	It("a foreign object in the way of what only the previous one has, for longer than five minutes", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one").with(configMap("goes", "one")))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		Expect(env.Client.Delete(ctx, configMap("goes", ""))).To(Succeed())
		Expect(env.Client.Create(ctx, configMap("goes", "foreign"), administrator)).To(Succeed())
		operator = operate(harness.OperatorOptions{SteeredClock: true})
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"),
			says(installerController+"Progressing", "True", "Progressing", "the current revision cannot be kept", "goes"))
		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		until(ctx, "the rollout to be given up", inState(harness.Degraded))
		free()
		installed(ctx, 2)
		Expect(setting(ctx, configMap("goes", ""))).To(Equal("foreign"))
	})

	It("an image of the previous one that is neither in the cache nor in the registry", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(g.operator.Stop()).To(Succeed())
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		lose(push(ctx, small("one"))["small"])
		g.restart()
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("an image of the previous one that is not mounted any more", func(ctx SpecContext) {
		const registry = "registry.example/provider@sha256:"
		one, two := registry+strings.Repeat("1", 64), registry+strings.Repeat("2", 64)
		dir := GinkgoT().TempDir()
		g := installMounted(ctx, (&pod{dir: dir}).mount("one", one, small("one").files()), one)
		Expect(g.operator.Stop()).To(Succeed())
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.operator = (&pod{dir: dir}).mount("two", two, small("two").files()).operate(ctx, "capstan-2", GinkgoT().TempDir())
		g.isReplaced(ctx, "two")
	})
})

var _ = Describe("An image that cannot be had", func() {
	It("holds up no revision if it is known to bring nothing for the platform, also with an empty cache", func(ctx SpecContext) {
		other := emptyProvider("other").on("VSphere").with(configMap("other", "one"))
		g := installSmall(ctx, other)
		until(ctx, "it to be told as not needed", func(v harness.View) error {
			if told := fmt.Sprint(detail(v)["images"]); !strings.Contains(told, "NotNeeded") {
				return fmt.Errorf("the images are told as %s", told)
			}
			return nil
		})
		Expect(g.operator.Stop()).To(Succeed())
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		next := push(ctx, other, small("two"))
		lose(next["other"])
		annotate(ctx, retryAnnotation, "while nobody runs")
		g.restart()
		until(ctx, "nothing to be wrong", fine, g.isCurrent)
		annotate(ctx, retryAnnotation, "while somebody runs")
		Expect(env.SetImages(ctx, next)).To(Succeed())
		g.isReplaced(ctx, "two")

		By("looking into it again when the registry has it")
		obey()
		annotate(ctx, retryAnnotation, "at last")
		until(ctx, "it to be told as not needed again", fine, func(v harness.View) error {
			if told := fmt.Sprint(detail(v)["images"]); !strings.Contains(told, "retry:at last") {
				return fmt.Errorf("the images are told as %s", told)
			}
			return nil
		})
	})

	It("does not end the keeping of components whose images are at hand", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		Expect(g.operator.Stop()).To(Succeed())
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		inventory := inventories(ctx)
		lose(push(ctx, newProvider("alpha"))["alpha"])
		g.restart()
		missing := told(revisionController, ephemeral, "synthetic/alpha@")
		until(ctx, "the error to be told", missing, g.isCurrent)
		g.isKept(ctx)
		v := until(ctx, "the rest to be told", missing, func(v harness.View) error { return current(v, 1) })
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(inventories(ctx)).To(Equal(inventory))
		uids(ctx, newProvider("alpha").objects...)

		obey()
		until(ctx, "nothing to be wrong", fine, g.isCurrent)
		objects, err := harness.Inventory(ctx, env.Client, 1)
		Expect(err).NotTo(HaveOccurred())
		Expect(objects).To(Equal(len(newProvider("alpha").objects) + len(small("one").objects)))
		release(ctx, small("two"), newProvider("alpha"))
		g.isReplaced(ctx, "two")
	})
})

// lose makes the registry have an image no more, until the spec ends or obey is called.
func lose(reference string) {
	_, digest, _ := strings.Cut(reference, "@")
	env.Registry.SetFault(func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, "/manifests/"+digest) {
			return http.StatusNotFound
		}
		return 0
	})
	DeferCleanup(obey)
}
