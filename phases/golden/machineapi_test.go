package golden_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"

	"github.com/capstan-capi/capstan/phases/golden"
)

const (
	upload     = "/resourceGroups/shop-rg/providers/Microsoft.Compute/images/"
	gallery    = "/resourceGroups/shop-rg/providers/Microsoft.Compute/galleries/gallery_shop_x7k2p/images/"
	infra      = "shop-x7k2p"
	someGCP    = "projects/rhcos-cloud/global/images/"
	addressGCP = "https://www.googleapis.com/compute/v1/"
)

// row is a MachineSet with a provider spec, and what is to be done about it.
type row struct {
	spec        string
	annotations map[string]string
	cluster     func(*golden.Cluster)
	outcome     golden.Outcome
	reason      golden.Reason
	wanted      string
	after       string // the provider spec
}

func multi(c *golden.Cluster) { c.MultiPayload = true }

func arm(c *golden.Cluster) { c.ControlPlaneArchitectures = []string{"arm64"} }

func annotated(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

func judged(t *testing.T, platform configv1.PlatformType, rows map[string]row) {
	g := read(t, made())
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			cluster, set := on(platform), machineSet(r.spec)
			set.Annotations = r.annotations
			if r.cluster != nil {
				r.cluster(cluster)
			}
			verdict := g.Judge(cluster, golden.FromMachineSet(set))
			if verdict.Outcome != r.outcome || verdict.Reason != r.reason || r.wanted != "" && verdict.Wanted != r.wanted {
				t.Fatalf("%+v", verdict)
			}
			if (verdict.Outcome == golden.Skipped || verdict.Outcome == golden.Invalid) == (verdict.Message == "") {
				t.Errorf("%s: %q", verdict.Outcome, verdict.Message)
			}
			if (verdict.Outcome == golden.Outdated) != (verdict.Patch != nil) {
				t.Errorf("%s: %+v", verdict.Outcome, verdict.Patch)
			}
			if r.after == "" {
				return
			}
			after, err := apply(t, set, verdict.Patch)
			if err != nil {
				t.Fatal(err)
			}
			spec := decode[machinev1beta1.MachineSet](t, after).Spec.Template.Spec.ProviderSpec.Value.Raw
			if diff := cmp.Diff(parsed(t, r.after).Object, parsed(t, string(spec)).Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJudge_AWS(t *testing.T) {
	judged(t, configv1.AWSPlatformType, map[string]row{
		"an older one": {
			spec:    `{"kind": "AWSMachineProviderConfig", "ami": {"id": "ami-old"}, "placement": {"region": "us-east-1"}, "unknown": [1.5]}`,
			outcome: golden.Outdated, wanted: "ami-new-x86_64",
			after: `{"kind": "AWSMachineProviderConfig", "ami": {"id": "ami-new-x86_64"}, "placement": {"region": "us-east-1"}, "unknown": [1.5]}`,
		},
		"filters beside an ID":           {spec: `{"ami": {"id": "ami-old", "filters": [{"name": "a"}]}}`, outcome: golden.Outdated, after: `{"ami": {"id": "ami-new-x86_64"}}`},
		"the wanted one":                 {spec: `{"ami": {"id": "ami-new-x86_64"}}`, outcome: golden.AsWanted, wanted: "ami-new-x86_64"},
		"the region of the cluster":      {spec: `{"ami": {"id": "ami-old"}, "placement": {}}`, outcome: golden.Outdated, wanted: "ami-new-x86_64", after: `{"ami": {"id": "ami-new-x86_64"}, "placement": {}}`},
		"another region":                 {spec: `{"ami": {"id": "ami-old"}, "placement": {"region": "eu-west-1"}}`, outcome: golden.Outdated, wanted: "ami-eu-x86_64"},
		"a region without":               {spec: `{"ami": {"id": "ami-old"}, "placement": {"region": "mars-1"}}`, outcome: golden.Skipped, reason: golden.NoImageHere},
		"no region at all":               {spec: `{"ami": {"id": "ami-old"}}`, cluster: func(c *golden.Cluster) { c.Region = "" }, outcome: golden.Skipped, reason: golden.NoImageHere},
		"an architecture without":        {spec: `{"ami": {"id": "ami-old"}}`, annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=s390x"), outcome: golden.Skipped, reason: golden.NoImageHere},
		"an ARN":                         {spec: `{"ami": {"arn": "arn:aws:ec2:us-east-1::image/ami-old"}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"filters":                        {spec: `{"ami": {"filters": [{"name": "name", "values": ["rhcos"]}]}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"an empty ID":                    {spec: `{"ami": {"id": ""}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"no AMI":                         {spec: `{"instanceType": "m6i.large"}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"an unknown one":                 {spec: `{"ami": {"id": "ami-mine"}}`, outcome: golden.Skipped, reason: golden.Foreign, wanted: "ami-new-x86_64"},
		"nobody knows":                   {spec: `{"ami": {"id": "ami-old"}}`, cluster: func(c *golden.Cluster) { c.Provenance = nil }, outcome: golden.Skipped, reason: golden.Foreign},
		"an adopted one":                 {spec: `{"ami": {"id": "ami-mine"}}`, annotations: annotated(adopt, "ami-mine"), outcome: golden.Outdated, after: `{"ami": {"id": "ami-new-x86_64"}}`},
		"another one adopted":            {spec: `{"ami": {"id": "ami-mine"}}`, annotations: annotated(adopt, "ami-min"), outcome: golden.Skipped, reason: golden.Foreign},
		"an empty adoption":              {spec: `{"ami": {"id": "ami-mine"}}`, annotations: annotated(adopt, ""), outcome: golden.Skipped, reason: golden.Foreign},
		"nothing":                        {spec: "", outcome: golden.Invalid},
		"null":                           {spec: "null", outcome: golden.Invalid},
		"empty":                          {spec: "{}", outcome: golden.Invalid},
		"unreadable":                     {spec: `{"ami": 3}`, outcome: golden.Invalid},
		"another field that is odd":      {spec: `{"ami": {"id": "ami-old"}, "tags": 3}`, outcome: golden.Outdated},
		"another platform's":             {spec: `{"kind": "GCPMachineProviderSpec", "ami": {"id": "ami-old"}}`, outcome: golden.Invalid},
		"an odd kind":                    {spec: `{"kind": 3, "ami": {"id": "ami-old"}}`, outcome: golden.Invalid},
		"an odd architecture and an ARN": {spec: `{"ami": {"arn": "a"}}`, annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=mips"), outcome: golden.Invalid},
		"a platform without rules":       {spec: `{"ami": {"id": "ami-old"}}`, cluster: func(c *golden.Cluster) { c.Platform = "Nutanix" }, outcome: golden.Skipped, reason: golden.Unsupported},
	})
}

func TestJudge_GCP(t *testing.T) {
	disk := func(image string) string { return `{"disks": [{"boot": true, "image": "` + image + `"}]}` }
	judged(t, configv1.GCPPlatformType, map[string]row{
		"every boot disk and no other": {
			spec:    `{"disks": [{"boot": true, "image": "` + someGCP + `old"}, {"boot": false, "image": "` + someGCP + `data"}, null, {"boot": true, "image": "` + someGCP + `new-x86_64"}, {"boot": true, "image": "` + someGCP + `older", "sizeGb": 9007199254740993}]}`,
			outcome: golden.Outdated, wanted: someGCP + "new-x86_64",
			after: `{"disks": [{"boot": true, "image": "` + someGCP + `new-x86_64"}, {"boot": false, "image": "` + someGCP + `data"}, null, {"boot": true, "image": "` + someGCP + `new-x86_64"}, {"boot": true, "image": "` + someGCP + `new-x86_64", "sizeGb": 9007199254740993}]}`,
		},
		"the wanted one":                   {spec: disk(someGCP + "new-x86_64"), outcome: golden.AsWanted},
		"the wanted one by address":        {spec: disk(addressGCP + someGCP + "new-x86_64"), outcome: golden.AsWanted},
		"an older one by address":          {spec: disk("https://compute.googleapis.com/compute/v1/" + someGCP + "old"), outcome: golden.Outdated, after: disk(someGCP + "new-x86_64")},
		"another server":                   {spec: disk("https://evil.example/compute/v1/" + someGCP + "new-x86_64"), outcome: golden.Skipped, reason: golden.Foreign},
		"a custom one":                     {spec: disk("projects/mine/global/images/new-x86_64"), outcome: golden.Skipped, reason: golden.Foreign},
		"one custom disk of two":           {spec: `{"disks": [{"boot": true, "image": "` + someGCP + `old"}, {"boot": true, "image": "projects/mine/global/images/a"}]}`, outcome: golden.Skipped, reason: golden.Foreign},
		"a custom one that is adopted":     {spec: disk("projects/mine/global/images/a"), annotations: annotated(adopt, addressGCP+"projects/mine/global/images/a"), outcome: golden.Outdated},
		"two custom ones that are adopted": {spec: `{"disks": [{"boot": true, "image": "projects/mine/global/images/a"}, {"boot": true, "image": "b"}]}`, annotations: annotated(adopt, "b, projects/mine/global/images/a"), outcome: golden.Outdated},
		"another project by the flag":      {spec: disk("projects/mine/global/images/a"), cluster: func(c *golden.Cluster) { c.GCPProject = "mine" }, outcome: golden.Outdated},
		"a name that begins like it":       {spec: disk("projects/rhcos-cloud-mine/global/images/a"), outcome: golden.Skipped, reason: golden.Foreign},
		"a family of the project":          {spec: disk(someGCP + "family/rhcos"), outcome: golden.Skipped, reason: golden.Foreign},
		"no architecture":                  {spec: disk(someGCP + "old"), cluster: multi, outcome: golden.Skipped, reason: golden.ArchUnknown},
		"no boot disk":                     {spec: `{"disks": [{"boot": false, "image": "a"}]}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"no image":                         {spec: `{"disks": [{"boot": true}]}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"no disks":                         {spec: `{"zone": "a"}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"an architecture without":          {spec: disk(someGCP + "old"), annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=ppc64le"), outcome: golden.Skipped, reason: golden.NoImageHere},
		"unreadable":                       {spec: `{"disks": {}}`, outcome: golden.Invalid},
	})
}

func TestJudge_Azure(t *testing.T) {
	market := func(publisher, offer, sku, version, kind string) string {
		return `{"image": {"publisher": "` + publisher + `", "offer": "` + offer + `", "sku": "` + sku + `", "version": "` + version + `", "resourceID": "", "type": "` + kind + `"}}`
	}
	of := func(id string) string { return `{"image": {"resourceID": "` + id + `"}}` }
	const noPlan, withPlan = "MarketplaceNoPlan", "MarketplaceWithPlan"
	judged(t, configv1.AzurePlatformType, map[string]row{
		"an upload": {
			spec:    `{"image": {"resourceID": "` + upload + infra + `", "publisher": "", "unknown": 1}, "osDisk": {"diskSizeGB": 128}}`,
			outcome: golden.Outdated, wanted: "azureopenshift:aro4:aro_421:421.1",
			after: `{"image": {"resourceID": "", "publisher": "azureopenshift", "offer": "aro4", "sku": "aro_421", "version": "421.1", "type": "MarketplaceNoPlan", "unknown": 1}, "osDisk": {"diskSizeGB": 128}}`,
		},
		"an upload of gen 2":                  {spec: of(gallery + infra + "-gen2/versions/latest"), outcome: golden.Outdated, wanted: "azureopenshift:aro4:421-v2:421.2", after: market("azureopenshift", "aro4", "421-v2", "421.2", noPlan)},
		"an upload with a subscription":       {spec: of("/subscriptions/0" + gallery + infra), outcome: golden.Outdated, wanted: "azureopenshift:aro4:aro_421:421.1"},
		"an upload in other letters":          {spec: of(strings.ToUpper(gallery + infra + "-gen2")), outcome: golden.Outdated, wanted: "azureopenshift:aro4:421-v2:421.2"},
		"another cluster's upload":            {spec: of(upload + "other-abcde"), outcome: golden.Skipped, reason: golden.Foreign, wanted: "azureopenshift:aro4:aro_421:421.1"},
		"one that is named alike":             {spec: of(upload + infra + "-custom"), outcome: golden.Skipped, reason: golden.Foreign},
		"the name somewhere else":             {spec: of("/resourceGroups/" + infra + "/providers/Microsoft.Compute/images/mine"), outcome: golden.Skipped, reason: golden.Foreign},
		"an adopted upload of gen 2":          {spec: of(upload + "mine-gen2"), annotations: annotated(adopt, upload+"mine-gen2"), outcome: golden.Outdated, wanted: "azureopenshift:aro4:421-v2:421.2"},
		"an upload for arm":                   {spec: of(upload + infra), cluster: arm, outcome: golden.Outdated, wanted: "azureopenshift:aro4:421-arm:421.4"},
		"plan-less":                           {spec: market("azureopenshift", "aro4", "aro_419", "419.1", noPlan), outcome: golden.Outdated, after: market("azureopenshift", "aro4", "aro_421", "421.1", noPlan)},
		"plan-less of gen 2":                  {spec: market("azureopenshift", "aro4", "419-v2", "419.1", noPlan), outcome: golden.Outdated, wanted: "azureopenshift:aro4:421-v2:421.2"},
		"plan-less, as wanted":                {spec: market("azureopenshift", "aro4", "421-v2", "421.2", noPlan), outcome: golden.AsWanted},
		"plan-less, as wanted, without type":  {spec: market("azureopenshift", "aro4", "421-v2", "421.2", ""), outcome: golden.AsWanted},
		"plan-less of others":                 {spec: market("acme", "linux", "l-gen1", "1", noPlan), outcome: golden.Skipped, reason: golden.Foreign},
		"plan-less of others, adopted":        {spec: market("acme", "linux", "l-gen1", "1", noPlan), annotations: annotated(adopt, "acme:linux:l-gen1:1"), outcome: golden.Outdated, wanted: "azureopenshift:aro4:aro_421:421.1"},
		"with a plan":                         {spec: market("redhat", "rh-ocp-worker", "rh-ocp-worker", "4.14.1", withPlan), outcome: golden.Outdated, after: market("redhat", "rh-ocp-worker", "rh-ocp-worker", "4.21.2", withPlan)},
		"with a plan of gen 1":                {spec: market("redhat", "rh-ocp-worker", "rh-ocp-worker-gen1", "4.14.1", withPlan), outcome: golden.Outdated, wanted: "redhat:rh-ocp-worker:rh-ocp-worker-gen1:4.21.1"},
		"with a plan of EMEA":                 {spec: market("redhat-limited", "rh-oke-worker", "rh-oke-worker", "4.14.1", withPlan), outcome: golden.Outdated, wanted: "redhat-limited:rh-oke-worker:rh-oke-worker:4.21.3"},
		"with a plan, as wanted":              {spec: market("redhat", "rh-ocp-worker", "rh-ocp-worker", "4.21.2", withPlan), outcome: golden.AsWanted},
		"with a plan of EMEA that is no more": {spec: market("redhat-limited", "rh-oke-worker", "rh-oke-worker-gen1", "4.14.1", withPlan), outcome: golden.Skipped, reason: golden.NoImageHere},
		"with a plan of others":               {spec: market("acme", "linux", "l", "1", withPlan), outcome: golden.Skipped, reason: golden.NoImageHere},
		"with a plan, for arm":                {spec: market("redhat", "rh-ocp-worker", "rh-ocp-worker", "4.14.1", withPlan), cluster: arm, outcome: golden.Skipped, reason: golden.NoImageHere},
		"trusted launch":                      {spec: `{"image": {"resourceID": "` + upload + infra + `"}, "securityProfile": {"settings": {"securityType": "TrustedLaunch"}}}`, outcome: golden.Skipped, reason: golden.SecurityType},
		"trusted launch, and no architecture": {spec: `{"image": {"resourceID": "a"}, "securityProfile": {"settings": {"securityType": "TrustedLaunch"}}}`, cluster: multi, outcome: golden.Skipped, reason: golden.SecurityType},
		"encryption at host":                  {spec: `{"image": {"resourceID": "` + upload + infra + `"}, "securityProfile": {"encryptionAtHost": true}}`, outcome: golden.Outdated},
		"s390x":                               {spec: of(upload + infra), annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=s390x"), outcome: golden.Skipped, reason: golden.UnsupportedArch},
		"ppc64le":                             {spec: of(upload + infra), annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=ppc64le"), outcome: golden.Skipped, reason: golden.UnsupportedArch},
		"no image":                            {spec: `{"image": {}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"a publisher without an offer":        {spec: `{"image": {"publisher": "redhat"}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"an ID that is empty":                 {spec: `{"image": {"type": "ID", "publisher": "redhat", "offer": "a"}}`, outcome: golden.Skipped, reason: golden.NoImageID},
		"an odd type":                         {spec: market("redhat", "rh-ocp-worker", "a", "1", "Shared"), outcome: golden.Invalid},
		"no architecture":                     {spec: of(upload + infra), cluster: multi, outcome: golden.Skipped, reason: golden.ArchUnknown},
		"unreadable":                          {spec: `{"image": "a"}`, outcome: golden.Invalid},
	})
}

// templates is a vCenter in which the templates of one release were made.
type templates map[string]string

func (m templates) Template(release, _ string, _ *machinev1beta1.Workspace) (string, bool) {
	name, found := m[release]
	return name, found
}

func TestJudge_vSphere(t *testing.T) {
	with := func(made templates) func(*golden.Cluster) {
		return func(c *golden.Cluster) { c.Templates = made }
	}
	spec := `{"template": "shop-x7k2p-rhcos", "workspace": {"datacenter": "dc"}}`
	judged(t, configv1.VSpherePlatformType, map[string]row{
		"nobody makes templates": {spec: spec, outcome: golden.Skipped, reason: golden.NeedsVCenter},
		"none is made yet":       {spec: spec, cluster: with(templates{"9.7": "a"}), outcome: golden.Skipped, reason: golden.NeedsVCenter},
		"one is made":            {spec: spec, cluster: with(templates{"9.8": "new"}), annotations: annotated(adopt, "shop-x7k2p-rhcos"), outcome: golden.Outdated, after: `{"template": "new", "workspace": {"datacenter": "dc"}}`},
		"a foreign one":          {spec: spec, cluster: with(templates{"9.8": "new"}), outcome: golden.Skipped, reason: golden.Foreign},
		"as wanted":              {spec: `{"template": "new"}`, cluster: with(templates{"9.8": "new"}), outcome: golden.AsWanted},
		"no template":            {spec: `{"network": {}}`, cluster: with(templates{"9.8": "new"}), outcome: golden.Skipped, reason: golden.NoImageID},
		"unreadable":             {spec: `{"template": 3}`, cluster: with(templates{"9.8": "new"}), outcome: golden.Invalid},
		"no architecture":        {spec: spec, cluster: func(c *golden.Cluster) { c.Templates, c.MultiPayload = templates{"9.8": "new"}, true }, outcome: golden.Skipped, reason: golden.ArchUnknown},
		"no such architecture":   {spec: spec, cluster: with(templates{"9.8": "new"}), annotations: annotated(golden.ArchAnnotation, "kubernetes.io/arch=s390x"), outcome: golden.Skipped, reason: golden.NoImageHere},
	})
}
