package openshiftcontrolplane

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards_of_whose_the_guest_is(t *testing.T) {
	of := func(i Identity) Facts { return with(booting, func(f *Facts) { f.Guest.Identity = i }) }
	check(t, map[string]answers{
		"GuestIsOurs/nobody looked":                          {GuestIsOurs, of(Identity{}), machine.Unknown, "who vouches"},
		"GuestIsOurs/vouched":                                {GuestIsOurs, of(Identity{Authority: Vouched}), machine.Yes, ""},
		"GuestIsOurs/vouched, whatever it calls itself":      {GuestIsOurs, of(Identity{Authority: Vouched, ID: "b", Made: "a"}), machine.Yes, ""},
		"GuestIsOurs/by its ID":                              {GuestIsOurs, of(Identity{Authority: External, ID: "a", Made: "a"}), machine.Yes, ""},
		"GuestIsOurs/another one":                            {GuestIsOurs, of(Identity{Authority: External, ID: "b", Made: "a"}), machine.No, "another cluster"},
		"GuestIsOurs/an ID that was never told":              {GuestIsOurs, of(Identity{Authority: Another, Made: "a"}), machine.Unknown, "does not say yet"},
		"GuestIsOurs/an ID that could not be read":           {GuestIsOurs, of(Identity{Authority: Another, Made: "a", Unread: "forbidden"}), machine.Unknown, "could not be read: forbidden"},
		"GuestIsOurs/nobody knows what was made":             {GuestIsOurs, of(Identity{Authority: External, ID: "b"}), machine.Unknown, "note its ID in annotation capstan.openshift.io/payload-cluster-id"},
		"GuestIsOurs/no authority":                           {GuestIsOurs, of(Identity{Authority: Absent, Made: "a"}), machine.Unknown, "put the Secret of the authority back"},
		"GuestIsOurs/no authority but the installer's":       {GuestIsOurs, of(Identity{Authority: Absent, Made: "a", Installer: true}), machine.Yes, ""},
		"GuestIsOurs/the installer's, and an ID not read":    {GuestIsOurs, of(Identity{Authority: Absent, Installer: true, Unread: "forbidden"}), machine.Unknown, "could not be read"},
		"GuestIsOurs/the installer's, and another one":       {GuestIsOurs, of(Identity{Authority: Absent, ID: "b", Made: "a", Installer: true}), machine.No, "another cluster"},
		"GuestIsOurs/the installer's, by another kubeconfig": {GuestIsOurs, of(Identity{Authority: External, Made: "a", Installer: true}), machine.Unknown, "somebody else's"},
	})
}
