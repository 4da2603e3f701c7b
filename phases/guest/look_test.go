package guest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

func nodeIs(name, providerID string, ready corev1.ConditionStatus) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Spec.ProviderID = providerID
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	return n
}

func says(conditions ...string) []configv1.ClusterOperatorStatusCondition {
	var all []configv1.ClusterOperatorStatusCondition
	for _, c := range conditions {
		name, status, _ := strings.Cut(c, "=")
		all = append(all, configv1.ClusterOperatorStatusCondition{Type: configv1.ClusterStatusConditionType(name), Status: configv1.ConditionStatus(status), Message: "why"})
	}
	return all
}

func operatorIs(name, version string, conditions ...string) configv1.ClusterOperator {
	o := configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Status.Conditions = says(conditions...)
	o.Status.Versions = []configv1.OperandVersion{{Name: "operand", Version: "0"}, {Name: "operator", Version: version}}
	return o
}

const (
	oldImage = "registry.example.com/release@sha256:old"
	newImage = "registry.example.com/release@sha256:new"
)

// releaseIs is a ClusterVersion that has come to a release, and wants and goes to others.
func releaseIs(done, desired string, conditions ...string) *configv1.ClusterVersion {
	v := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}}
	version := map[string]string{oldImage: "4.22.1", newImage: "4.22.2"}
	v.Status.Desired = configv1.Release{Image: desired, Version: version[desired]}
	if desired != done {
		v.Status.History = append(v.Status.History, configv1.UpdateHistory{State: configv1.PartialUpdate, Image: desired, Version: version[desired]})
	}
	v.Status.History = append(v.Status.History, configv1.UpdateHistory{State: configv1.CompletedUpdate, Image: done, Version: version[done]})
	v.Status.Conditions = says(conditions...)
	return v
}

// complete is a guest that does without its bootstrap machine.
func (c *cluster) complete() {
	c.set(bootstrapPath, is(corev1.ConfigMap{Data: map[string]string{"status": "complete"}}))
	etcd := operatorv1.Etcd{}
	etcd.Status.Conditions = []operatorv1.OperatorCondition{{Type: bootstrapRemoved, Status: operatorv1.ConditionTrue}}
	c.set(etcdPath, is(etcd))
}

// healthy is a guest whose operators are available.
func (c *cluster) healthy() {
	c.set(releasePath, is(releaseIs(newImage, newImage, "Available=True", "Failing=False")))
	c.set(operatorsPath, is(configv1.ClusterOperatorList{Items: []configv1.ClusterOperator{
		operatorIs("etcd", "4.22.2", "Available=True", "Degraded=False"), operatorIs("dns", "4.22.2", "Available=True"),
	}}))
}

func TestGuest_from_the_kubeconfig_to_a_complete_bootstrap(t *testing.T) {
	w := newWorld(t, controlPlane("a-0", "n0", ""), controlPlane("a-1", "", "dev://1"), controlPlane("a-2", "", ""), controlPlane("a-bootstrap", "nb", ""))
	facts := w.ask()
	equal(t, "without a kubeconfig", facts.Guest.APIProblem, "the Secret c-kubeconfig is not there yet")
	seen, _ := w.see()
	if result, err := seen.ProbeAPI(t.Context()); err != nil || result.Did != "stored Secret c-kubeconfig" {
		t.Fatalf("the work says %+v, %v", result, err)
	}
	w.guest.set(nodesPath, is(corev1.NodeList{Items: []corev1.Node{
		nodeIs("n0", "", corev1.ConditionTrue), nodeIs("n1", "dev://1", corev1.ConditionTrue), nodeIs("nb", "dev://b", corev1.ConditionTrue), nodeIs("w", "dev://w", corev1.ConditionTrue),
	}}))
	facts = w.ask()
	if answer := guards.APIAnswers.Answer(facts); answer.Truth != machine.Yes {
		t.Errorf("the API is %s: %s", answer.Truth, answer.Reason)
	}
	equal(t, "Nodes", facts.Guest.Nodes, guards.Tally{Known: true, Done: 2, Wanted: 3, Missing: []string{"that of Machine a-2"}})
	equal(t, "complete", []bool{facts.Guest.Known, facts.Guest.Complete, facts.Guest.EtcdAlone}, []bool{true, false, false})
	w.guest.complete()
	facts = w.ask()
	equal(t, "complete", []bool{facts.Guest.Known, facts.Guest.Complete, facts.Guest.EtcdAlone}, []bool{true, true, true})
	equal(t, "its version", facts.Guest.Version, "v1.35.2")
	if len(w.guest.users) == 0 || w.guest.users[0] != "CN=kubernetes-admin,O=system:masters" || !w.guest.agents[agent] {
		t.Errorf("it was asked by %v as %v", w.guest.users, w.guest.agents)
	}
}

