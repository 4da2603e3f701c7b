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
