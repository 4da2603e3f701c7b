package payload

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation"
)

// platforms are those that a cluster can be told to run on, in the spelling of an install-config.
var platforms = []string{
	"alibabacloud", "aws", "azure", "baremetal", "external", "gcp", "ibmcloud", "kubevirt", "none", "nutanix", "openstack", "powervs", "vsphere",
}

// checker collects what is wrong with the fields of one install-config.
type checker struct {
	at       string
	problems *InputsError
}

func (c checker) field(field, why string, args ...any) {
	c.problems.add(c.at+", field "+field, why, args...)
}

// oneOf refuses a text that is neither empty nor one of those allowed.
func (c checker) oneOf(field, text string, allowed ...string) {
	if text != "" && !slices.Contains(allowed, text) {
		c.field(field, "it is none of %s; set it to one of them, or leave it out", strings.Join(allowed, ", "))
	}
}

func validate(at string, config *Config, replicas int, problems *InputsError) {
	c := checker{at: at, problems: problems}
	if config.APIVersion != "v1" {
		c.field("apiVersion", "it is not v1; write the install-config for this version")
	}
	c.names(config)
	c.secrets(config)
	c.platform(config)
	c.networks(&config.Networking)
	c.pools(config, replicas)
	c.proxy(config.Proxy)
	c.oneOf("publish", config.Publish, "External", "Internal", "Mixed")
	c.oneOf("credentialsMode", config.CredentialsMode, "Mint", "Passthrough", "Manual")
	for field, sources := range map[string][]Mirrors{"imageDigestSources": config.ImageDigestSources, "imageContentSources": config.ImageContentSources} {
		for i, source := range sources {
			if source.Source == "" || len(source.Mirrors) == 0 || slices.Contains(source.Mirrors, "") {
				c.field(item(field, i), "it has no source or no mirrors; name both, or remove it")
			}
		}
	}
	if config.BootstrapInPlace != nil {
		c.field("bootstrapInPlace", "a cluster is installed with a bootstrap machine here; remove it")
	}
}

func (c checker) names(config *Config) {
	if len(validation.IsDNS1123Label(config.Metadata.Name)) > 0 {
		c.field("metadata.name", "it is no name of a cluster; give it lowercase letters, digits and -, at most 63, beginning with a letter or digit")
	}
	if len(validation.IsDNS1123Subdomain(config.BaseDomain)) > 0 || !strings.Contains(config.BaseDomain, ".") {
		c.field("baseDomain", "it is no domain; set it to the domain under which the cluster gets its names, such as example.com")
	} else if len(config.ClusterDomain()) > 253-len("api-int.") {
		c.field("baseDomain", "with the cluster's name before it, it is longer than names may be; shorten one of them")
	}
}

// secrets says of what is secret only which field it is.
func (c checker) secrets(config *Config) {
	var pull struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if err := json.Unmarshal([]byte(config.PullSecret), &pull); err != nil || len(pull.Auths) == 0 {
		c.field("pullSecret", "it is no JSON with credentials under auths; put the whole pull secret there")
	}
	for i, registry := range slices.Sorted(maps.Keys(pull.Auths)) {
		user, err := base64.StdEncoding.DecodeString(pull.Auths[registry].Auth)
		if err != nil || !strings.Contains(string(user), ":") {
			c.field("pullSecret", "entry %d of auths, in the order of the registries' names, has no auth that is user:password in base64; mend it", i+1)
		}
	}
	for number, line := range strings.Split(config.SSHKey, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
			c.field("sshKey", "line %d is no public key; write it as ssh-keygen does, such as ssh-ed25519 AAAA...", number+1)
		}
	}
	if bundle := strings.TrimSpace(config.AdditionalTrustBundle); bundle != "" {
		for rest := []byte(bundle); len(rest) > 0; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
				c.field("additionalTrustBundle", "it has something else than certificates in PEM; leave only those")
				break
			}
		}
	}
}

func (c checker) platform(config *Config) {
	name := config.PlatformName()
	switch {
	case len(config.Platform) != 1:
		c.field("platform", "it names %d platforms; name one, such as platform: {none: {}}", len(config.Platform))
	case !slices.Contains(platforms, name):
		c.field("platform", "it names a platform that is not known; name one of %s", strings.Join(platforms, ", "))
	}
	for _, needed := range map[string][]string{"aws": {"region"}, "azure": {"region"}, "gcp": {"region", "projectID"}}[name] {
		if config.PlatformField(needed) == "" {
			c.field("platform."+name+"."+needed, "it is missing; set it to where the machines are")
		}
	}
}

func (c checker) pools(config *Config, replicas int) {
	if given := config.ControlPlane.Replicas; given != nil && replicas != 0 && *given != replicas {
		c.field("controlPlane.replicas", "it is %d, and spec.replicas %d; give both the same number, or leave this one out", *given, replicas)
	}
	architectures := []string{"amd64", "arm64", "ppc64le", "s390x"}
	c.oneOf("controlPlane.architecture", config.ControlPlane.Architecture, architectures...)
	for i, pool := range config.Compute {
		c.oneOf(item("compute", i)+".architecture", pool.Architecture, architectures...)
		if pool.Replicas != nil && *pool.Replicas < 0 {
			c.field(item("compute", i)+".replicas", "it is below zero; set it to how many workers there should be")
		}
	}
}
