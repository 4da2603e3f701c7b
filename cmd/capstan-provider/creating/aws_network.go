package creating

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"

	"github.com/capstan-capi/capstan/phases/payload"
)

// awsNetwork is a network of its own, or the one that the install-config has subnets in.
func (c *creation) awsNetwork(zones []string) map[string]any {
	network := map[string]any{
		"cni": map[string]any{"cniIngressRules": awsNodeRules()}, "additionalControlPlaneIngressRules": awsControlPlaneRules(),
	}
	subnets := c.awsSubnets()
	switch {
	case len(subnets) > 0 && c.AWS.VPC == "":
		c.problems = append(c.problems, payload.Problem{At: "--aws-vpc", Why: "it is missing, and the install-config names subnets; name the network that they are in, as vpc-..."})
	case c.AWS.VPC != "" && len(subnets) == 0:
		c.problems = append(c.problems, payload.Problem{At: "--aws-vpc", Why: "it is given, and the install-config names no subnets; name them there, or leave this out"})
	case len(subnets) > 0:
		network["vpc"], network["subnets"] = map[string]any{"id": c.AWS.VPC}, subnets
	default:
		network["vpc"] = map[string]any{"cidrBlock": c.in.Config.Networking.MachineNetwork[0].CIDR, "availabilityZoneSelection": "Ordered"}
		if len(zones) > 0 {
			network["subnets"] = c.awsZoneSubnets(zones)
		}
	}
	return network
}

// awsSubnets are those of the install-config, in either form that it has for them.
func (c *creation) awsSubnets() (all []any) {
	for _, id := range c.in.Config.PlatformTexts("subnets") {
		all = append(all, map[string]any{"id": id})
	}
	listed, _ := at(c.in.Raw, "platform", "aws", "vpc", "subnets").([]any)
	for _, one := range listed {
		if id, is := at(one, "id").(string); is {
			all = append(all, map[string]any{"id": id})
		}
	}
	return all
}

// longestSubnet is how long the prefix of a subnet may be on AWS, in bits.
const longestSubnet = 28

// awsZoneSubnets are a private and a public subnet for each zone, all of one size: left to itself, the provider takes other zones.
func (c *creation) awsZoneSubnets(zones []string) (all []any) {
	const field = "networking.machineNetwork[0].cidr"
	whole, err := netip.ParsePrefix(c.in.Config.Networking.MachineNetwork[0].CIDR)
	length := whole.Bits() + bits.Len(uint(2*len(zones)-1))
	if err != nil || !whole.Addr().Is4() || length > longestSubnet {
		c.problem(field, fmt.Sprintf("it has no room for two subnets in each of %d zones on AWS; choose a larger network of IPv4", len(zones)))
		return nil
	}
	begin := whole.Addr().As4()
	next := binary.BigEndian.Uint32(begin[:])
	for _, public := range []bool{false, true} {
		for _, zone := range zones {
			var address [4]byte
			binary.BigEndian.PutUint32(address[:], next)
			kind := "private"
			if public {
				kind = "public"
			}
			all = append(all, map[string]any{
				"id": c.name() + "-" + kind + "-" + zone, "availabilityZone": zone, "isPublic": public,
				"cidrBlock": netip.PrefixFrom(netip.AddrFrom4(address), length).String(),
			})
			next += 1 << (32 - length)
		}
	}
	return all
}
