package trust

import (
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	"go.podman.io/image/v5/signature"
)

// requirement is what a policy asks, in the terms of the container runtime.
func requirement(asks configv1.ImageSigstoreVerificationPolicy) (signature.PolicyRequirement, error) {
	options, err := rootOfTrust(asks.RootOfTrust)
	if err != nil {
		return nil, err
	}
	identity, err := signedIdentity(asks.SignedIdentity)
	if err != nil {
		return nil, err
	}
	return signature.NewPRSigstoreSigned(append(options, signature.PRSigstoreSignedWithSignedIdentity(identity))...)
}

func rootOfTrust(root configv1.PolicyRootOfTrust) ([]signature.PRSigstoreSignedOption, error) {
	switch {
	case root.PolicyType == configv1.PublicKeyRootOfTrust && root.PublicKey != nil:
		options := []signature.PRSigstoreSignedOption{signature.PRSigstoreSignedWithKeyData(root.PublicKey.KeyData)}
		if len(root.PublicKey.RekorKeyData) > 0 {
			options = append(options, signature.PRSigstoreSignedWithRekorPublicKeyData(root.PublicKey.RekorKeyData))
		}
		return options, nil
	case root.PolicyType == configv1.FulcioCAWithRekorRootOfTrust && root.FulcioCAWithRekor != nil:
		fulcio, err := signature.NewPRSigstoreSignedFulcio(
			signature.PRSigstoreSignedFulcioWithCAData(root.FulcioCAWithRekor.FulcioCAData),
			signature.PRSigstoreSignedFulcioWithOIDCIssuer(root.FulcioCAWithRekor.FulcioSubject.OIDCIssuer),
			signature.PRSigstoreSignedFulcioWithSubjectEmail(root.FulcioCAWithRekor.FulcioSubject.SignedEmail),
		)
		return []signature.PRSigstoreSignedOption{
			signature.PRSigstoreSignedWithFulcio(fulcio),
			signature.PRSigstoreSignedWithRekorPublicKeyData(root.FulcioCAWithRekor.RekorKeyData),
		}, err
	case root.PolicyType == configv1.PKIRootOfTrust && root.PKI != nil:
		options := []signature.PRSigstoreSignedPKIOption{signature.PRSigstoreSignedPKIWithCARootsData(root.PKI.CertificateAuthorityRootsData)}
		if intermediates := root.PKI.CertificateAuthorityIntermediatesData; len(intermediates) > 0 {
			options = append(options, signature.PRSigstoreSignedPKIWithCAIntermediatesData(intermediates))
		}
		if email := root.PKI.PKICertificateSubject.Email; email != "" {
			options = append(options, signature.PRSigstoreSignedPKIWithSubjectEmail(email))
		}
		if hostname := root.PKI.PKICertificateSubject.Hostname; hostname != "" {
			options = append(options, signature.PRSigstoreSignedPKIWithSubjectHostname(hostname))
		}
		pki, err := signature.NewPRSigstoreSignedPKI(options...)
		return []signature.PRSigstoreSignedOption{signature.PRSigstoreSignedWithPKI(pki)}, err
	}
	return nil, fmt.Errorf("its root of trust %q is not known, or not complete", root.PolicyType)
}

func signedIdentity(identity *configv1.PolicyIdentity) (signature.PolicyReferenceMatch, error) {
	switch {
	case identity == nil, identity.MatchPolicy == configv1.IdentityMatchPolicyMatchRepoDigestOrExact:
		return signature.NewPRMMatchRepoDigestOrExact(), nil
	case identity.MatchPolicy == configv1.IdentityMatchPolicyMatchRepository:
		return signature.NewPRMMatchRepository(), nil
	case identity.MatchPolicy == configv1.IdentityMatchPolicyExactRepository && identity.PolicyMatchExactRepository != nil:
		return signature.NewPRMExactRepository(string(identity.PolicyMatchExactRepository.Repository))
	case identity.MatchPolicy == configv1.IdentityMatchPolicyRemapIdentity && identity.PolicyMatchRemapIdentity != nil:
		remap := identity.PolicyMatchRemapIdentity
		return signature.NewPRMRemapIdentity(string(remap.Prefix), string(remap.SignedPrefix))
	}
	return nil, fmt.Errorf("its match of identities %q is not known, or not complete", identity.MatchPolicy)
}
