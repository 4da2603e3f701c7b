package privatecapi_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// metric sums a metric over the series whose labels have a text.
func (p *proxy) metric(ctx context.Context, name, labels string) float64 {
	GinkgoHelper()
	_, body, _, err := p.get(ctx, p.Health+"/metrics", nil)
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, line := range regexp.MustCompile(`(?m)^hypershift_api_proxy_`+name+`(?:\{.*`+labels+`.*\})? (\S+)$`).FindAllStringSubmatch(body, -1) {
		value, err := strconv.ParseFloat(line[1], 64)
		Expect(err).NotTo(HaveOccurred())
		sum += value
	}
	return sum
}

func asObject(of runtime.Object) (*unstructured.Unstructured, error) {
	if object, ok := of.(*unstructured.Unstructured); ok {
		return object, nil
	}
	return nil, fmt.Errorf("%T is no object", of)
}

var _ = Describe("What a proxy counts", func() {
	It("is there by the names that alerts and dashboards ask for", func(ctx SpecContext) {
		own := startProxy(ctx, plane.Kubeconfig())
		code, text, _, err := own.get(ctx, machines, map[string]string{"Accept": "application/json"})
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(200), text)
		code, text, _, err = own.send(ctx, "POST", "/apis/"+standard+"/"+version+"/namespaces/default/machines", "{", map[string]string{"Content-Type": "application/json"})
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(400), text)
		_, body, _, err := own.get(ctx, own.Health+"/metrics", nil)
		Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{
			`requests_total\{class="mapped",code="200",verb="list"\} 1`, `request_duration_seconds_count\{.*verb="list"\} 1`, `overhead_seconds_count\{class="mapped"\} [12]`,
			`translation_errors_total\{class="mapped",direction="to server"\} 1`, `open_watches 0`,
		} {
			Expect(body).To(MatchRegexp("(?m)^hypershift_api_proxy_" + name + "$"))
		}
	})
})
