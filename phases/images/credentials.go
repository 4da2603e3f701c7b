package images

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// credential is one entry of a .dockerconfigjson.
type credential struct {
	// host may have a * for a label or a part of one, as the kubelet allows; path is empty or begins with a slash.
	host, path string
	secret     authn.AuthConfig
	// from is the document that it is in.
	from string
}

// known is a credential that says which document it is from, for messages.
type known struct {
	authn.Authenticator
	from string
}

// credentials are sorted by how specific they are; it is an authn.Keychain.
type credentials []credential

// parseCredentials reports problems by document and key, and never repeats what a document contains.
func parseCredentials(documents []Document) (found credentials, problems []string) {
	for _, document := range documents {
		var content struct {
			Auths map[string]json.RawMessage `json:"auths"`
		}
		if json.Unmarshal(document.Data, &content) != nil {
			problems = append(problems, fmt.Sprintf(`the credentials in %s are not used: they are not JSON of the form {"auths":{"host[:port][/path]":{"auth":"..."}}}`, document.From))
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(content.Auths)) {
			c := credentialFor(key)
			c.from = document.From
			if json.Unmarshal(content.Auths[key], &c.secret) != nil {
				problems = append(problems, fmt.Sprintf("the credentials for %s in %s are not used: auth must be the base64 form of user:password", key, document.From))
				continue
			}
			// A credential helper leaves an empty entry.
			if c.secret != (authn.AuthConfig{}) {
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b credential) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(strings.Count(a.host, "*"), strings.Count(b.host, "*")))
	})
	return found, problems
}

// credentialFor understands the keys that tools have written over the years: with a scheme, with /v1/ behind the host,
// and by several names for Docker Hub.
func credentialFor(key string) credential {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	host, rest, _ := strings.Cut(strings.TrimRight(key, "/"), "/")
	c := credential{host: strings.ToLower(host)}
	if c.host == "docker.io" || c.host == "registry-1.docker.io" {
		c.host = name.DefaultRegistry
	}
	if rest != "" && rest != "v1" && rest != "v2" {
		c.path = "/" + rest
	}
	return c
}

// Resolve returns the most specific credential for a repository, or none.
func (cs credentials) Resolve(repo authn.Resource) (authn.Authenticator, error) {
	host := strings.ToLower(repo.RegistryStr())
	where := strings.TrimPrefix(repo.String(), repo.RegistryStr())
	for _, c := range cs {
		if sameHost(c.host, host) && (where == c.path || strings.HasPrefix(where, c.path+"/")) {
			return known{authn.FromConfig(c.secret), c.from}, nil
		}
	}
	return authn.Anonymous, nil
}

func sameHost(pattern, host string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == host
	}
	patterns, labels := strings.Split(pattern, "."), strings.Split(host, ".")
	return slices.EqualFunc(patterns, labels, func(pattern, label string) bool {
		matched, err := path.Match(pattern, label)
		return err == nil && matched
	})
}
