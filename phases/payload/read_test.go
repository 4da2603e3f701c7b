package payload

import (
	"errors"
	"strings"
	"testing"
)

func TestRead_needs_one_of_the_two_documents(t *testing.T) {
	for name, remove := range map[string]string{"both": "", "the install-config alone": StateKey, "the state alone": ConfigKey} {
		t.Run(name, func(t *testing.T) {
			d := given(t)
			delete(d.Data, remove)
			in, err := Read(d)
			must(t, err)
			if in.Config.ClusterDomain() != "small.example.com" || in.Config.PlatformName() != "none" ||
				in.Config.Networking.NetworkType != "OVNKubernetes" || in.Config.Networking.ServiceNetwork[0] != "172.30.0.0/16" {
				t.Errorf("it reads %+v", in.Config)
			}
			if in.Raw["cpuPartitioningMode"] != "None" {
				t.Errorf("what is not read is lost: %v", in.Raw)
			}
			if has := in.InfraID == "small-x7k2p"; has == (remove == StateKey) || has != (in.State != nil) {
				t.Errorf("its infrastructure is %q", in.InfraID)
			}
		})
	}
	_, err := Read(Documents{Secret: "inputs", Replicas: 3})
	if err == nil || !strings.Contains(err.Error(), "Secret inputs: it has neither the key install-config.yaml nor .openshift_install_state.json") {
		t.Errorf("with none it says %v", err)
	}
}