func TestGuest_Nodes_whose_names_are_known_are_asked_for_alone(t *testing.T) {
	w := connected(t, controlPlane("a-0", "n0", ""), controlPlane("a-1", "n1", ""), controlPlane("a-2", "n2", ""))
	w.guest.set(nodesPath+"/n0", is(nodeIs("n0", "", corev1.ConditionTrue)))
	w.guest.set(nodesPath+"/n1", is(nodeIs("n1", "", corev1.ConditionFalse)))
	facts := w.ask(finished)
	equal(t, "Nodes", facts.Guest.Nodes, guards.Tally{Known: true, Done: 1, Wanted: 3, Missing: []string{"that of Machine a-1", "that of Machine a-2"}})
	equal(t, "questions", w.guest.questions(), []string{
		"GET " + readyPath, "GET " + versionPath, "GET " + releasePath, "GET " + operatorsPath, "GET " + nodesPath + "/n0", "GET " + nodesPath + "/n1", "GET " + nodesPath + "/n2",
	})
}

func TestGuest_operators_the_worst_are_named_first(t *testing.T) {
	w := connected(t)
	w.guest.set(releasePath, is(releaseIs(newImage, newImage, "Available=True", "Failing=True")))
	w.guest.set(operatorsPath, is(configv1.ClusterOperatorList{Items: []configv1.ClusterOperator{
		operatorIs("good", "", "Available=True", "Degraded=False"), operatorIs("new", ""), operatorIs("bad", "", "Available=False", "Degraded=True"),
	}}))
	facts := w.ask(finished)
	equal(t, "operators", facts.Guest.Operators, guards.Tally{Known: true, Done: 1, Wanted: 4, Missing: []string{
		"ClusterOperator bad (not available and degraded)", "ClusterOperator new (not available)", "ClusterVersion version (degraded)",
	}})
	w.guest.healthy()
	if answer := guards.GuestIsHealthy.Answer(w.ask(finished)); answer.Truth != machine.Yes {
		t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
	}
}

func TestGuest_that_lacks_kinds_is_not_healthy_and_not_complete(t *testing.T) {
	w := connected(t)
	facts := w.ask()
	for _, guard := range []machine.Guard[guards.Facts]{guards.GuestIsHealthy, guards.BootstrapIsComplete, guards.EtcdIsAlone} {
		if answer := guard.Answer(facts); answer.Truth != machine.No {
			t.Errorf("%s is %s: %s", guard.Name, answer.Truth, answer.Reason)
		}
	}
	if answer := guards.GuestIsHealthy.Answer(facts); !strings.Contains(answer.Reason, "ClusterVersion version") || !strings.Contains(answer.Reason, "not served") {
		t.Errorf("it says %s", answer.Reason)
	}
}

