package trust_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/images/trust"
	"github.com/capstan-capi/capstan/phases/images/trust/trusttest"
)

const bundle = "dev.sigstore.cosign/bundle"

// A bundle is made canonical before its signature is looked at, which takes time by the square of its keys.
func TestJudge_refuses_annotations_that_would_cost_much_to_judge(t *testing.T) {
	key, log := trusttest.NewKey(), trusttest.NewKey()
	asks := byKey(key)
	asks.RootOfTrust.PublicKey.RekorKeyData = log.Public()
	signed := func(name, value string) trust.Signature {
		s := key.Sign(tagged, digest(manifest))
		s.Annotations[name] = value
		return s
	}
	keys := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"%d":0`, i))
		}
		return `{"SignedEntryTimestamp":"","Payload":{` + strings.Join(all, ",") + `}}`
	}
	var full []trust.Signature
	for range 9 {
		full = append(full, signed("a", strings.Repeat("x", 30<<10)))
	}
	for name, c := range map[string]struct {
		signatures []trust.Signature
		says       string
	}{
		"large annotations":       {[]trust.Signature{signed("a", strings.Repeat("x", 32<<10))}, "32768"},
		"a large name":            {[]trust.Signature{signed(strings.Repeat("x", 32<<10), "")}, "32768"},
		"large ones together":     {full, "262144"},
		"a bundle with many keys": {[]trust.Signature{signed(bundle, keys(17))}, "more than 16 keys"},
		"a deep bundle":           {[]trust.Signature{signed(bundle, strings.Repeat("[", 9)+strings.Repeat("]", 9))}, "8 levels"},
		"a deep and broken one":   {[]trust.Signature{signed(bundle, strings.Repeat("[", 30<<10))}, "8 levels"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, name, judged(t, asks, c.signatures...), c.says) })
	}
	refuses(t, "what is no bundle", judged(t, asks, signed(bundle, "{")), "does not let it in")
}

func TestJudge_says_no_more_of_a_signature_than_a_message_may_have(t *testing.T) {
	key := trusttest.NewKey()
	err := judged(t, byKey(key), key.Sign("registry.test:5000/"+strings.Repeat("x", 20<<10)+":v1", digest(manifest)))
	refuses(t, "a long name", err, "does not let it in")
	if err != nil && len(err.Error()) > 2<<10 {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
}
