package bootworld

// Where objects of Cluster API hold what they start machines from.
const (
	TemplateName = "spec.template.spec.infrastructureRef.name"
	TemplateAMI  = "spec.template.spec.ami.id"
)

// CloneOf is the label of clones.
const CloneOf = "capi-operator.openshift.io/boot-image-clone-of"

// BySets is the annotation of a MachineConfiguration by which MachineSets of Cluster API are enrolled, ByDeployments that for
// MachineDeployments.
const (
	BySets        = "capi-operator.openshift.io/boot-images-machinesets"
	ByDeployments = "capi-operator.openshift.io/boot-images-machinedeployments"
)

// AWSTemplate is a user's own, with labels of others beside those of Cluster API.
func AWSTemplate(name, image string, changes ...func(*Object)) *Object {
	template := Parse(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata:
  name: %s
  namespace: openshift-cluster-api
  labels: {cluster.x-k8s.io/cluster-name: %s, argocd.argoproj.io/instance: shop}
spec:
  template:
    spec:
      ami: {id: %s}
      instanceType: m6i.xlarge
      iamInstanceProfile: worker
      rootVolume: {size: 120, type: gp3, encrypted: true}
`, name, InfrastructureName, image)
	for _, change := range changes {
		change(template)
	}
	return template
}

// Set is a MachineSet of Cluster API with a template, or another kind of that form.
func Set(kind, name string, template *Object, changes ...func(*Object)) *Object {
	o := Parse(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: %[1]s
metadata:
  name: %[2]s
  namespace: openshift-cluster-api
  labels: {cluster.x-k8s.io/cluster-name: %[3]s}
spec:
  clusterName: %[3]s
  replicas: 1
  selector: {matchLabels: {set: %[2]s}}
  template:
    metadata: {labels: {set: %[2]s, cluster.x-k8s.io/cluster-name: %[3]s}}
    spec:
      clusterName: %[3]s
      bootstrap: {dataSecretName: worker-user-data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: %[4]s, name: %[5]s}
`, kind, name, InfrastructureName, template.GetKind(), template.GetName())
	for _, change := range changes {
		change(o)
	}
	return o
}