func TestGuest_that_cannot_be_read_is_one_of_which_nothing_is_known(t *testing.T) {
	var hung chan struct{}
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		close(hung)
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // returning would be an answer
	}
	for name, row := range map[string]struct {
		path   string
		answer http.HandlerFunc
		api    bool
		says   string
	}{
		"not ready":            {readyPath, status(500), false, "answers /readyz with status 500"},
		"it refuses the probe": {readyPath, status(401), false, "refuses the credentials of the kubeconfig for /readyz (status 401)"},
		"it redirects": {readyPath, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.com", http.StatusFound)
		}, false, "with status 302"},
		"it refuses credentials": {releasePath, status(403), true, "refuses the credentials of the kubeconfig for " + releasePath},
		"it answers nonsense":    {operatorsPath, is("hunter2"), true, "something else than JSON"},
		"it is broken":           {bootstrapPath, status(503), true, "with status 503"},
		"it has too many":        {operatorsPath, is(json.RawMessage(`{"items":[` + strings.Repeat("{},", 2000) + `{}]}`)), true, "more objects"},
		"it says too much":       {etcdPath, is(json.RawMessage(`{"status":{"conditions":[` + strings.Repeat("{},", 700_000) + `{}]}}`)), true, "more in them"},
		"it breaks off":          {etcdPath, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, "asking for " + etcdPath},
		"it hangs":               {nodesPath, hangs, true, "has not answered " + nodesPath + " within 10s"},
		"all hangs":              {readyPath, hangs, false, "has not answered /readyz within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := connected(t, controlPlane("a-0", "", "dev://0"))
			w.guest.set(nodesPath, is(corev1.NodeList{}))
			w.guest.set(row.path, row.answer)
			seen, _ := w.see()
			hung = make(chan struct{})
			found := w.look(until{t.Context(), hung}, seen.guest, seen.guest.want)
			if found.api != row.api || found.read || !strings.Contains(found.problem, row.says) || strings.Contains(found.problem, "hunter2") {
				t.Errorf("it is %+v, want %q", found, row.says)
			}
			facts := guards.Facts{Seen: true, Guest: found.facts(nil)}
			if answer := guards.BootstrapIsComplete.Answer(facts); answer.Truth != machine.Unknown {
				t.Errorf("complete is %s", answer.Truth)
			}
		})
	}
}

// until is a context whose time is over by an event, since on a busy machine no time is long enough for all that comes before it.
type until struct {
	context.Context
	event <-chan struct{}
}

func (u until) Done() <-chan struct{} { return u.event }

