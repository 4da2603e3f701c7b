package creating

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

var update = flag.Bool("update", false, "write the objects in testdata")

func TestMake_objects_are_those_in_testdata(t *testing.T) {
	dev := elsewhere(t, "none", "", "")
	dev.Infrastructure = Dev
	dev.Manifests = []File{{"openshift/a.yaml", []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}")}}
	for name, given := range map[string]Given{"aws-objects.yaml": onAWS(t), "dev-objects.yaml": dev} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			must(t, Write(&text, made(t, given).Objects))
			if *update {
				must(t, os.WriteFile("testdata/"+name, text.Bytes(), 0o644))
			}
			if have := fixture(t, name); !bytes.Equal(have, text.Bytes()) {
				t.Errorf("testdata/%s is not what is made: run this test with -update and look at the difference", name)
			}
		})
	}
}

func TestMake_other_platforms_have_all_but_infrastructure_and_name_what_is_missing(t *testing.T) {
	all := made(t, elsewhere(t, "gcp", "{gcp: {}}", "{gcp: {region: europe-west3, projectID: p}}"))
	want := []string{
		"Namespace small", "Secret small-install", "Cluster small", "OpenShiftControlPlane small", "OpenShiftConfigTemplate small-worker", "MachineDeployment small-worker",
	}
	if got := kinds(all); !slices.Equal(got, want) {
		t.Errorf("made are %q", got)
	}
	var missing []string
	for _, problem := range all.Missing {
		missing = append(missing, problem.At)
		if !strings.Contains(problem.Why, "gcp") {
			t.Errorf("it does not name the platform: %s", problem)
		}
	}
	fields := []string{
		"Cluster small, field spec.infrastructureRef", "OpenShiftControlPlane small, field spec.machineTemplate.spec.infrastructureRef",
		"MachineDeployment small-worker, field spec.template.spec.infrastructureRef",
	}
	if !slices.Equal(missing, fields) {
		t.Errorf("missing are %q", missing)
	}
}

