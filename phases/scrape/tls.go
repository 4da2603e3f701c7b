package scrape

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/phases/render"
)

// Profile is the TLS profile of the cluster, nil for the default one.
type Profile func(context.Context) (*configv1.TLSSecurityProfile, error)

// profileTimeout bounds how long a handshake waits for the profile to be seen.
const profileTimeout = 5 * time.Second

// TLS serves with tls.crt and tls.key of a folder, and speaks as the profile
// says. Both are read for every connection, so that the next one has what is
// new; without one of them there is no connection, and what serves goes on.
func TLS(folder string, profile Profile) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, // of no connection: each is given a configuration of its own
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			ctx, cancel := context.WithTimeout(hello.Context(), profileTimeout)
			defer cancel()
			seen, err := profile(ctx)
			if err != nil {
				return nil, fmt.Errorf("reading the cluster's TLS profile: %w", err)
			}
			certificate, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
			if err != nil {
				return nil, fmt.Errorf("reading the serving certificate: %w", err)
			}
			version, suites := render.TLSProfile(seen)
			return &tls.Config{
				Certificates: []tls.Certificate{certificate},
				MinVersion:   versions[version],
				CipherSuites: numbers(suites),
				NextProtos:   []string{"http/1.1"}, // a scrape has no use for HTTP/2, whose streams cost before anybody is known
				// Whose certificate it is decides the handler: who brings a token needs none.
				ClientAuth:             tls.RequestClientCert,
				SessionTicketsDisabled: true,
			}, nil
		},
	}
}

var versions = map[configv1.TLSProtocolVersion]uint16{
	configv1.VersionTLS10: tls.VersionTLS10, configv1.VersionTLS11: tls.VersionTLS11,
	configv1.VersionTLS12: tls.VersionTLS12, configv1.VersionTLS13: tls.VersionTLS13,
}

// numbers are the suites by their numbers. Of TLS 1.3 nobody can choose them. The list is never nil, which would stand
// for Go's own choice.
func numbers(names []string) []uint16 {
	chosen := []uint16{}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		for _, name := range names {
			if strings.EqualFold(suite.Name, name) {
				chosen = append(chosen, suite.ID)
			}
		}
	}
	return chosen
}
