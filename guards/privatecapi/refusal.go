package privatecapi

import "fmt"

// Refusal says why private types cannot be switched off in the way that somebody tries; empty where nobody does, or where no
// HostedCluster has them.
func (p Programme) Refusal() string {
	switch {
	case p.InUse == 0:
		return ""
	case p.NoImage:
		return fmt.Sprintf("private types cannot be switched off while they are in use by %s: give the operator flag --private-capi-image again, or move them back first by capstan private-capi revert", hostedClusters(p.InUse))
	case p.Known && p.Enabled.IsZero():
		return fmt.Sprintf("private types cannot be switched off while they are in use by %s: create ConfigMap %s again, which is gone", hostedClusters(p.InUse), ProgrammeName)
	}
	return ""
}

// Downgrade says why an operator of a release moves nothing where a later one has; empty where none has, or where no HostedCluster
// has private types any more.
func (p Programme) Downgrade(release, later string) string {
	if p.InUse == 0 || later == "" {
		return ""
	}
	return fmt.Sprintf("release %s of this operator is older than %s, which has moved HostedClusters here, and a downgrade is refused while private types are in use by %s: install release %s or a later one",
		short(release), short(later), hostedClusters(p.InUse), short(later))
}

func hostedClusters(n int) string {
	if n == 1 {
		return "1 HostedCluster"
	}
	return fmt.Sprintf("%d HostedClusters", n)
}
