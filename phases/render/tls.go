package render

import (
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
)

// Names of the variables that carry the cluster's TLS profile.
const (
	tlsMinVersion   = "TLS_MIN_VERSION"
	tlsCipherSuites = "TLS_CIPHER_SUITES"
)

// infrastructureName is the variable with the cluster's name in its infrastructure.
const infrastructureName = "INFRASTRUCTURE_NAME"

// ClusterSubstitutions returns the variables that every cluster gives to
// manifests: those of its TLS profile, the one that makes bootstrap data
// Ignition's, and its name in the infrastructure, if it has one.
func ClusterSubstitutions(profile *configv1.TLSSecurityProfile, name string) map[string]string {
	values := tlsSubstitutions(profile)
	if name != "" {
		values[infrastructureName] = name
	}
	values["EXP_BOOTSTRAP_FORMAT_IGNITION"] = "true"
	return values
}

// tlsSubstitutions returns TLS_MIN_VERSION (such as VersionTLS12) and
// TLS_CIPHER_SUITES (IANA names joined by commas) of APIServer `cluster`'s TLS
// profile.
func tlsSubstitutions(profile *configv1.TLSSecurityProfile) map[string]string {
	version, suites := TLSProfile(profile)
	return map[string]string{tlsMinVersion: string(version), tlsCipherSuites: strings.Join(suites, ",")}
}

// TLSProfile returns the lowest version of a TLS profile, and its ciphers by
// IANA's names. Without a profile it is Intermediate, OpenShift's default.
// Ciphers that Go does not implement are left out: a manager given one would
// not start.
func TLSProfile(profile *configv1.TLSSecurityProfile) (version configv1.TLSProtocolVersion, suites []string) {
	spec := configv1.TLSProfiles[configv1.TLSProfileIntermediateType]
	if profile != nil {
		if known, ok := configv1.TLSProfiles[profile.Type]; ok {
			spec = known
		}
		if profile.Type == configv1.TLSProfileCustomType && profile.Custom != nil {
			spec = &profile.Custom.TLSProfileSpec
		}
	}
	version = spec.MinTLSVersion
	if version == "" {
		version = configv1.VersionTLS12
	}
	for _, cipher := range spec.Ciphers {
		if name, ok := ianaNames[cipher]; ok && !slices.Contains(suites, name) {
			suites = append(suites, name)
		}
	}
	return version, suites
}

// ianaNames maps the names that OpenSSL gives to ciphers, which OpenShift uses,
// to those of IANA, which Go and Kubernetes use.
var ianaNames = map[string]string{
	"TLS_AES_128_GCM_SHA256":        "TLS_AES_128_GCM_SHA256",
	"TLS_AES_256_GCM_SHA384":        "TLS_AES_256_GCM_SHA384",
	"TLS_CHACHA20_POLY1305_SHA256":  "TLS_CHACHA20_POLY1305_SHA256",
	"ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
	"ECDHE-RSA-AES128-GCM-SHA256":   "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
	"ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
	"ECDHE-RSA-AES256-GCM-SHA384":   "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
	"ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
	"ECDHE-RSA-CHACHA20-POLY1305":   "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
	"ECDHE-ECDSA-AES128-SHA256":     "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
	"ECDHE-RSA-AES128-SHA256":       "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
	"ECDHE-ECDSA-AES128-SHA":        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
	"ECDHE-RSA-AES128-SHA":          "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
	"ECDHE-ECDSA-AES256-SHA":        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
	"ECDHE-RSA-AES256-SHA":          "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
	"ECDHE-RSA-DES-CBC3-SHA":        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
	"ECDHE-ECDSA-RC4-SHA":           "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
	"ECDHE-RSA-RC4-SHA":             "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
	"AES128-GCM-SHA256":             "TLS_RSA_WITH_AES_128_GCM_SHA256",
	"AES256-GCM-SHA384":             "TLS_RSA_WITH_AES_256_GCM_SHA384",
	"AES128-SHA256":                 "TLS_RSA_WITH_AES_128_CBC_SHA256",
	"AES128-SHA":                    "TLS_RSA_WITH_AES_128_CBC_SHA",
	"AES256-SHA":                    "TLS_RSA_WITH_AES_256_CBC_SHA",
	"DES-CBC3-SHA":                  "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
	"RC4-SHA":                       "TLS_RSA_WITH_RC4_128_SHA",
}
