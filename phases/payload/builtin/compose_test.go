package builtin

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

var update = flag.Bool("update", false, "write testdata; look at what changed before you commit it")

func TestCompose_of_a_small_cluster_is_as_in_testdata(t *testing.T) {
	made, err := Compose(inputs(t, "", extra("one", "own.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: own}\n")), small, material)
	must(t, err)
	for name, text := range map[string]string{
		"bootstrap.txt": listing(t, made.Bootstrap), "master.ign": string(made.Master), "worker.ign": string(made.Worker),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			must(t, os.WriteFile(file, []byte(text), 0o644))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if string(want) != text {
			t.Errorf("%s differs; run go test with -update and look at what changed", file)
		}
	}
}

func TestCompose_gives_the_same_bytes_whatever_the_order_and_always_parses(t *testing.T) {
	base := given(t, "")
	rapid.Check(t, func(t *rapid.T) {
		var secrets []payload.ManifestSecret
		for i := range rapid.IntRange(0, 4).Draw(t, "secrets") {
			name := rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "object")
			value := rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "value")
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n-" + name + "}\ndata: {k" + name + ": '" + strings.ReplaceAll(value, "'", "''") + "'}\n"
			secrets = append(secrets, extra("s"+string(rune('0'+i)), name+".yaml", text))
		}
		further := rapid.SampledFrom([]string{
			"", "fips: true\n", "publish: Internal\n", "featureSet: TechPreviewNoUpgrade\n", "proxy: {httpProxy: 'http://a:b%20c@proxy:3128', noProxy: 'x, y'}\n",
			"imageDigestSources: [{source: a.io/b, mirrors: [c.io/d, e.io/f]}]\n", "capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Console]}\n",
		}).Draw(t, "further")
		cluster := small
		cluster.MachineConfigServer = rapid.SampledFrom([]string{"", "mcs.example.com", "192.168.0.9", "fd00::9"}).Draw(t, "server")
		compose := func() (payload.Payload, error) {
			d := base
			d.Data = map[string][]byte{payload.ConfigKey: append(slices.Clone(base.Data[payload.ConfigKey]), further...)}
			d.Manifests = secrets
			in, err := payload.Read(d)
			if err != nil {
				return payload.Payload{}, err
			}
			return Compose(in, cluster, material)
		}
		first, err := compose()
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		order.Shuffle(len(secrets), func(i, j int) { secrets[i], secrets[j] = secrets[j], secrets[i] })
		second, again := compose()
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("once it says %v, once %v", err, again)
		}
		if err != nil {
			return
		}
		for i, one := range [][2][]byte{{first.Bootstrap, second.Bootstrap}, {first.Master, second.Master}, {first.Worker, second.Worker}} {
			if !bytes.Equal(one[0], one[1]) {
				t.Fatalf("payload %d is once %s, once %s", i, one[0], one[1])
			}
			if err := ignition.Check(one[0]); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCompose_points_masters_and_workers_at_the_machine_config_server(t *testing.T) {
	for host, want := range map[string]string{
		"": "https://api-int.small.example.com:22623/config/", "mcs.example.com": "https://mcs.example.com:22623/config/",
		"192.168.0.9": "https://192.168.0.9:22623/config/", "fd00::9": "https://[fd00::9]:22623/config/",
	} {
		cluster := small
		cluster.MachineConfigServer = host
		in := inputs(t, "")
		made, err := Compose(in, cluster, material)
		must(t, err)
		for role, config := range map[string][]byte{"master": made.Master, "worker": made.Worker} {
			at, err := ignition.PointsAt(config)
			must(t, err)
			if at.URL != want+role || len(at.Authorities) != 1 || content(t, at.Authorities[0]) != string(material.MachineConfigServerCA.Certificate) {
				t.Errorf("%s points at %+v, want %s", role, at, want)
			}
		}
		if names := Names(in, cluster).MachineConfigServer; host != "" && !slices.Contains(names, host) || names[0] != "api-int.small.example.com" {
			t.Errorf("its certificate is for %v", names)
		}
	}
	if names := Names(inputs(t, ""), small).APIServer; !slices.Contains(names, "192.168.0.5") || !slices.Contains(names, "172.30.0.1") {
		t.Errorf("the API server's certificate is for %v", names)
	}
}

func TestCompose_has_manifests_add_to_what_it_makes_and_never_contradict_it(t *testing.T) {
	network := func(field string) payload.ManifestSecret {
		return extra("one", "net.yaml", "apiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {"+field+"}\n")
	}
	in := inputs(t, "", network("serviceNodePortRange: 30000-30100"))
	must(t, Check(in, small))
	made, err := Compose(in, small, material)
	must(t, err)
	if file := files(t, made.Bootstrap)["/opt/openshift/manifests/cluster-network-02-config.yml"]; !strings.Contains(file, "30000-30100") || !strings.Contains(file, "OVNKubernetes") {
		t.Errorf("the network is %s", file)
	}
	in = inputs(t, "", network("networkType: hunter2"))
	for _, err := range []error{Check(in, small), func() error { _, err := Compose(in, small, material); return err }()} {
		if _, is := errors.AsType[payload.InputsError](err); !is || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(),
			"Secret one, key net.yaml and what Capstan makes of the install-config (cluster-network-02-config.yml): Network.config.openshift.io cluster is in each of these places, with other values of spec.networkType") {
			t.Errorf("it says %v", err)
		}
	}
}

