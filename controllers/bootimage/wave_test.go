package bootimage

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	"github.com/capstan-capi/capstan/phases/bootboard"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/records"
)

// everything is enrolled.
type everything struct{}

func (everything) Selects(map[string]string) bool { return true }
func (everything) RefusesTwins() bool             { return false }
func (everything) String() string                 { return "All" }

// everyImage is a release's own.
type everyImage struct{}

func (everyImage) Knows(string) bool { return true }

// wave is a machine of targets of Cluster API with a queue of those that ask for passes.
type wave struct {
	api    *inMemory
	board  *bootboard.Board
	passes *machine.Machine[guards.Facts, *phases.Pass]
	phases *phases.Phases
	asks   chan machine.Key
	made   int
}

// newWave is one of so many targets, none of which has had a pass yet.
func newWave(tb testing.TB, count int) *wave {
	w := &wave{api: &inMemory{by: map[string]*unstructured.Unstructured{}, index: map[string]map[string]bool{}}, board: bootboard.New(), asks: make(chan machine.Key, 64*count)}
	now := func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
	p := &phases.Phases{
		Client: w.api, Live: w.api, Writer: w.api, Board: w.board, MachineAPI: true, ClusterAPI: true, CAPINamespace: "capi", Now: now, Steady: time.Now,
		Blind: func() string { return "" }, Served: func(golden.Kind) bool { return true }, Wake: w.ask,
	}
	w.phases = p
	kept := keeps(p, records.Options{Wake: p.Wake, Live: w.api, Writer: w.api, Clock: clock.RealClock{}, Namespace: "ops"})
	w.passes = &machine.Machine[guards.Facts, *phases.Pass]{
		Table: table.Table, Observe: p.Observe, Store: p.Store(kept, table.StandingOf), Now: now, UID: func(pass *phases.Pass) string { return pass.UID },
	}
	t := targets{Phases: p}
	w.api.changed = func(*unstructured.Unstructured) {}
	w.api.put(object(tb, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: shop, namespace: capi, uid: cluster}}"))
	for i := range count {
		w.api.put(object(tb, fmt.Sprintf(waveTemplate, i)))
		w.api.put(object(tb, fmt.Sprintf(waveSet, i)))
	}
	sets := t.set(golden.CAPIMachineSets)
	w.api.changed = func(o *unstructured.Unstructured) {
		asked := t.ofTemplate
		if o.GetKind() == phases.MachineSetKind.Kind {
			asked = sets
		}
		for _, key := range asked(o) {
			w.ask(key)
		}
	}
	w.board.OnNews(func() {
		for _, key := range t.all(context.Background()) {
			w.ask(key)
		}
	})
	return w
}

func object(tb testing.TB, text string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		tb.Fatal(err)
	}
	return o
}

const waveSet = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata: {name: set-%[1]d, namespace: capi, uid: set-%[1]d, labels: {cluster.x-k8s.io/cluster-name: shop}}
spec:
  clusterName: shop
  template:
    metadata: {labels: {set: set-%[1]d}}
    spec:
      bootstrap: {dataSecretName: stub}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: old-%[1]d}
`

const waveTemplate = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: old-%[1]d, namespace: capi, uid: old-%[1]d, labels: {cluster.x-k8s.io/cluster-name: shop}}
spec:
  template:
    spec:
      ami: {id: ami-00000000000000001}
      instanceType: m6i.xlarge
      iamInstanceProfile: shop-worker-profile
      rootVolume: {size: 120, type: gp3, encrypted: true}
      additionalSecurityGroups: [{filters: [{name: "tag:Name", values: [shop-node]}]}]
      subnet: {filters: [{name: "tag:Name", values: [shop-subnet-private-a]}]}
`

func (w *wave) ask(key machine.Key) { w.asks <- key }

// release has another image be the golden one.
func (w *wave) release(tb testing.TB, image string) {
	stream := fmt.Sprintf(`{"stream":"rhel-9","architectures":{"x86_64":{"artifacts":{},"images":{"aws":{"regions":{"r":{"release":"1","image":%q}}}}}}}`, image)
	of, err := golden.Read(map[string]string{golden.StreamKey: stream})
	if err != nil {
		tb.Fatal(err)
	}
	w.board.Post(bootboard.Verdict{
		Known: true, Open: true, Golden: of, Ours: true, News: image, Enrols: map[golden.Kind]bootboard.Selection{golden.CAPIMachineSets: everything{}},
		Cluster: golden.Cluster{
			Platform: configv1.AWSPlatformType, InfrastructureName: "shop", Region: "r", ControlPlaneArchitectures: []string{"amd64"}, Provenance: everyImage{},
		},
	})
}

// settles makes the passes that are asked for, those of each key once, one after the other, until all targets are Current.
func (w *wave) settles(tb testing.TB, count int, news string) {
	waiting := map[machine.Key]bool{}
	var queue []machine.Key
	add := func(key machine.Key) {
		if !waiting[key] {
			waiting[key] = true
			queue = append(queue, key)
		}
	}
	for {
		for len(w.asks) > 0 || len(queue) == 0 {
			select {
			case key := <-w.asks:
				add(key)
			case <-time.After(10 * time.Second):
				tb.Fatalf("nothing is asked for, and %d of %d targets are Current", w.done(news), count)
			}
		}
		key := queue[0]
		queue = queue[1:]
		delete(waiting, key)
		w.made++
		if w.pass(tb, key) {
			add(key)
		}
		if len(queue) == 0 && len(w.asks) == 0 && w.done(news) == count {
			return
		}
	}
}

// pass makes one of a target that is there, and says that another one is due at once.
func (w *wave) pass(tb testing.TB, key machine.Key) bool {
	tb.Helper()
	if exists, err := w.phases.Exists(tb.Context(), key); !exists || err != nil {
		return false
	}
	outcome, err := w.passes.Step(tb.Context(), key)
	if err != nil || outcome.Failure != nil {
		tb.Fatal(err, outcome.Failure)
	}
	return outcome.LookAgain > 0 && outcome.LookAgain < time.Millisecond
}

// done is how many targets are Current by what the gate says.
func (w *wave) done(news string) (done int) {
	for _, s := range w.board.Standings() {
		if s.Done && s.News == news {
			done++
		}
	}
	return done
}

// ami is the golden image of a run, 0 being that which the targets have at first.
func ami(run int) string { return fmt.Sprintf("ami-%017d", 1+run) }

func TestWave_passes_and_requests_of_a_clone(t *testing.T) {
	const targets = 8
	w := newWave(t, targets)
	for run := range 2 {
		w.made, w.api.requests = 0, 0
		w.release(t, ami(run))
		w.settles(t, targets, ami(run))
	}
	if w.made > 9*targets || w.api.requests > 2*targets+shards {
		t.Errorf("%d targets took %d passes and %d requests", targets, w.made, w.api.requests)
	}
}

func BenchmarkWave_of_300_clones(b *testing.B) {
	const targets = 300
	w := newWave(b, targets)
	w.release(b, ami(0))
	w.settles(b, targets, ami(0))
	w.made, w.api.requests = 0, 0
	used := processor(b)
	b.ReportAllocs()
	b.ResetTimer()
	for run := range b.N {
		w.release(b, ami(run+1))
		w.settles(b, targets, ami(run+1))
	}
	each := float64(b.N * targets)
	b.ReportMetric(float64((processor(b)-used).Microseconds())/each, "cpu-µs/target")
	b.ReportMetric(float64(w.made)/each, "passes/target")
	b.ReportMetric(float64(w.api.requests)/each, "requests/target")
}

// processor is what the process has computed until now.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