func TestRead_names_where_the_two_documents_differ(t *testing.T) {
	for name, c := range map[string]struct{ old, new, at string }{
		"a text":           {"baseDomain: example.com", "baseDomain: hunter2.example.com", "baseDomain"},
		"a number":         {"replicas: 0", "replicas: 2", "compute[0].replicas"},
		"a secret":         {"registry.example.com", "hunter2.example.com", "pullSecret"},
		"a list":           {"  - cidr: 192.168.0.0/24", "  - cidr: 192.168.0.0/24\n  - cidr: 192.168.1.0/24", "networking.machineNetwork"},
		"one of a list":    {"192.168.0.0/24", "192.168.1.0/24", "networking.machineNetwork[0].cidr"},
		"another platform": {"none: {}", "external: {platformName: a}", "platform.external"},
		"one not read":     {"cpuPartitioningMode: None", "cpuPartitioningMode: AllNodes", "cpuPartitioningMode"},
	} {
		t.Run(name, func(t *testing.T) {
			d := given(t)
			d.Data[ConfigKey] = []byte(strings.Replace(string(d.Data[ConfigKey]), c.old, c.new, 1))
			_, err := Read(d)
			problems, is := errors.AsType[InputsError](err)
			if !is || len(problems) != 1 || problems[0].At != "Secret inputs, key install-config.yaml, field "+c.at {
				t.Fatalf("it says %v, want %s", err, c.at)
			}
			if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "Secret inputs, key .openshift_install_state.json; make them agree") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestRead_says_what_is_wrong_and_what_to_do(t *testing.T) {
	for name, c := range map[string]struct{ old, new, says string }{
		"no YAML":              {"baseDomain: example.com", "baseDomain: [hunter2", "it is no YAML that can be read at line"},
		"a field twice":        {"baseDomain: example.com", "baseDomain: a.b\nbaseDomain: hunter2", "has a field twice; mend it"},
		"a text for a number":  {"replicas: 3", "replicas: hunter2", "field controlPlane.replicas: it should be a whole number"},
		"a number for a text":  {"baseDomain: example.com", "baseDomain: 77", "field baseDomain: it should be a text"},
		"a list for fields":    {"name: small", "name: [hunter2]", "field metadata.name: it should be a text"},
		"two documents":        {"apiVersion: v1", "apiVersion: v1\n---\nbaseDomain: hunter2", "it has several documents, of which one would be read"},
		"another version":      {"apiVersion: v1", "apiVersion: v2", "field apiVersion: it is not v1"},
		"a bad name":           {"name: small", "name: Small_hunter2", "field metadata.name: it is no name of a cluster"},
		"a bad domain":         {"baseDomain: example.com", "baseDomain: hunter2", "field baseDomain: it is no domain"},
		"a long domain":        {"baseDomain: example.com", "baseDomain: " + strings.Repeat("a.", 120) + "com", "it is longer than names may be"},
		"an unknown platform":  {"none: {}", "hunter2: {}", "field platform: it names a platform that is not known; name one of alibabacloud, aws"},
		"two platforms":        {"none: {}", "none: {}\n  aws: {region: a}", "field platform: it names 2 platforms"},
		"no region":            {"none: {}", "aws: {}", "field platform.aws.region: it is missing"},
		"other replicas":       {"replicas: 3", "replicas: 5", "field controlPlane.replicas: it is 5, and spec.replicas 3"},
		"an architecture":      {"name: master", "name: master\n  architecture: hunter2", "field controlPlane.architecture: it is none of amd64"},
		"workers below zero":   {"replicas: 0", "replicas: -1", "field compute[0].replicas: it is below zero"},
		"no pull secret":       {"pullSecret:", "other:", "field pullSecret: it is no JSON with credentials"},
		"bad credentials":      {`"auth":"`, `"auth":"hunter2`, "field pullSecret: entry 1 of auths"},
		"a bad key":            {"sshKey: ssh-ed25519", "sshKey: hunter2", "field sshKey: line 1 is no public key"},
		"a bad bundle":         {"apiVersion: v1", "apiVersion: v1\nadditionalTrustBundle: hunter2", "field additionalTrustBundle: it has something else"},
		"a bad proxy":          {"apiVersion: v1", "apiVersion: v1\nproxy: {httpProxy: 'http://u:hunter2@a b'}", "field proxy.httpProxy: it is no URL"},
		"a mirror without one": {"apiVersion: v1", "apiVersion: v1\nimageDigestSources: [{source: hunter2}]", "field imageDigestSources[0]: it has no source or no mirrors"},
		"in place":             {"apiVersion: v1", "apiVersion: v1\nbootstrapInPlace: {installationDisk: a}", "field bootstrapInPlace: a cluster is installed with a bootstrap machine"},
		"a bad publish":        {"apiVersion: v1", "apiVersion: v1\npublish: hunter2", "field publish: it is none of External, Internal"},
		"no network":           {"192.168.0.0/24", "192.168.0.1/24", "field networking.machineNetwork[0].cidr: it is no network"},
		"an overlap":           {"192.168.0.0/24", "172.30.8.0/24", "field networking.machineNetwork[0].cidr: it overlaps the network of networking.serviceNetwork[0]"},
		"no room for nodes":    {"networking:", "networking:\n  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 14}]", "networking.clusterNetwork[0].hostPrefix: it leaves no room"},
		"two of a family":      {"networking:", "networking:\n  serviceNetwork: [172.30.0.0/16, 172.31.0.0/16]", "networking.serviceNetwork: it has two networks of the same family"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(configured(t, c.old, c.new))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "Secret inputs, key install-config.yaml") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it quotes a value: %v", err)
			}
		})
	}
}

func TestRead_refuses_what_is_not_the_installers_state(t *testing.T) {
	for name, c := range map[string]struct{ state, says string }{
		"no JSON":   {"{hunter2", "it is not the installer's state"},
		"no asset":  {"{}", "it has no asset *installconfig.InstallConfig"},
		"no fields": {`{"*installconfig.InstallConfig":{"config":["hunter2"]}}`, "it is not an object with fields"},
	} {
		t.Run(name, func(t *testing.T) {
			d := given(t)
			d.Data = map[string][]byte{StateKey: []byte(c.state)}
			_, err := Read(d)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func TestProblems_are_named_up_to_ten(t *testing.T) {
	var problems InputsError
	for range 12 {
		problems.add(strings.Repeat("x", len(problems)+1), "why")
	}
	if text := problems.err().Error(); !strings.HasSuffix(text, "; and 2 more") {
		t.Errorf("it says %s", text)
	}
}
