package payload

import (
	"fmt"
	"net/netip"
	"net/url"
)

// item is the name of one of a list's items.
func item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// network is a network of the cluster, and the field that it stands in.
type network struct {
	field string
	is    netip.Prefix
}

func (c checker) networks(n *Networking) {
	var all []network
	read := func(field, cidr string) (netip.Prefix, bool) {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil || prefix != prefix.Masked() {
			c.field(field, "it is no network; write it as CIDR with no bits behind its prefix, such as 10.0.0.0/16")
			return prefix, false
		}
		all = append(all, network{field, prefix})
		return prefix, true
	}
	for i, pods := range n.ClusterNetwork {
		field := item("networking.clusterNetwork", i)
		if prefix, is := read(field+".cidr", pods.CIDR); is && (pods.HostPrefix <= prefix.Bits() || pods.HostPrefix >= prefix.Addr().BitLen()) {
			c.field(field+".hostPrefix", "it leaves no room: set it above the %d bits of the network's prefix and below %d", prefix.Bits(), prefix.Addr().BitLen())
		}
	}
	families := map[bool]int{}
	for i, services := range n.ServiceNetwork {
		if prefix, is := read(item("networking.serviceNetwork", i), services); is {
			families[prefix.Addr().Is4()]++
		}
	}
	if families[true] > 1 || families[false] > 1 {
		c.field("networking.serviceNetwork", "it has two networks of the same family; keep one for IPv4 and at most one for IPv6")
	}
	for i, machines := range n.MachineNetwork {
		read(item("networking.machineNetwork", i)+".cidr", machines.CIDR)
	}
	for i, one := range all {
		for _, other := range all[:i] {
			if one.is.Overlaps(other.is) {
				c.field(one.field, "it overlaps the network of %s; choose another one", other.field)
			}
		}
	}
}

func (c checker) proxy(proxy *Proxy) {
	if proxy == nil {
		return
	}
	for _, one := range []struct{ field, url string }{{"proxy.httpProxy", proxy.HTTPProxy}, {"proxy.httpsProxy", proxy.HTTPSProxy}} {
		if one.url == "" {
			continue
		}
		// What net/url says quotes the password in it.
		if read, err := url.Parse(one.url); err != nil || read.Host == "" || read.Scheme != "http" && read.Scheme != "https" {
			c.field(one.field, "it is no URL of a proxy; write it as http://host:port")
		}
	}
}
