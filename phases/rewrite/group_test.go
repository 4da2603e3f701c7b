package rewrite_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func TestAGroupIsMappedAsTheTableSays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		client, server string
		match          rewrite.Match
	}{
		{rewrite.Standard, rewrite.Private, rewrite.Mapped},
		{rewrite.Native, rewrite.Standard, rewrite.Mapped},
		{rewrite.Private, rewrite.Native, rewrite.Mapped},
		{"infrastructure." + rewrite.Standard, "infrastructure." + rewrite.Private, rewrite.Mapped},
		{"controlplane." + rewrite.Native, "controlplane." + rewrite.Standard, rewrite.Mapped},
		{"bootstrap." + rewrite.Private, "bootstrap." + rewrite.Native, rewrite.Mapped},
		{"addons." + rewrite.Standard, "addons." + rewrite.Private, rewrite.Mapped},
		{"ipam." + rewrite.Standard, "ipam." + rewrite.Private, rewrite.Mapped},
		{"runtime." + rewrite.Standard, "runtime." + rewrite.Private, rewrite.Mapped},
		{"operator." + rewrite.Standard, "operator." + rewrite.Standard, rewrite.OtherPrefix},
		{"operator." + rewrite.Native, "operator." + rewrite.Native, rewrite.OtherPrefix},
		{"infrastructure.infrastructure." + rewrite.Standard, "infrastructure.infrastructure." + rewrite.Standard, rewrite.OtherPrefix},
		{"my" + rewrite.Standard, "my" + rewrite.Standard, rewrite.NoMatch},
		{"." + rewrite.Standard, "." + rewrite.Standard, rewrite.OtherPrefix},
		{rewrite.Standard + ".", rewrite.Standard + ".", rewrite.NoMatch},
		{"apps", "apps", rewrite.NoMatch},
		{"", "", rewrite.NoMatch},
	} {
		if got, match := rewrite.ToServer.Group(row.client); got != row.server || match != row.match {
			t.Errorf("%q to the server is %q (%d), not %q (%d)", row.client, got, match, row.server, row.match)
		}
		if got, match := rewrite.ToClient.Group(row.server); got != row.client || match != row.match {
			t.Errorf("%q to the client is %q (%d), not %q (%d)", row.server, got, match, row.client, row.match)
		}
	}
}

func TestOnlyAWholeGroupOrGroupVersionIsMapped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		rewrite.Standard:                rewrite.Private,
		rewrite.Standard + "/v1beta1":   rewrite.Private + "/v1beta1",
		rewrite.Standard + "/":          rewrite.Standard + "/",
		rewrite.Standard + "/v1/x":      rewrite.Standard + "/v1/x",
		" " + rewrite.Standard:          " " + rewrite.Standard,
		"machines." + rewrite.Standard:  "machines." + rewrite.Standard,
		"v1":                            "v1",
		"/" + rewrite.Standard:          "/" + rewrite.Standard,
		"apps/" + rewrite.Standard:      "apps/" + rewrite.Standard,
		"infrastructure/" + "cluster/v": "infrastructure/cluster/v",
	} {
		if got, _ := rewrite.ToServer.GroupVersion(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}

func TestTheNameOfACRDIsMappedByItsGroup(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"machines." + rewrite.Standard:                   "machines." + rewrite.Private,
		"awsmachines.infrastructure." + rewrite.Standard: "awsmachines.infrastructure." + rewrite.Private,
		"infrastructure." + rewrite.Standard:             "infrastructure." + rewrite.Private,
		rewrite.Standard:                                 rewrite.Standard,
		"." + rewrite.Standard:                           "." + rewrite.Standard,
		"machines":                                       "machines",
		"":                                               "",
	} {
		if got, _ := rewrite.ToServer.CRDName(name); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
}

// texts are groups of the table, near misses, and anything.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		prefix := rapid.SampledFrom([]string{"", "infrastructure.", "ipam.", "operator.", "platform-native.", ".", "x"}).Draw(t, "prefix")
		base := rapid.SampledFrom([]string{rewrite.Standard, rewrite.Private, rewrite.Native, "apps", ""}).Draw(t, "base")
		suffix := rapid.SampledFrom([]string{"", "/v1beta1", "/v1beta2", "/", "/a/b", "."}).Draw(t, "suffix")
		if rapid.Bool().Draw(t, "anything") {
			return rapid.String().Draw(t, "text")
		}
		return prefix + base + suffix
	})
}

func TestWhatWasTurnedIsTurnedBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		for _, turn := range []func(rewrite.Direction, string) (string, rewrite.Match){
			rewrite.Direction.Group, rewrite.Direction.GroupVersion, rewrite.Direction.CRDName,
		} {
			there, _ := turn(rewrite.ToClient, text)
			if back, _ := turn(rewrite.ToServer, there); back != text {
				t.Fatalf("%q is %q for the client, and comes back as %q", text, there, back)
			}
		}
	})
}

func TestAMessageNamesTheStandardGroupForThePrivateOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`machines.cluster.hypershift.openshift.io "a" not found`:                   `machines.cluster.x-k8s.io "a" not found`,
		`Machine.cluster.hypershift.openshift.io "a" is invalid`:                   `Machine.cluster.x-k8s.io "a" is invalid`,
		`in API group "infrastructure.cluster.hypershift.openshift.io" at`:         `in API group "infrastructure.cluster.x-k8s.io" at`,
		`webhook for cluster.hypershift.openshift.io/v1beta1, Kind=Machine`:        `webhook for cluster.x-k8s.io/v1beta1, Kind=Machine`,
		`it is cluster.hypershift.openshift.io.`:                                   `it is cluster.x-k8s.io.`,
		`a.b.cluster.hypershift.openshift.io and xcluster.hypershift.openshift.io`: `a.b.cluster.hypershift.openshift.io and xcluster.hypershift.openshift.io`,
		`cluster.x-k8s.io and platform-native.cluster.x-k8s.io stay`:               `cluster.x-k8s.io and platform-native.cluster.x-k8s.io stay`,
		`ünïcode cluster.hypershift.openshift.io…`:                                 `ünïcode cluster.x-k8s.io…`,
		``: ``,
	} {
		if got := rewrite.Message(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
