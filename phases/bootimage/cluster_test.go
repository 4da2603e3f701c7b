package bootimage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/phasestest"
)

// capi is the namespace of Cluster API in a made-up cluster.
const capi = "openshift-cluster-api"

// The stubs that machines start from.
const (
	oldStub = `{"ignition":{"version":"2.2.0"}}`
	newStub = `{"ignition":{"version":"3.1.0"}}`
)

// cluster is a made-up one whose gate is open: its API server notes what is written, and somebody may meddle with each write.
type cluster struct {
	*Phases
	t      *testing.T
	now    time.Time
	server client.WithWatch // the API server as others use it
	kept   *keptNotes
	told   []events.Event
	// sent are the writes, in the form "patch MachineSet a", with a question mark behind those that are only tried.
	sent []string
	// meddles is called before a write is done, and may answer it in its place.
	meddles func(verb string, o client.Object) error
	// loses says that the answer to a write that was done is lost.
	loses func(verb string, o client.Object) bool
	// counter counts what is written.
	counter phasestest.Counter
}

// selects are those targets that have all of these labels.
type selects map[string]string

func (s selects) Selects(of map[string]string) bool {
	return labels.SelectorFromSet(labels.Set(s)).Matches(labels.Set(of))
}
func (selects) RefusesTwins() bool { return false }
func (s selects) String() string   { return labels.Set(s).String() }

// keptNotes are the notes of all targets, stored at once.
type keptNotes struct {
	by      map[machine.Key]json.RawMessage
	counter *phasestest.Counter
}

func (n *keptNotes) Note(_ context.Context, key machine.Key) (json.RawMessage, error) {
	return n.by[key], nil
}

func (n *keptNotes) StoreNote(_ context.Context, key machine.Key, _, note json.RawMessage) error {
	n.by[key] = note
	n.counter.Count("ConfigMap")
	return nil
}

func (n *keptNotes) OfferNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) (bool, error) {
	return true, n.StoreNote(ctx, key, seen, note)
}

func (n *keptNotes) HoldsNote(key machine.Key, note json.RawMessage) bool {
	return string(n.by[key]) == string(note)
}

var errLost = errors.New("the answer is lost")