func TestMake_refuses_what_is_wrong_and_names_all_places(t *testing.T) {
	for name, row := range map[string]struct {
		given Given
		at    []string
	}{
		"an unknown platform":     {elsewhere(t, "moon", "", ""), []string{"small.yaml, field platform"}},
		"two control planes":      {elsewhere(t, "none", "replicas: 1", "replicas: 2"), []string{"small.yaml, field controlPlane.replicas"}},
		"two things at once":      {elsewhere(t, "moon", "example.com", "example"), []string{"small.yaml, field baseDomain", "small.yaml, field platform"}},
		"two pools of a name":     {elsewhere(t, "none", "[{name: worker, replicas: 2}]", "[{name: a}, {name: a}]"), []string{"small.yaml, field compute[1].name"}},
		"a pool's kept name":      {elsewhere(t, "none", "name: worker", "name: bootstrap"), []string{"small.yaml, field compute[0].name"}},
		"no image on AWS":         {changed(t, "amiID: ami-0123456789abcdef0", "type: m6i.xlarge"), []string{"aws.yaml, field platform.aws.defaultMachinePlatform.amiID"}},
		"zones that are none":     {changed(t, "zones: [eu-central-1a, eu-central-1b]", "zones: eu-central-1a"), []string{"aws.yaml, field compute[0].platform.aws.zones"}},
		"a size that is none":     {changed(t, "size: 300", "size: much"), []string{"aws.yaml, field compute[0].platform.aws.rootVolume.size"}},
		"a small volume":          {changed(t, "size: 130", "size: 4"), []string{"aws.yaml, field platform.aws.defaultMachinePlatform.rootVolume.size"}},
		"a tag that is none":      {changed(t, "owner: fleet", "owner: 1"), []string{"aws.yaml, field platform.aws.userTags"}},
		"no room for zones":       {changed(t, "cidr: 10.0.0.0/16", "cidr: 10.0.0.0/26"), []string{"aws.yaml, field networking.machineNetwork[0].cidr"}},
		"no machines on AWS":      {changed(t, "name: master", "architecture: s390x"), []string{"aws.yaml, field controlPlane.architecture"}},
		"subnets of no VPC":       {changed(t, "region: eu-central-1", "region: eu-central-1\n    subnets: [subnet-1]"), []string{"--aws-vpc"}},
		"a manifest that is none": {withFile(elsewhere(t, "none", "", ""), "manifests/a.yaml", "a: b"), []string{"manifests/a.yaml"}},
		"a second credentials file": {
			withFile(onAWS(t), "openshift/99_cloud-creds-secret.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}"),
			[]string{"openshift/99_cloud-creds-secret.yaml"},
		},
		"other credentials in a manifest": {
			withFile(onAWS(t), "openshift/a.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: aws-creds, namespace: kube-system}, data: {aws_access_key_id: YQ==}}"),
			[]string{"openshift/99_cloud-creds-secret.yaml and openshift/a.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Make(row.given); !slices.Equal(placesIn(err), row.at) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestMake_refuses_options_by_the_names_of_their_flags(t *testing.T) {
	for flag, change := range map[string]func(*Options){
		"--release-image":        func(o *Options) { o.ReleaseImage = "registry.example.com/release:4.22.0" },
		"--namespace":            func(o *Options) { o.Namespace = "openshift-cluster-api" },
		"--release-image-policy": func(o *Options) { o.ReleaseImagePolicy = "Never" },
		"--management":           func(o *Options) { o.Management = "Mine" },
		"--infrastructure":       func(o *Options) { o.Infrastructure = "aws" },
		"--aws-ami":              func(o *Options) { o.AWS.AMI = "ubuntu" },
		"--aws-vpc":              func(o *Options) { o.AWS.VPC = "vpc-1" },
		"--aws-credentials":      func(o *Options) { o.AWS.Credentials = &Credentials{} },
	} {
		given := elsewhere(t, "none", "", "")
		change(&given.Options)
		if _, err := Make(given); !slices.Equal(placesIn(err), []string{flag}) {
			t.Errorf("%s: it says %v", flag, err)
		}
	}
	tagged := elsewhere(t, "none", "", "")
	tagged.ReleaseImage, tagged.ReleaseImagePolicy = "registry.example.com/release:4.22.0", v1alpha1.TagPolicy
	made(t, tagged)
}

// placesIn are those of problems.
func placesIn(err error) (at []string) {
	problems, _ := errors.AsType[payload.InputsError](err)
	for _, problem := range problems {
		at = append(at, problem.At)
	}
	return at
}

func withFile(given Given, path, text string) Given {
	given.Manifests = append(given.Manifests, File{path, []byte(text)})
	return given
}

func TestMake_reads_the_install_config_of_the_installers_own_state(t *testing.T) {
	state := []byte(`{"*installconfig.ClusterID":{"UUID":"u","InfraID":"small-x7k2p"},"*installconfig.InstallConfig":{"config":{"apiVersion":"v1","baseDomain":"example.com",
		"metadata":{"name":"small"},"platform":{"aws":{"region":"r","amiID":"ami-0123456789abcdef0"}},"controlPlane":{"replicas":5},
		"pullSecret":"{\"auths\":{\"a\":{\"auth\":\"YTpi\"}}}"}}}`)
	all := made(t, Given{State: state, Options: Options{ReleaseImage: image}})
	if replicas, _, _ := unstructured.NestedInt64(one(t, all, "OpenShiftControlPlane", "small").Object, "spec", "replicas"); replicas != 5 {
		t.Errorf("there are %d control-plane machines", replicas)
	}
	tags, _, _ := unstructured.NestedStringMap(one(t, all, "AWSCluster", "small").Object, "spec", "additionalTags")
	if tags["kubernetes.io/cluster/small-x7k2p"] != "owned" {
		t.Errorf("the tags are %v", tags)
	}
	if _, has, _ := unstructured.NestedString(one(t, all, "Secret", "small-install").Object, "data", payload.StateKey); !has {
		t.Error("the Secret does not hold the state")
	}
}

func TestMake_divides_manifests_among_Secrets_that_an_API_server_takes(t *testing.T) {
	given := elsewhere(t, "none", "", "")
	for _, name := range []string{"a", "b", "c"} {
		text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: x}, data: {a: " + strings.Repeat("x", 500<<10) + "}}"
		given = withFile(given, "manifests/"+name+".yaml", text)
	}
	all := made(t, given)
	for _, name := range []string{"small-manifests-1", "small-manifests-2", "small-manifests-3"} {
		data, _, _ := unstructured.NestedStringMap(one(t, all, "Secret", name).Object, "data")
		if len(data) != 1 {
			t.Errorf("%s holds %d files", name, len(data))
		}
	}
}

func TestMake_workers_are_shared_among_zones_as_the_installer_does(t *testing.T) {
	all := made(t, onAWS(t))
	for name, want := range map[string]int64{"fleet-a-worker-eu-central-1a": 3, "fleet-a-worker-eu-central-1b": 2, "fleet-a-infra": 0} {
		deployment := one(t, all, "MachineDeployment", name)
		replicas, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		zone, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "failureDomain")
		if replicas != want || zone != strings.TrimPrefix(strings.TrimPrefix(name, "fleet-a-infra"), "fleet-a-worker-") {
			t.Errorf("%s has %d in %q", name, replicas, zone)
		}
	}
}

