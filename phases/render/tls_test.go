package render

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
)

func custom(version configv1.TLSProtocolVersion, ciphers ...string) *configv1.TLSSecurityProfile {
	return &configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType, Custom: &configv1.CustomTLSProfile{
		TLSProfileSpec: configv1.TLSProfileSpec{MinTLSVersion: version, Ciphers: ciphers},
	}}
}

func TestTLSSubstitutions_follow_the_profile(t *testing.T) {
	tls13 := "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256"
	intermediate := tls13 + ",TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" +
		",TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" +
		",TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
	old := intermediate + ",TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256" +
		",TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA" +
		",TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA" +
		",TLS_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_128_CBC_SHA256" +
		",TLS_RSA_WITH_AES_128_CBC_SHA,TLS_RSA_WITH_AES_256_CBC_SHA,TLS_RSA_WITH_3DES_EDE_CBC_SHA"
	for name, c := range map[string]struct {
		profile         *configv1.TLSSecurityProfile
		version, suites string
	}{
		"none is intermediate":           {nil, "VersionTLS12", intermediate},
		"an empty type is intermediate":  {&configv1.TLSSecurityProfile{}, "VersionTLS12", intermediate},
		"intermediate":                   {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileIntermediateType}, "VersionTLS12", intermediate},
		"modern":                         {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType}, "VersionTLS13", tls13},
		"old":                            {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileOldType}, "VersionTLS10", old},
		"custom without spec":            {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType}, "VersionTLS12", intermediate},
		"custom in its own order":        {custom("VersionTLS11", "ECDHE-RSA-AES128-GCM-SHA256", "AES128-SHA"), "VersionTLS11", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_CBC_SHA"},
		"custom with unknown and double": {custom("VersionTLS12", "DHE-RSA-AES128-SHA", "AES128-SHA", "AES128-SHA"), "VersionTLS12", "TLS_RSA_WITH_AES_128_CBC_SHA"},
		"custom without version":         {custom("", "AES128-SHA"), "VersionTLS12", "TLS_RSA_WITH_AES_128_CBC_SHA"},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{"TLS_MIN_VERSION": c.version, "TLS_CIPHER_SUITES": c.suites}
			if diff := cmp.Diff(want, tlsSubstitutions(c.profile)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTLSSubstitutions_name_only_ciphers_that_Go_implements(t *testing.T) {
	known := map[string]bool{}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		known[suite.Name] = true
	}
	for openSSL, name := range ianaNames {
		if !known[name] {
			t.Errorf("%s is %s, which Go does not implement", openSSL, name)
		}
	}
	for profile := range configv1.TLSProfiles {
		in := Input{Profiles: []Profile{tlsProfile()}, Substitutions: tlsSubstitutions(&configv1.TLSSecurityProfile{Type: profile})}
		rev := mustRender(t, in)
		if args := string(appendJSON(nil, rev.Components[0].Objects[0].Object)); !strings.Contains(args, "--tls-cipher-suites=TLS_") {
			t.Errorf("profile %s: %s", profile, args)
		}
	}
}

// tlsProfile has arguments that use the TLS variables.
func tlsProfile() Profile {
	return manifests(configMap("a") + "data:\n  args: --tls-cipher-suites=${TLS_CIPHER_SUITES} --tls-min-version=${TLS_MIN_VERSION}\n")
}
