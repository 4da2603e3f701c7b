package scrape

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
)

// shake makes a connection by the server's configuration, and returns what came of it.
func shake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		defer there.Close()
		served <- tls.Server(there, server).HandshakeContext(t.Context())
	}()
	connection := tls.Client(here, client)
	err := connection.HandshakeContext(t.Context())
	here.Close()
	return connection.ConnectionState(), errors.Join(err, <-served)
}

func TestTLS_follows_the_profile_of_the_cluster(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, issue(t, newAuthority(t), "here", x509.ExtKeyUsageServerAuth))
	const old = tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA
	custom := func(version configv1.TLSProtocolVersion, ciphers ...string) *configv1.TLSSecurityProfile {
		return &configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType, Custom: &configv1.CustomTLSProfile{
			TLSProfileSpec: configv1.TLSProfileSpec{MinTLSVersion: version, Ciphers: ciphers},
		}}
	}
	for name, row := range map[string]struct {
		profile *configv1.TLSSecurityProfile
		speaks  uint16
		suite   uint16
		want    bool
	}{
		"Intermediate, without a profile, and TLS 1.2": {nil, tls.VersionTLS12, 0, true},
		"Intermediate and TLS 1.1":                     {nil, tls.VersionTLS11, 0, false},
		"Intermediate and an old cipher":               {nil, tls.VersionTLS12, old, false},
		"Modern and TLS 1.2":                           {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType}, tls.VersionTLS12, 0, false},
		"Modern and TLS 1.3":                           {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType}, tls.VersionTLS13, 0, true},
		"Old and an old cipher":                        {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileOldType}, tls.VersionTLS10, old, true},
		"one cipher and that one":                      {custom(configv1.VersionTLS12, "ECDHE-ECDSA-AES128-SHA"), tls.VersionTLS12, old, true},
		"one cipher and another one":                   {custom(configv1.VersionTLS12, "ECDHE-ECDSA-AES128-SHA"), tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, false},
		"no cipher that Go knows and TLS 1.2":          {custom(configv1.VersionTLS12, "unheard-of"), tls.VersionTLS12, 0, false},
		"no cipher that Go knows and TLS 1.3":          {custom(configv1.VersionTLS12, "unheard-of"), tls.VersionTLS13, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := TLS(folder, func(context.Context) (*configv1.TLSSecurityProfile, error) { return row.profile, nil })
			client := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: row.speaks, NextProtos: []string{"h2", "http/1.1"}}
			if row.suite != 0 {
				client.CipherSuites = []uint16{row.suite}
			}
			state, err := shake(t, server, client)
			if (err == nil) != row.want {
				t.Fatalf("the connection: %v", err)
			}
			if err == nil && state.NegotiatedProtocol != "http/1.1" {
				t.Errorf("it speaks %s", state.NegotiatedProtocol)
			}
		})
	}
}

func TestTLS_knows_every_version_that_a_profile_may_name(t *testing.T) {
	for kind, profile := range configv1.TLSProfiles {
		if profile != nil && versions[profile.MinTLSVersion] == 0 {
			t.Errorf("profile %s begins with %s, which is unknown", kind, profile.MinTLSVersion)
		}
	}
}

func TestTLS_serves_with_what_lies_in_the_folder_at_the_moment(t *testing.T) {
	folder, by := t.TempDir(), newAuthority(t)
	server := TLS(folder, func(context.Context) (*configv1.TLSSecurityProfile, error) { return nil, nil })
	client := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if _, err := shake(t, server, client); err == nil {
		t.Error("it serves without a certificate")
	}
	for range 2 {
		pair := issue(t, by, "here", x509.ExtKeyUsageServerAuth)
		write(t, folder, pair)
		state, err := shake(t, server, client)
		if err != nil || !slices.Equal(state.PeerCertificates[0].Raw, pair.Certificate[0]) {
			t.Errorf("it serves with another certificate, or not at all: %v", err)
		}
	}
}

func TestTLS_speaks_with_nobody_before_the_profile_is_known(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, issue(t, newAuthority(t), "here", x509.ExtKeyUsageServerAuth))
	server := TLS(folder, func(context.Context) (*configv1.TLSSecurityProfile, error) { return nil, errors.New("not seen yet") })
	if _, err := shake(t, server, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}); err == nil {
		t.Error("it speaks")
	}
}
