package creating

const (
	apiPort = 6443
	mcsPort = 22623
)

// awsCluster has a load balancer within the network for the API and the machine-config server, and another one for the outside unless
// nothing is to be published.
func (c *creation) awsCluster(zones []string) map[string]any {
	spec := map[string]any{
		"region": c.in.Config.PlatformField("region"),
		// Absent, it would be a key named default.
		"sshKeyName":               "",
		"additionalTags":           c.awsTags(),
		"network":                  c.awsNetwork(zones),
		"controlPlaneLoadBalancer": c.awsInternal(),
		"identityRef":              map[string]any{"kind": "AWSClusterControllerIdentity", "name": "default"},
		"s3Bucket": map[string]any{
			"name":                 bounded("openshift-bootstrap-data-"+c.infraID(), "-"+hashed(c.in.Config.ClusterDomain()), 63),
			"presignedURLDuration": "24h",
		},
	}
	if c.AWS.Credentials != nil {
		spec["identityRef"] = map[string]any{"kind": "AWSClusterStaticIdentity", "name": c.identity()}
	}
	if c.in.Config.Publish != "Internal" {
		spec["secondaryControlPlaneLoadBalancer"] = map[string]any{
			"name": bounded(c.infraID(), "-ext", 32), "loadBalancerType": "nlb", "scheme": "internet-facing", "crossZoneLoadBalancing": true,
			"healthCheckProtocol": "HTTPS",
		}
	}
	return map[string]any{
		"apiVersion": infrastructureGroup + "/" + infrastructureVersion, "kind": "AWSCluster", "metadata": c.plainMeta(c.name()), "spec": spec,
	}
}

// awsTags are by which the guest's own controllers find what is the cluster's.
func (c *creation) awsTags() map[string]any {
	tags := map[string]any{"kubernetes.io/cluster/" + c.infraID(): "owned"}
	given, _ := at(c.in.Raw, "platform", "aws", "userTags").(map[string]any)
	for name, value := range given {
		text, is := value.(string)
		if !is {
			c.problem("platform.aws.userTags", "a value in it is no text; put it between quotation marks")
			continue
		}
		tags[name] = text
	}
	return tags
}

func (c *creation) machineNetworks() (all []any) {
	for _, network := range c.in.Config.Networking.MachineNetwork {
		all = append(all, network.CIDR)
	}
	return all
}

func (c *creation) awsInternal() map[string]any {
	return map[string]any{
		"name": bounded(c.infraID(), "-int", 32), "loadBalancerType": "nlb", "scheme": "internal", "crossZoneLoadBalancing": true,
		"healthCheckProtocol": "HTTPS",
		"additionalListeners": []any{map[string]any{
			"port": int64(mcsPort), "protocol": "TCP", "healthCheck": map[string]any{"protocol": "HTTPS", "path": "/healthz"},
		}},
		"ingressRules": []any{map[string]any{
			"description": "machine-config server", "protocol": "tcp", "fromPort": int64(mcsPort), "toPort": int64(mcsPort), "cidrBlocks": c.machineNetworks(),
		}},
	}
}

// awsNodeRules are what nodes have to reach of each other.
func awsNodeRules() []any {
	return []any{
		rule("ICMP", "icmp", -1, -1),
		rule("SSH", "tcp", 22, 22),
		rule("VXLAN", "udp", 4789, 4789),
		rule("Geneve", "udp", 6081, 6081),
		rule("IKE", "udp", 500, 500),
		rule("IKE through NAT", "udp", 4500, 4500),
		rule("ESP", "50", -1, -1),
		rule("ovnkube", "tcp", 6441, 6442),
		rule("services of hosts", "tcp", 9000, 9999),
		rule("services of hosts", "udp", 9000, 9999),
		rule("node ports", "tcp", 30000, 32767),
		rule("node ports", "udp", 30000, 32767),
	}
}

// awsControlPlaneRules are what has to be reached of control-plane machines beside.
func awsControlPlaneRules() []any {
	var all []any
	for _, one := range []struct {
		what     string
		from, to int64
	}{{"machine-config server", mcsPort, mcsPort}, {"kube-controller-manager", 10257, 10257}, {"kube-scheduler", 10259, 10259}} {
		made := rule(one.what, "tcp", one.from, one.to)
		made["sourceSecurityGroupRoles"] = []any{"node", "controlplane", "apiserver-lb"}
		all = append(all, made)
	}
	return all
}

func rule(what, protocol string, from, to int64) map[string]any {
	return map[string]any{"description": what, "protocol": protocol, "fromPort": from, "toPort": to}
}
