package trust_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/phases/images/trust"
	"github.com/capstan-capi/capstan/phases/images/trust/trusttest"
)

const (
	repository = "registry.test:5000/product/provider"
	tagged     = repository + ":v1"
	email      = "release@example.com"
	issuer     = "https://issuer.example.com"
)

var manifest = []byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{},"layers":[]}`)

func digest(of []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(of)) }

func scopes(all ...configv1.ImageScope) []configv1.ImageScope { return all }

func byKey(key trusttest.Key) configv1.ImageSigstoreVerificationPolicy {
	return configv1.ImageSigstoreVerificationPolicy{RootOfTrust: configv1.PolicyRootOfTrust{
		PolicyType: configv1.PublicKeyRootOfTrust, PublicKey: &configv1.ImagePolicyPublicKeyRootOfTrust{KeyData: key.Public()},
	}}
}

func judged(t *testing.T, asks configv1.ImageSigstoreVerificationPolicy, signatures ...trust.Signature) error {
	t.Helper()
	all := trust.Policies{{From: "ClusterImagePolicy some", Scopes: scopes("registry.test:5000"), Asks: asks}}
	rule, err := all.Of(repository + "@" + digest([]byte("a list of manifests")))
	if err != nil {
		t.Fatal(err)
	}
	return rule.Judge(t.Context(), t.TempDir(), trust.Evidence{Manifest: manifest, Signatures: signatures})
}

func letsIn(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s is refused: %v", what, err)
	}
}

func refuses(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	var refused *trust.RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("%s is not refused: %v", what, err)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the message does not say %q: %v", what, text, err)
		}
	}
}

func TestJudge_a_public_key(t *testing.T) {
	right, wrong := trusttest.NewKey(), trusttest.NewKey()
	asks := byKey(right)
	letsIn(t, "what the key has signed", judged(t, asks, right.Sign(tagged, digest(manifest))))
	letsIn(t, "a right signature after a wrong one", judged(t, asks, wrong.Sign(tagged, digest(manifest)), right.Sign(tagged, digest(manifest))))
	refuses(t, "what nobody has signed", judged(t, asks), "ClusterImagePolicy some (scope registry.test:5000)", "none is attached")
	refuses(t, "what another key has signed", judged(t, asks, wrong.Sign(tagged, digest(manifest))), "ClusterImagePolicy some", "cryptographic signature verification failed")
	refuses(t, "another repository", judged(t, asks, right.Sign("registry.test:5000/product/other:v1", digest(manifest))), "product/other")
	refuses(t, "another digest", judged(t, asks, right.Sign(tagged, digest([]byte("other")))), "does not match")
	refuses(t, "another payload", judged(t, asks, altered(right.Sign(tagged, digest([]byte("other"))))))
	asks.RootOfTrust.PublicKey.KeyData = []byte("-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----")
	refuses(t, "whatever a broken key is asked about", judged(t, asks, right.Sign(tagged, digest(manifest))), "ClusterImagePolicy some")
}

// altered is about our manifest, as its signature is not.
func altered(s trust.Signature) trust.Signature {
	s.Payload = []byte(strings.Replace(string(s.Payload), digest([]byte("other")), digest(manifest), 1))
	return s
}

func TestJudge_a_public_key_and_a_log(t *testing.T) {
	key, log, other := trusttest.NewKey(), trusttest.NewKey(), trusttest.NewKey()
	asks := byKey(key)
	asks.RootOfTrust.PublicKey.RekorKeyData = log.Public()
	signed := key.Sign(tagged, digest(manifest))
	letsIn(t, "what the log has", judged(t, asks, log.Record(signed, key.Public(), time.Now())))
	refuses(t, "what no log has", judged(t, asks, signed), "missing dev.sigstore.cosign/bundle")
	refuses(t, "what another log has", judged(t, asks, other.Record(signed, key.Public(), time.Now())), "Rekor")
}

func TestJudge_an_authority_and_a_log(t *testing.T) {
	authority, other, key, log := trusttest.NewAuthority(), trusttest.NewAuthority(), trusttest.NewKey(), trusttest.NewKey()
	asks := configv1.ImageSigstoreVerificationPolicy{RootOfTrust: configv1.PolicyRootOfTrust{
		PolicyType: configv1.FulcioCAWithRekorRootOfTrust,
		FulcioCAWithRekor: &configv1.ImagePolicyFulcioCAWithRekorRootOfTrust{
			FulcioCAData: authority.Root(), RekorKeyData: log.Public(),
			FulcioSubject: configv1.PolicyFulcioSubject{OIDCIssuer: issuer, SignedEmail: email},
		},
	}}
	signed := func(certificate []byte, at time.Time) trust.Signature {
		return trusttest.Certified(log.Record(key.Sign(tagged, digest(manifest)), certificate, at), certificate)
	}
	letsIn(t, "who was vouched for", judged(t, asks, signed(authority.Certify(key, email, issuer), time.Now())))
	refuses(t, "another authority", judged(t, asks, signed(other.Certify(key, email, issuer), time.Now())), "leaf certificate")
	refuses(t, "another person", judged(t, asks, signed(authority.Certify(key, "other@example.com", issuer), time.Now())), email)
	refuses(t, "another issuer", judged(t, asks, signed(authority.Certify(key, email, "https://other.example.com"), time.Now())), "other.example.com")
	refuses(t, "a signature from after the certificate", judged(t, asks, signed(authority.Certify(key, email, issuer), time.Now().Add(30*time.Minute))), "expired")
}

func TestJudge_certificates_of_an_administrator(t *testing.T) {
	authority, other, key := trusttest.NewAuthority(), trusttest.NewAuthority(), trusttest.NewKey()
	asks := configv1.ImageSigstoreVerificationPolicy{RootOfTrust: configv1.PolicyRootOfTrust{
		PolicyType: configv1.PKIRootOfTrust,
		PKI: &configv1.ImagePolicyPKIRootOfTrust{
			CertificateAuthorityRootsData: authority.Root(), PKICertificateSubject: configv1.PKICertificateSubject{Email: email},
		},
	}}
	signed := func(certificate []byte) trust.Signature {
		return trusttest.Certified(key.Sign(tagged, digest(manifest)), certificate)
	}
	letsIn(t, "who has a certificate", judged(t, asks, signed(authority.Certify(key, email, ""))))
	refuses(t, "another authority", judged(t, asks, signed(other.Certify(key, email, ""))), "leaf certificate")
	refuses(t, "another person", judged(t, asks, signed(authority.Certify(key, "other@example.com", ""))), email)
	refuses(t, "no certificate", judged(t, asks, key.Sign(tagged, digest(manifest))), "certificate")
}

func TestJudge_identities(t *testing.T) {
	key := trusttest.NewKey()
	const signedAs = "vendor.example.com/product/provider"
	signature := key.Sign(signedAs+":v1", digest(manifest))
	for name, c := range map[string]struct {
		identity *configv1.PolicyIdentity
		letsIn   bool
	}{
		"none":                    {nil, false},
		"the same repository":     {&configv1.PolicyIdentity{MatchPolicy: configv1.IdentityMatchPolicyMatchRepository}, false},
		"an exact repository":     {exactly(signedAs), true},
		"another one":             {exactly("vendor.example.com/other"), false},
		"a prefix that is mapped": {remapped("registry.test:5000", "vendor.example.com"), true},
		"one mapped to another":   {remapped("registry.test:5000", "other.example.com"), false},
		"one that does not match": {remapped("mirror.example.com", "vendor.example.com"), false},
	} {
		t.Run(name, func(t *testing.T) {
			asks := byKey(key)
			asks.SignedIdentity = c.identity
			if err := judged(t, asks, signature); c.letsIn {
				letsIn(t, name, err)
			} else {
				refuses(t, name, err, "ClusterImagePolicy some", "change the policy")
			}
		})
	}
}

func TestJudge_a_signature_of_a_name_without_a_tag_matches_a_repository_only(t *testing.T) {
	key := trusttest.NewKey()
	asks, signature := byKey(key), key.Sign(repository, digest(manifest))
	refuses(t, "by default", judged(t, asks, signature), "identity")
	asks.SignedIdentity = &configv1.PolicyIdentity{MatchPolicy: configv1.IdentityMatchPolicyMatchRepository}
	letsIn(t, "by its repository", judged(t, asks, signature))
}

func exactly(repository configv1.IdentityRepositoryPrefix) *configv1.PolicyIdentity {
	return &configv1.PolicyIdentity{
		MatchPolicy:                configv1.IdentityMatchPolicyExactRepository,
		PolicyMatchExactRepository: &configv1.PolicyMatchExactRepository{Repository: repository},
	}
}

func remapped(prefix, signed configv1.IdentityRepositoryPrefix) *configv1.PolicyIdentity {
	return &configv1.PolicyIdentity{
		MatchPolicy:              configv1.IdentityMatchPolicyRemapIdentity,
		PolicyMatchRemapIdentity: &configv1.PolicyMatchRemapIdentity{Prefix: prefix, SignedPrefix: signed},
	}
}

func TestJudge_refuses_what_it_cannot_evaluate(t *testing.T) {
	key := trusttest.NewKey()
	signature := key.Sign(tagged, digest(manifest))
	unknown, incomplete, match := byKey(key), byKey(key), byKey(key)
	unknown.RootOfTrust.PolicyType = "Oracle"
	incomplete.RootOfTrust.PublicKey = nil
	match.SignedIdentity = &configv1.PolicyIdentity{MatchPolicy: "Whatever"}
	refuses(t, "a root of trust that is not known", judged(t, unknown, signature), "ClusterImagePolicy some cannot be evaluated", "Oracle")
	refuses(t, "a root of trust without a key", judged(t, incomplete, signature), "cannot be evaluated")
	refuses(t, "a match that is not known", judged(t, match, signature), "cannot be evaluated", "Whatever")
}