func TestMake_on_subnets_of_others_names_their_network(t *testing.T) {
	given := changed(t, "region: eu-central-1", "region: eu-central-1\n    vpc: {subnets: [{id: subnet-1}, {id: subnet-2}]}")
	given.AWS.VPC = "vpc-0123456789abcdef0"
	network, _, _ := unstructured.NestedMap(one(t, made(t, given), "AWSCluster", "fleet-a").Object, "spec", "network")
	if id, _, _ := unstructured.NestedString(network, "vpc", "id"); id != given.AWS.VPC || len(network["subnets"].([]any)) != 2 {
		t.Errorf("the network is %v", network)
	}
}

func TestBounded_names_stay_apart_however_long_they_are(t *testing.T) {
	long := strings.Repeat("a", 40)
	one, other := bounded(long+"b", "-int", 32), bounded(long+"c", "-int", 32)
	if len(one) != 32 || one == other || !strings.HasSuffix(one, "-int") {
		t.Errorf("they are %s and %s", one, other)
	}
	if got := bounded("a", "-int", 32); got != "a-int" {
		t.Errorf("a short one is %s", got)
	}
}

func TestWriteFolder_writes_for_its_owner_alone_and_over_nothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "objects")
	objects := made(t, elsewhere(t, "none", "", "")).Objects
	must(t, WriteFolder(folder, objects))
	files, err := os.ReadDir(folder)
	must(t, err)
	if len(files) != len(objects) || files[0].Name() != "00-namespace-small.yaml" {
		t.Errorf("the files are %v", files)
	}
	for _, file := range files {
		if about, err := file.Info(); err != nil || about.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", file.Name(), about.Mode(), err)
		}
	}
	if err := WriteFolder(folder, objects); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("written once more: %v", err)
	}
}

func TestReadManifests_leaves_nothing_out(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Mkdir(filepath.Join(folder, "openshift"), 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "openshift", "a.yaml"), []byte("a"), 0o644))
	files, err := ReadManifests(folder)
	if err != nil || len(files) != 1 || files[0].Path != "openshift/a.yaml" {
		t.Errorf("read are %v (%v)", files, err)
	}
	must(t, os.WriteFile(filepath.Join(folder, "b.yaml"), []byte("b"), 0o644))
	if _, err := ReadManifests(folder); err == nil || !strings.Contains(err.Error(), "b.yaml") {
		t.Errorf("a file beside the folders is left out: %v", err)
	}
}

func TestMake_a_cluster_in_memory_gets_an_endpoint_that_is_its_own_each_time(t *testing.T) {
	endpoint := func(namespace string) (host string, port int64) {
		given := elsewhere(t, "none", "", "")
		given.Infrastructure, given.Namespace = Dev, namespace
		for _, object := range made(t, given).Objects {
			if object.GetKind() == "DevCluster" {
				host, _, _ = unstructured.NestedString(object.Object, "spec", "controlPlaneEndpoint", "host")
				port, _, _ = unstructured.NestedInt64(object.Object, "spec", "controlPlaneEndpoint", "port")
			}
		}
		return host, port
	}
	host, first := endpoint("a")
	_, again := endpoint("a")
	_, second := endpoint("b")
	if host != "127.0.0.1" || first != again || first == second || first < firstDevPort || first >= firstDevPort+devPorts {
		t.Errorf("it is %s at %d, then at %d, and another cluster's at %d", host, first, again, second)
	}
}
