package openshiftcontrolplane

import (
	"github.com/capstan-capi/capstan/machine"
)

// CertificatesStand asks whether the authorities of the Cluster are there. It moves nothing, and is told.
var CertificatesStand = guard{
	Name: "CertificatesStand",
	Doc:  "The Secrets with the authorities of the Cluster are there, or the installer makes the payload, which has its own.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Certificates.Known && f.Certificates.Wanted == 0 {
			return machine.SayYes("the installer makes the certificates, which are in its payload only")
		}
		return of(f.Certificates, "authorities of the Cluster are there")
	}),
}

// EtcdIsHealthy asks whether the members of the guest's etcd are healthy. It moves nothing, and is told.
var EtcdIsHealthy = guard{
	Name: "EtcdIsHealthy",
	Doc:  "The guest says that the members of its etcd are healthy: each of them under management Managed, all together by ClusterOperator etcd otherwise.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Guest.Known:
			return machine.SayUnknown("the guest has not said yet how its etcd is")
		case !f.Guest.Etcd.Known:
			return machine.SayUnknown("the guest does not say how its etcd is: it has no ClusterOperator etcd yet")
		case f.Guest.Etcd.Wrong != "":
			return machine.SayNo(f.Guest.Etcd.Wrong)
		}
		return machine.SayYes("")
	}),
}
