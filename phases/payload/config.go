package payload

// Config is what is read of an install-config, with its defaults. What it does not name is passed through in Inputs.Raw.
type Config struct {
	APIVersion string `json:"apiVersion"`
	BaseDomain string `json:"baseDomain"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	// PullSecret is in the form of a .dockerconfigjson.
	PullSecret string `json:"pullSecret"`
	// SSHKey has a key on each line.
	SSHKey       string         `json:"sshKey"`
	Platform     map[string]any `json:"platform"`
	Networking   Networking     `json:"networking"`
	ControlPlane Pool           `json:"controlPlane"`
	Compute      []Pool         `json:"compute"`
	FIPS         bool           `json:"fips"`
	// Publish is External or Internal.
	Publish         string `json:"publish"`
	CredentialsMode string `json:"credentialsMode"`
	// AdditionalTrustBundle has certificates in PEM.
	AdditionalTrustBundle string        `json:"additionalTrustBundle"`
	Proxy                 *Proxy        `json:"proxy"`
	ImageDigestSources    []Mirrors     `json:"imageDigestSources"`
	ImageContentSources   []Mirrors     `json:"imageContentSources"`
	Capabilities          *Capabilities `json:"capabilities"`
	FeatureSet            string        `json:"featureSet"`
	BootstrapInPlace      any           `json:"bootstrapInPlace"`
}

// Networking is how pods, services and machines are numbered.
type Networking struct {
	NetworkType    string           `json:"networkType"`
	ClusterNetwork []ClusterNetwork `json:"clusterNetwork"`
	// ServiceNetwork has a network of each family in CIDR form.
	ServiceNetwork []string         `json:"serviceNetwork"`
	MachineNetwork []MachineNetwork `json:"machineNetwork"`
}

// ClusterNetwork is a network of pods. HostPrefix is how long the prefix of each node is, in bits.
type ClusterNetwork struct {
	CIDR       string `json:"cidr"`
	HostPrefix int    `json:"hostPrefix"`
}

// MachineNetwork is a network of machines.
type MachineNetwork struct {
	CIDR string `json:"cidr"`
}

// Pool is a group of machines. Replicas is nil if it is not given.
type Pool struct {
	Name         string `json:"name"`
	Replicas     *int   `json:"replicas"`
	Architecture string `json:"architecture"`
}

// Proxy is how the cluster reaches the outside.
type Proxy struct {
	HTTPProxy  string `json:"httpProxy"`
	HTTPSProxy string `json:"httpsProxy"`
	NoProxy    string `json:"noProxy"`
}

// Mirrors are places that have the same images as a source.
type Mirrors struct {
	Source  string   `json:"source"`
	Mirrors []string `json:"mirrors"`
}

// Capabilities are the optional parts of a cluster.
type Capabilities struct {
	BaselineCapabilitySet         string   `json:"baselineCapabilitySet"`
	AdditionalEnabledCapabilities []string `json:"additionalEnabledCapabilities"`
}

// PlatformName is the one platform that is named, in the spelling of an install-config, and empty if not one is.
func (c *Config) PlatformName() string {
	if len(c.Platform) != 1 {
		return ""
	}
	for name := range c.Platform {
		return name
	}
	return ""
}

// PlatformField is a text of the platform, such as its region, and empty if it is not given.
func (c *Config) PlatformField(name string) string {
	platform, _ := c.Platform[c.PlatformName()].(map[string]any)
	text, _ := platform[name].(string)
	return text
}

// PlatformTexts are the texts of a list of the platform, such as its addresses.
func (c *Config) PlatformTexts(name string) []string {
	platform, _ := c.Platform[c.PlatformName()].(map[string]any)
	items, _ := platform[name].([]any)
	var texts []string
	for _, item := range items {
		if text, is := item.(string); is {
			texts = append(texts, text)
		}
	}
	return texts
}

// ClusterDomain is the domain that all names of the cluster end in.
func (c *Config) ClusterDomain() string { return c.Metadata.Name + "." + c.BaseDomain }

// settle fills in what the installer would.
func (c *Config) settle() {
	n := &c.Networking
	if n.NetworkType == "" {
		n.NetworkType = "OVNKubernetes"
	}
	if len(n.ClusterNetwork) == 0 {
		n.ClusterNetwork = []ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}}
	}
	if len(n.ServiceNetwork) == 0 {
		n.ServiceNetwork = []string{"172.30.0.0/16"}
	}
	if len(n.MachineNetwork) == 0 {
		n.MachineNetwork = []MachineNetwork{{CIDR: "10.0.0.0/16"}}
	}
	if c.Publish == "" {
		c.Publish = "External"
	}
	if c.ControlPlane.Architecture == "" {
		c.ControlPlane.Architecture = "amd64"
	}
}