func TestCompose_makes_what_few_clusters_ask_for(t *testing.T) {
	further := "fips: true\nfeatureSet: TechPreviewNoUpgrade\nproxy: {httpProxy: 'http://proxy:3128', noProxy: 'own.example.com'}\n" +
		"imageDigestSources: [{source: a.io/b, mirrors: [c.io/d]}]\ncapabilities: {baselineCapabilitySet: None}\n"
	made, err := Compose(inputs(t, further), small, material)
	must(t, err)
	found := files(t, made.Bootstrap)
	for path, says := range map[string]string{
		"/opt/openshift/openshift/99_openshift-machineconfig_99-worker-fips.yaml": "fips: true",
		"/opt/openshift/openshift/99_feature-gate.yaml":                           "TechPreviewNoUpgrade",
		"/opt/openshift/manifests/cluster-proxy-01-config.yaml":                   "httpProxy: http://proxy:3128",
		"/opt/openshift/manifests/image-digest-mirror-set.yaml":                   "source: a.io/b",
		"/opt/openshift/manifests/cvo-overrides.yaml":                             "baselineCapabilitySet: None",
		"/etc/containers/registries.conf.d/50-mirrors.conf":                       "[[registry.mirror]]\nlocation = \"c.io/d\"",
		"/etc/systemd/system.conf.d/10-proxy.conf":                                "api-int.small.example.com,localhost,own.example.com",
	} {
		if !strings.Contains(found[path], says) {
			t.Errorf("%s is %q, without %q", path, found[path], says)
		}
	}
}

func TestCompose_tells_the_platform_and_its_shape(t *testing.T) {
	for platform, says := range map[string]string{
		"aws: {region: eu-west-1}":                            "aws:\n      region: eu-west-1",
		"external: {platformName: own}":                       "platformName: own",
		"gcp: {region: r, projectID: p}":                      "projectID: p",
		"azure: {region: r}":                                  "resourceGroupName: small-rg",
		"vsphere: {apiVIPs: [192.168.0.5], ingressVIPs: [a]}": "apiServerInternalIPs:\n      - 192.168.0.5",
	} {
		d := given(t, "")
		d.Data[payload.ConfigKey] = bytes.Replace(d.Data[payload.ConfigKey], []byte("none: {}"), []byte(platform), 1)
		d.Data[payload.ConfigKey] = bytes.Replace(d.Data[payload.ConfigKey], []byte("replicas: 3"), []byte("replicas: 1"), 1)
		d.Replicas = 1
		in, err := payload.Read(d)
		must(t, err)
		cluster := small
		cluster.Replicas = 1
		made, err := Compose(in, cluster, material)
		must(t, err)
		file := files(t, made.Bootstrap)["/opt/openshift/manifests/cluster-infrastructure-02-config.yml"]
		if !strings.Contains(file, says) || !strings.Contains(file, "controlPlaneTopology: SingleReplica") {
			t.Errorf("with %s it is\n%s", platform, file)
		}
	}
}

func TestCompose_writes_no_credentials_where_all_may_read(t *testing.T) {
	d := given(t, "")
	d.Data[payload.ConfigKey] = bytes.Replace(d.Data[payload.ConfigKey], []byte("none: {}"), []byte("vsphere: {vcenters: [{server: a, user: hunter3, password: hunter3}]}"), 1)
	in, err := payload.Read(d)
	must(t, err)
	made, err := Compose(in, small, material)
	must(t, err)
	if file := files(t, made.Bootstrap)["/opt/openshift/manifests/cluster-config.yaml"]; strings.Contains(file, "hunter") || strings.Contains(file, "auths") || !strings.Contains(file, "server: a") {
		t.Errorf("it is\n%s", file)
	}
}