func (u until) Err() error {
	select {
	case <-u.event:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestGuest_that_cannot_be_reached_says_so_in_the_same_words_each_time(t *testing.T) {
	w := connected(t)
	w.guest.set(readyPath, func(rw http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(rw).Hijack()
		if err == nil {
			_ = connection.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
			_ = connection.(*tls.Conn).NetConn().Close()
		}
	})
	w.guest.TLS.NextProtos = []string{"http/1.1"}
	for name, change := range map[string]func(){"it resets": func() {}, "it is down": w.guest.Close} {
		change()
		first, second := w.ask(finished).Guest.APIProblem, w.ask(finished).Guest.APIProblem
		if first == "" || first != second || strings.Contains(first, "127.0.0.1") {
			t.Errorf("%s: it says %q, and then %q", name, first, second)
		}
	}
}

func TestGuest_is_silent_after_five_minutes_without_an_answer(t *testing.T) {
	w := connected(t)
	if facts := w.ask(finished); facts.Guest.Silent || !facts.Guest.API {
		t.Errorf("at first: %+v", facts.Guest)
	}
	w.guest.Close()
	w.clock.Step(silence - time.Second)
	if facts := w.ask(finished); facts.Guest.Silent || facts.Guest.API || facts.Guest.APIProblem == "" {
		t.Errorf("before: %+v", facts.Guest)
	}
	w.told()
	w.clock.Step(time.Second)
	if facts := w.ask(finished); !facts.Guest.Silent || len(w.told()) != 1 {
		t.Errorf("after: %+v", facts.Guest)
	}
}

func TestGuest_members_of_etcd_are_read_where_somebody_acts_on_them(t *testing.T) {
	w := connected(t)
	w.guest.set(endpointsPath, is(corev1.ConfigMap{Data: map[string]string{"b": "10.0.0.2\n", "a": "10.0.0.1"}}))
	w.guest.set(etcdPath, is(etcdSays(operatorv1.ConditionTrue, "2 members are available")))
	w.ask(finished)
	if seen, _ := w.see(finished); seen.Etcd().Known {
		t.Error("under Handover they are known")
	}
	plane := asked()
	must(t, w.plane.Get(t.Context(), key, plane))
	plane.Spec.Management = v1alpha1.Managed
	must(t, w.plane.Update(t.Context(), plane))
	w.ask(finished)
	seen, _ := w.see(finished)
	equal(t, "etcd", seen.Etcd(), Etcd{Known: true, Endpoints: []string{"10.0.0.1", "10.0.0.2"}})
	w.guest.set(endpointsPath, nil)
	w.ask(finished)
	if seen, _ := w.see(finished); seen.Etcd().Known {
		t.Error("nobody lists them, and they are known")
	}
}

func etcdSays(status operatorv1.ConditionStatus, message string) *operatorv1.Etcd {
	etcd := &operatorv1.Etcd{}
	etcd.Status.Conditions = []operatorv1.OperatorCondition{{Type: membersAvailable, Status: status, Message: message}}
	return etcd
}

func TestEtcd_says_which_members_are_not_healthy(t *testing.T) {
	const yes, no = operatorv1.ConditionTrue, operatorv1.ConditionFalse
	for name, row := range map[string]struct {
		etcd *operatorv1.Etcd
		want Etcd
	}{
		"all are":                    {etcdSays(yes, "3 members are available"), Etcd{Known: true}},
		"one is not":                 {etcdSays(yes, "2 of 3 members are available, n2 is unhealthy"), Etcd{Known: true, Unhealthy: []string{"n2"}}},
		"two are not":                {etcdSays(no, "1 of 3 members are available, n2 has not started, n1 is unhealthy"), Etcd{Known: true, Unhealthy: []string{"n1", "n2"}}},
		"other words":                {etcdSays(yes, "n2 sleeps"), Etcd{Known: true, Problem: "its etcd says: n2 sleeps"}},
		"other words beside":         {etcdSays(yes, "2 of 3 members are available, n2 is unhealthy, n1 sleeps"), Etcd{Known: true, Unhealthy: []string{"n2"}, Problem: "its etcd says: 2 of 3 members are available, n2 is unhealthy, n1 sleeps"}},
		"not available, though all":  {etcdSays(no, "3 members are available"), Etcd{Known: true, Problem: "its etcd says: 3 members are available"}},
		"fewer, and nobody is named": {etcdSays(yes, "2 of 3 members are available"), Etcd{Known: true, Problem: "its etcd says: 2 of 3 members are available"}},
		"nothing":                    {&operatorv1.Etcd{}, Etcd{Known: true, Problem: "its etcds/cluster has no condition EtcdMembersAvailable"}},
	} {
		equal(t, name, membersOf(row.etcd), row.want)
	}
}

func TestGuest_tells_of_Nodes_once_they_were_read(t *testing.T) {
	w := connected(t, controlPlane("a-0", "n0", "dev://0"))
	one := nodeIs("n0", "dev://0", corev1.ConditionTrue)
	one.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "n0"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"}}
	w.guest.set(nodesPath+"/n0", is(one))
	seen, _ := w.see()
	if _, known := seen.Nodes(); known {
		t.Error("nobody was asked, and they are known")
	}
	w.ask()
	seen, _ = w.see()
	if !seen.Fresh() {
		t.Error("they were read, and are not fresh")
	}
	w.clock.Step(fresh)
	if later, _ := w.see(); later.Fresh() {
		t.Error("they were read long ago, and are fresh")
	}
	nodes, known := seen.Nodes()
	equal(t, "Nodes", fmt.Sprint(nodes, known), "[{n0 dev://0 true [10.0.0.1]}] true")
}