// newCluster is on a platform and has objects, as YAML.
func newCluster(t *testing.T, platform configv1.PlatformType, objects ...string) *cluster {
	t.Helper()
	g, err := golden.Read(map[string]string{golden.StreamKey: `{"architectures": {"x86_64": {"images": {
		"aws": {"regions": {"us-east-1": {"image": "ami-new"}}}, "gcp": {"project": "rhcos-cloud", "name": "new"}}}}}`})
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{machinev1beta1.AddToScheme, machinev1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []schema.GroupVersionKind{ClusterKind, MachineSetKind, MachineDeploymentKind, AWSTemplateKind, GCPTemplateKind} {
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	c := &cluster{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), kept: &keptNotes{by: map[machine.Key]json.RawMessage{}}}
	c.kept.counter = &c.counter
	c.server = fake.NewClientBuilder().WithScheme(scheme).Build()
	writer := interceptor.NewClient(c.counter.Watch(c.server), interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			options := (&client.CreateOptions{}).ApplyOptions(opts)
			return c.write("create", o, options.DryRun, func() error { return next.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			options := (&client.UpdateOptions{}).ApplyOptions(opts)
			return c.write("update", o, options.DryRun, func() error { return next.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, next client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			options := (&client.PatchOptions{}).ApplyOptions(opts)
			return c.write("patch", o, options.DryRun, func() error { return next.Patch(ctx, o, patch, opts...) })
		},
	})
	clock := func() time.Time { return c.now }
	c.Phases = &Phases{
		Client: c.server, Live: c.server, Writer: writer, Board: bootboard.New(), Notes: c.kept, MachineAPI: true, ClusterAPI: true,
		CAPINamespace: capi, Stream: "rhel-9", Now: clock, Steady: clock, Blind: func() string { return "" },
		Served: func(golden.Kind) bool { return true }, Wake: func(machine.Key) {}, Event: func(e events.Event) { c.told = append(c.told, e) },
		Convert: func(context.Context, []byte) ([]byte, error) { return []byte(newStub), nil },
	}
	c.Board.OnRoster(func() ([]machine.Key, bool) {
		keys, err := c.Keys(t.Context())
		return keys, err == nil
	})
	c.enrols(selects{}, bootboard.Verdict{Golden: g, Cluster: golden.Cluster{
		Platform: platform, InfrastructureName: "shop", Region: "us-east-1", GCPProject: "rhcos-cloud",
		ControlPlaneArchitectures: []string{"amd64"}, Provenance: golden.Listed(map[string]string{"1": "ami-old"}),
	}})
	for _, text := range objects {
		c.has(text)
	}
	return c
}

// enrols opens the gate by a verdict, with all kinds enrolled by one selection.
func (c *cluster) enrols(by bootboard.Selection, v bootboard.Verdict) {
	v.Known, v.Open, v.Ours, v.News = true, true, true, "news"
	v.Enrols = map[golden.Kind]bootboard.Selection{
		golden.MachineSets: by, golden.ControlPlaneMachineSets: by, golden.CAPIMachineSets: by, golden.MachineDeployments: by,
	}
	c.Board.Post(v)
}

// posts changes the verdict.
func (c *cluster) posts(change func(*bootboard.Verdict)) {
	v := c.Board.Verdict()
	change(&v)
	c.Board.Post(v)
}

// write does one, unless somebody meddles. A patch that fails without a status is one whose test has failed, which the API server
// answers like an invalid object.
func (c *cluster) write(verb string, o client.Object, dry []string, do func() error) error {
	kind := o.GetObjectKind().GroupVersionKind()
	if known, err := c.server.GroupVersionKindFor(o); err == nil {
		kind = known
	}
	said := verb + " " + kind.Kind + " " + o.GetName()
	if len(dry) > 0 {
		said += "?"
	}
	c.sent = append(c.sent, said)
	if c.meddles != nil {
		if err := c.meddles(verb, o); err != nil {
			return err
		}
	}
	err := do()
	var status apierrors.APIStatus
	if err != nil && verb == "patch" && !errors.As(err, &status) {
		return apierrors.NewInvalid(kind.GroupKind(), o.GetName(), nil)
	}
	if err == nil && c.loses != nil && c.loses(verb, o) {
		return errLost
	}
	return err
}

// has has somebody else create an object.
func (c *cluster) has(text string) {
	c.t.Helper()
	if err := c.server.Create(c.t.Context(), c.parsed(text)); err != nil {
		c.t.Fatal(err)
	}
}

// parsed is an object with the Go type that it is read into.
func (c *cluster) parsed(text string) client.Object {
	c.t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		c.t.Fatalf("%v in %s", err, text)
	}
	typed, err := c.server.Scheme().New(o.GroupVersionKind())
	if err != nil {
		c.t.Fatal(err)
	}
	if _, untyped := typed.(*unstructured.Unstructured); untyped {
		return o
	}
	if err := yaml.Unmarshal([]byte(text), typed); err != nil {
		c.t.Fatal(err)
	}
	return typed.(client.Object)
}

// edits has somebody else merge into an object, named as in parsed.
func (c *cluster) edits(object, patch string) {
	c.t.Helper()
	text, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.server.Patch(c.t.Context(), c.parsed(object), client.RawPatch("application/merge-patch+json", text)); err != nil {
		c.t.Fatal(err)
	}
}

// sees is a pass of a target, which is there.
func (c *cluster) sees(key machine.Key) (*Pass, guards.Facts) {
	c.t.Helper()
	f, pass, err := c.Observe(c.t.Context(), key)
	if err != nil || pass.Target == nil {
		c.t.Fatalf("%s is not seen: %v", key, err)
	}
	return pass, f
}

// stands has all targets looked at, and stand on the board.
func (c *cluster) stands() {
	c.t.Helper()
	keys, err := c.Keys(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, key := range keys {
		pass, f := c.sees(key)
		c.Board.Stand(key, Stands(Snapshot{Facts: f, Seen: pass}, func(Snapshot) Standing { return Standing{} }))
	}
}

// plans is a pass of a target for which a plan was made before.
func (c *cluster) plans(key machine.Key) *Pass {
	c.t.Helper()
	c.stands()
	pass, _ := c.sees(key)
	pass.makePlan()
	again, f := c.sees(key)
	if stands := guards.PlanStands.Answer(f); stands.Truth != machine.Yes {
		c.t.Fatalf("the plan for %s does not stand: %s", key, stands.Reason)
	}
	return again
}

// writes are those that were sent, in one line.
func (c *cluster) writes() string { return strings.Join(c.sent, ", ") }

// isTerminal says that an error is for good.
func isTerminal(err error) bool {
	var terminal *machine.TerminalError
	return errors.As(err, &terminal)
}

// setOn is a MachineSet of Machine API with fields of a provider spec, as JSON.
func setOn(name, fields string) string {
	return fmt.Sprintf(`{apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, metadata: {name: %s, namespace: %s, uid: of-%s, labels: {set: %s}},
		spec: {template: {spec: {providerSpec: {value: {%s, userDataSecret: {name: user-data}}}}}}}`, name, MachineAPINamespace, name, name, fields)
}

// onAWS is one with an AMI.
func onAWS(name, ami string) string { return setOn(name, fmt.Sprintf(`ami: {id: %s}`, ami)) }

// ofCAPI is a MachineSet or a MachineDeployment of Cluster API that names a template.
func ofCAPI(kind, name, template string) string {
	return fmt.Sprintf(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: %s, metadata: {name: %s, namespace: %s, uid: of-capi-%s, labels: {set: %s}},
		spec: {clusterName: shop, template: {spec: {bootstrap: {dataSecretName: user-data},
		infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: %s}}}}}`, kind, name, capi, name, name, template)
}

// templateOn is an infrastructure template on AWS.
func templateOn(name, ami, size string) string {
	return fmt.Sprintf(`{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, metadata: {name: %s, namespace: %s, uid: of-%s},
		spec: {template: {spec: {ami: {id: %s}, instanceType: %s}}}}`, name, capi, name, ami, size)
}

// shop is the Cluster of all targets of Cluster API.
const shop = `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: shop, namespace: ` + capi + `, uid: of-shop}, spec: {}}`

// secretIn is a Secret with a stub, under the key of the API whose namespace it is in.
func secretIn(namespace, from string) string {
	key := "value"
	if namespace == MachineAPINamespace {
		key = "userData"
	}
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: user-data, namespace: %s}, data: {%s: %s}}`, namespace, key, encoded(from))
}

func encoded(text string) string {
	out, err := json.Marshal([]byte(text))
	if err != nil {
		return ""
	}
	return string(out)
}

// secret is what is in a Secret.
func (c *cluster) secret(namespace string) *corev1.Secret {
	c.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "user-data"}}
	if err := c.server.Get(c.t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		c.t.Fatal(err)
	}
	return secret
}
