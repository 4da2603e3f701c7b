package creating

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload"
)

// AWS is what an install-config does not say of AWS.
type AWS struct {
	// AMI is the image that machines are started from, unless the install-config names one.
	AMI string
	// VPC is the network that the subnets of the install-config are in.
	VPC string
	// Credentials are those that the infrastructure provider and the guest use; the provider's own, and none, if they are nil.
	Credentials *Credentials
	// ProviderNamespace is where the provider reads credentials; Capstan's if it is empty.
	ProviderNamespace string
}

// Credentials are an access key of AWS.
type Credentials struct{ KeyID, Secret string }

var (
	amiForm = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)
	vpcForm = regexp.MustCompile(`^vpc-[0-9a-f]{8,17}$`)
)

func (a AWS) refused() (problems []payload.Problem) {
	if a.AMI != "" && !amiForm.MatchString(a.AMI) {
		problems = append(problems, payload.Problem{At: "--aws-ami", Why: "it is no image; name one as ami-..."})
	}
	if a.VPC != "" && !vpcForm.MatchString(a.VPC) {
		problems = append(problems, payload.Problem{At: "--aws-vpc", Why: "it is no network; name one as vpc-..."})
	}
	if c := a.Credentials; c != nil && (c.KeyID == "" || c.Secret == "") {
		problems = append(problems, payload.Problem{At: "--aws-credentials", Why: "AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not in the environment; set both"})
	}
	return problems
}

func (c *creation) isAWS() bool { return c.Infrastructure == "" && c.in.Config.PlatformName() == "aws" }

// infraID is the name by which what belongs to the cluster is found in the cloud.
func (c *creation) infraID() string { return cmp.Or(c.in.InfraID, c.name()) }

// aws is that of Cluster API's provider for AWS. The bootstrap machine has a template of its own: its Ignition config is too large
// for the data of an instance, and is fetched from a bucket.
func (c *creation) aws(pools []pool) infrastructure {
	on := infrastructure{
		cluster:  reference{APIGroup: infrastructureGroup, Kind: "AWSCluster", Name: c.name()},
		workers:  map[string]reference{},
		zones:    map[string][]string{},
		endpoint: clusterv1.APIEndpoint{Host: "api." + c.in.Config.ClusterDomain(), Port: apiPort},
	}
	masters := awsPool{given: c.in.Raw["controlPlane"], at: "controlPlane", profile: "control-plane.cluster-api-provider-aws.sigs.k8s.io"}
	on.secrets, on.objects = c.awsIdentity()
	zones := c.awsZones(masters)
	const kind = "AWSMachineTemplate"
	on.controlPlane = on.machineTemplate(c, kind, c.name()+"-"+controlPlanePool, c.awsMachine(masters, "UnencryptedUserData"))
	bootstrap := on.machineTemplate(c, kind, c.name()+"-"+bootstrapPool, c.awsMachine(masters, "ClusterObjectStore"))
	on.bootstrap = &bootstrap
	for _, one := range pools {
		workers := awsPool{given: one.given, at: one.at, profile: "nodes.cluster-api-provider-aws.sigs.k8s.io"}
		on.workers[one.name] = on.machineTemplate(c, kind, c.name()+"-"+one.name, c.awsMachine(workers, "UnencryptedUserData"))
		on.zones[one.name] = c.awsZones(workers)
		zones = append(zones, on.zones[one.name]...)
	}
	slices.Sort(zones)
	on.objects = append(on.objects, c.awsCluster(slices.Compact(zones)))
	return on
}

// awsIdentity are who the provider is to AWS, and the Secret of that. The guest gets the same by a manifest.
func (c *creation) awsIdentity() (secrets, objects []any) {
	given := c.AWS.Credentials
	if given == nil {
		return nil, nil
	}
	secret := c.secret(c.identity(), map[string][]byte{"AccessKeyID": []byte(given.KeyID), "SecretAccessKey": []byte(given.Secret)})
	secret.Namespace = cmp.Or(c.AWS.ProviderNamespace, providersNamespace)
	return []any{secret}, []any{map[string]any{
		"apiVersion": infrastructureGroup + "/" + infrastructureVersion, "kind": "AWSClusterStaticIdentity",
		"metadata": map[string]any{"name": c.identity(), "labels": map[string]any{clusterv1.ClusterNameLabel: c.name()}},
		"spec": map[string]any{
			"secretRef":         c.identity(),
			"allowedNamespaces": map[string]any{"list": []any{c.Namespace}, "selector": map[string]any{}},
		},
	}}
}

// identity is the name of the credentials, which are in no namespace of the cluster. Neither part has a dot.
func (c *creation) identity() string { return c.Namespace + "." + c.name() + ".aws" }

// credentials are the manifest by which the guest gets them, unless it is to do without.
func (c *creation) credentials(manifests []File) []File {
	if !c.isAWS() || c.AWS.Credentials == nil || c.in.Config.CredentialsMode == "Manual" {
		return nil
	}
	const file = payload.OpenShiftFolder + "/99_cloud-creds-secret.yaml"
	if slices.ContainsFunc(manifests, func(f File) bool { return f.Path == file }) {
		c.problems = append(c.problems, payload.Problem{At: file, Why: "a file of this name is made of the credentials; give it another name, or leave out --aws-credentials"})
		return nil
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": metav1.NamespaceSystem, "name": "aws-creds"},
		"data": map[string][]byte{"aws_access_key_id": []byte(c.AWS.Credentials.KeyID), "aws_secret_access_key": []byte(c.AWS.Credentials.Secret)},
	})
	if err != nil {
		c.problems = append(c.problems, payload.Problem{At: file, Why: "the credentials cannot be written as YAML"})
		return nil
	}
	return []File{{Path: file, Data: text}}
}

// bounded is a name in the cloud with an ending, cut in the middle where it would be too long, so that it stays one cluster's.
func bounded(name, ending string, most int) string {
	if len(name)+len(ending) <= most {
		return name + ending
	}
	ending = "-" + hashed(name) + ending
	return name[:most-len(ending)] + ending
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
