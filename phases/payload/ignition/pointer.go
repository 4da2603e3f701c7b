package ignition

import (
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// Pointer returns the config of a machine that fetches its own from a machine-config server, which it trusts by the
// certificate of an authority, in PEM.
func Pointer(url string, authority []byte) ([]byte, error) {
	return written(types.Config{Ignition: types.Ignition{
		Version:  Version,
		Config:   types.IgnitionConfig{Merge: []types.Resource{{Source: util.StrToPtr(url)}}},
		Security: trusting(authority),
	}})
}

// Stub returns the config of a machine that fetches a full one from a URL and takes no other bytes than those. The authority
// that the URL is trusted by, in PEM, is empty for those of the operating system.
func Stub(url string, full, authority []byte) ([]byte, error) {
	sum := sha512.Sum512(full)
	return written(types.Config{Ignition: types.Ignition{
		Version: Version,
		Config: types.IgnitionConfig{Replace: types.Resource{
			Source:       util.StrToPtr(url),
			Verification: types.Verification{Hash: util.StrToPtr("sha512-" + hex.EncodeToString(sum[:]))},
		}},
		Security: trusting(authority),
	}})
}

func trusting(authority []byte) types.Security {
	if len(authority) == 0 {
		return types.Security{}
	}
	return types.Security{TLS: types.TLS{CertificateAuthorities: []types.Resource{{Source: util.StrToPtr(inline(authority))}}}}
}

// Source is where a config that points at another has that one: the URL and the authorities it is trusted by, as they are
// written, and nothing of a config that points nowhere.
type Source struct {
	URL, Hash   string
	Authorities []string
}

// PointsAt reads a config that Pointer or Stub has made.
func PointsAt(config []byte) (Source, error) {
	var read types.Config
	if err := json.Unmarshal(config, &read); err != nil {
		return Source{}, InvalidError{Why: "it is no JSON of an Ignition config"}
	}
	var source Source
	to := read.Ignition.Config.Replace
	if len(read.Ignition.Config.Merge) > 0 {
		to = read.Ignition.Config.Merge[0]
	}
	source.URL, source.Hash = text(to.Source), text(to.Verification.Hash)
	for _, authority := range read.Ignition.Security.TLS.CertificateAuthorities {
		source.Authorities = append(source.Authorities, text(authority.Source))
	}
	return source, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
