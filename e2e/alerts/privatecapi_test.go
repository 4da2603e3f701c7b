package alerts

import (
	"slices"
	"testing"
	"time"
)

// private are series that fire a rule of private Cluster API types, from when on, and series that do not.
var private = map[string]struct {
	fires, quiet string
	from         time.Duration
	// ends are those that fire it and then have nothing more to say, after 15 minutes; memory is for how long the rule looks back.
	ends   string
	memory time.Duration
}{
	"CapstanPrivateCAPIShimFailing": {
		"  hypershift_conversion_webhook_requests_total{pod=\"a\"} 0+20x60\n  hypershift_conversion_webhook_errors_total{pod=\"a\",reason=\"route\"} 0+2x60\n",
		"  hypershift_conversion_webhook_requests_total{pod=\"a\"} 0+200x60\n  hypershift_conversion_webhook_errors_total{pod=\"a\",reason=\"route\"} 0+2x60\n", 5 * time.Minute,
		"  hypershift_conversion_webhook_requests_total{pod=\"a\"} 0+20x200\n  hypershift_conversion_webhook_errors_total{pod=\"a\",reason=\"route\"} 0+2x30 60x170\n",
		6 * time.Minute,
	},
	"CapstanPrivateCAPIShimAbsent": {
		"  up{job=\"capstan-capi-shim\",pod=\"a\"} 0x60\n",
		"  up{job=\"capstan-capi-shim\",pod=\"a\"} 0x60\n  up{job=\"capstan-capi-shim\",pod=\"b\"} 1x60\n", 10 * time.Minute,
		"  up{job=\"capstan-capi-shim\",pod=\"a\"} 0x30 1x170\n",
		6 * time.Minute,
	},
	"CapstanAPIProxySlow": {
		buckets("0+5x60", "0+10x60"), buckets("0+10x60", "0+10x60"), 10 * time.Minute, buckets("0+5x30 160+10x170", "0+10x200"),
		6 * time.Minute,
	},
	"CapstanAPIProxyTranslationErrors": {
		// One body that could not be translated, as a proxy serves it: the series are there from its start.
		translations("0x5 1x60"), translations("3x60"), 3 * time.Minute, translations("0x29 1x200"),
		15 * time.Minute,
	},
}

// buckets are what a proxy added to requests: up to 0.1 s, and up to half a second.
func buckets(fast, all string) string {
	const name = "  hypershift_api_proxy_overhead_seconds_bucket{namespace=\"n\",pod=\"a\",le="
	return name + "\"0.1\"} " + fast + "\n" + name + "\"0.5\"} " + all + "\n" + name + "\"+Inf\"} " + all + "\n"
}

// translations are what a proxy serves of bodies that it could not translate, with as many of one class as are given.
func translations(some string) string {
	const name = "  hypershift_api_proxy_translation_errors_total{namespace=\"n\",pod=\"a\",class=\"mapped\",direction="
	return name + "\"to server\"} " + some + "\n" + name + "\"to client\"} 0x230\n"
}

func TestPrivateRules_fire_for_what_they_are_about_and_for_nothing_else_and_end_with_it(t *testing.T) {
	rules := rulesOf(t, "../../deploy/privatecapi/alerts.yaml")
	if len(rules) != len(private) {
		t.Errorf("there are %d rules, of which %d are tried", len(rules), len(private))
	}
	for _, rule := range rules {
		t.Run(rule.Alert, func(t *testing.T) {
			c, tried := private[rule.Alert]
			if !tried {
				t.Fatal("no test fires it")
			}
			moments := firing(t, rule, c.fires, 20*time.Minute)
			if len(moments) == 0 || slices.Min(moments) < c.from || slices.Min(moments) > c.from+2*time.Minute {
				t.Errorf("it fires at %v", moments)
			}
			if moments := firing(t, rule, c.quiet, 20*time.Minute); len(moments) > 0 {
				t.Errorf("it fires at %v without a reason", moments)
			}
			const ends = 15 * time.Minute
			if moments := firing(t, rule, c.ends, ends+c.memory+10*time.Minute); len(moments) == 0 || slices.Max(moments) > ends+c.memory {
				t.Errorf("its cause ends at %s, and it fires at %v", ends, moments)
			}
		})
	}
}
