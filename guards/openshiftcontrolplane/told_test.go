package openshiftcontrolplane

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards_of_what_Cluster_API_is_told(t *testing.T) {
	authorities := func(c Tally) Facts { return Facts{Seen: true, Certificates: c} }
	etcd := func(e Etcd) Facts { return Facts{Seen: true, Guest: Guest{Known: true, Etcd: e}} }
	check(t, map[string]answers{
		"CertificatesStand/not looked for":  {CertificatesStand, Facts{Seen: true}, machine.Unknown, ""},
		"CertificatesStand/some":            {CertificatesStand, authorities(Tally{Known: true, Done: 4, Wanted: 5, Missing: []string{"Secret a-sa"}}), machine.No, "not Secret a-sa"},
		"CertificatesStand/all":             {CertificatesStand, authorities(Tally{Known: true, Done: 5, Wanted: 5}), machine.Yes, "5 of 5"},
		"CertificatesStand/the installer's": {CertificatesStand, authorities(Tally{Known: true}), machine.Yes, "payload only"},
		"EtcdIsHealthy/guest not read":      {EtcdIsHealthy, Facts{Seen: true}, machine.Unknown, "not said yet"},
		"EtcdIsHealthy/says nothing":        {EtcdIsHealthy, etcd(Etcd{}), machine.Unknown, "ClusterOperator etcd"},
		"EtcdIsHealthy/one is not":          {EtcdIsHealthy, etcd(Etcd{Known: true, Wrong: "these are not: a"}), machine.No, "these are not: a"},
		"EtcdIsHealthy/all are":             {EtcdIsHealthy, etcd(Etcd{Known: true}), machine.Yes, ""},
	})
}
