package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
	"unsafe"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

func TestListOf_refuses_too_many_objects_however_their_field_is_written(t *testing.T) {
	many := "[" + strings.Repeat("{},", pageMost) + "{}]"
	for name, text := range map[string]string{
		"as it should be": `{"items":` + many + `}`, "otherwise": `{"ITEMS":` + many + `}`, "twice": `{"items":[],"items":` + many + `}`,
		"twice, the first": `{"Items":` + many + `,"items":[]}`,
	} {
		if err := newBounds().decode(t.Context(), []byte(text), &listOf[corev1.Node]{}); !errors.Is(err, errMany) {
			t.Errorf("%s: it says %v", name, err)
		}
	}
	for text, want := range map[string]int{`{"items":[{},{}]}`: 2, `{"items":[]}`: 0, `{"items":null}`: 0, `{}`: 0, `{"items":[{}],"items":[{},{}]}`: 2} {
		found := &listOf[corev1.Node]{}
		if err := json.Unmarshal([]byte(text), found); err != nil || len(found.Items) != want {
			t.Errorf("%s: it has %d (%v)", text, len(found.Items), err)
		}
	}
	for _, text := range []string{`{"items":{}}`, `{"items":1}`, `{"items":[{},1]}`, `{"items":[{}`} {
		if json.Unmarshal([]byte(text), &listOf[corev1.Node]{}) == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestRead_takes_an_answer_up_to_its_bound_and_waits_for_no_other_one(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20, answerMost} {
		if got, err := read(bytes.NewReader(make([]byte, size))); err != nil || len(got) != size {
			t.Errorf("of %d bytes it has read %d (%v)", size, len(got), err)
		}
	}
	if _, err := read(bytes.NewReader(make([]byte, answerMost+1))); !errors.Is(err, errLarge) {
		t.Errorf("of one that is too large it says %v", err)
	}
	if body, err := read(iotest.ErrReader(io.ErrUnexpectedEOF)); err == nil || body != nil {
		t.Error("a torn answer is taken")
	}
	var slow []*io.PipeWriter
	for range atOnce { // each has all but its last byte
		from, to := io.Pipe()
		slow = append(slow, to)
		go func() { _, _ = read(from) }()
		if _, err := to.Write(make([]byte, answerMost-1)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := read(bytes.NewReader(make([]byte, answerMost))); err != nil || len(got) != answerMost {
		t.Errorf("beside slow ones it has read %d (%v)", len(got), err)
	}
	for _, one := range slow {
		must(t, one.Close())
	}
}

func TestText_of_a_guest_is_cut_and_keeps_nothing_else_in_memory(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	if got := text("x" + long); len(got) > textMost || !utf8.ValidString(got) {
		t.Errorf("of a long one it keeps %d bytes", len(got))
	}
	part := long[:6]
	if got := text(part); got != part || unsafe.StringData(got) == unsafe.StringData(part) {
		t.Errorf("%q is no copy", got)
	}
	if got := words(long); len(got) > wordsMost {
		t.Errorf("of long words it keeps %d bytes", len(got))
	}
}

// textsOf is how many bytes all texts in a value have.
func textsOf(v reflect.Value) (sum int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Struct:
		for i := range v.NumField() {
			sum += textsOf(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			sum += textsOf(v.Index(i))
		}
	case reflect.Bool, reflect.Int:
	default:
		panic("a sight has a field of a kind that is not counted: " + v.Kind().String())
	}
	return sum
}

func TestSight_of_a_hostile_guest_is_small_however_much_it_says(t *testing.T) {
	long := strings.Repeat("x", 1<<19)
	w := connected(t, controlPlane("a-0", "n0", "p0"), controlPlane("a-1", "n1", "p1"))
	w.guest.set(versionPath, is(map[string]string{"gitVersion": long}))
	version := configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: long}, Spec: configv1.ClusterVersionSpec{ClusterID: configv1.ClusterID(long)}}
	version.Status.Conditions = []configv1.ClusterOperatorStatusCondition{{Type: configv1.OperatorUpgradeable, Status: configv1.ConditionFalse, Message: long}}
	version.Status.Desired = configv1.Release{Version: long}
	w.guest.set(releasePath, is(version))
	list := configv1.ClusterOperatorList{}
	for range pageMost {
		list.Items = append(list.Items, configv1.ClusterOperator{
			ObjectMeta: metav1.ObjectMeta{Name: long[:20<<10]}, Status: configv1.ClusterOperatorStatus{Versions: []configv1.OperandVersion{{Name: "operator", Version: long[:10<<10]}}},
		})
	}
	w.guest.set(operatorsPath, is(list))
	for _, name := range []string{"n0", "n1"} {
		one := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: long}, Spec: corev1.NodeSpec{ProviderID: long}}
		for range 1000 {
			one.Status.Addresses = append(one.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: long[:1000]})
		}
		w.guest.set(nodesPath+"/"+name, is(one))
	}
	etcd := operatorv1.Etcd{}
	etcd.Status.Conditions = []operatorv1.OperatorCondition{{Type: membersAvailable, Message: strings.Repeat("x is unhealthy, ", 1<<16)}}
	w.guest.set(etcdPath, is(etcd))
	w.guest.set(endpointsPath, is(corev1.ConfigMap{Data: map[string]string{"a": long, "b": strings.Repeat(" ", 1<<20) + "10.0.0.1"}}))
	plane := asked()
	must(t, w.plane.Get(t.Context(), key, plane))
	plane.Spec.Management = v1alpha1.Managed
	must(t, w.plane.Update(t.Context(), plane))
	facts := w.ask()
	for range 5 { // a busy machine may take longer for an answer than anybody waits for one
		if !strings.Contains(facts.Guest.APIProblem, "has not answered") {
			break
		}
		facts = w.ask()
	}
	w.Poller.mu.Lock()
	seen := w.guests[key].seen
	w.Poller.mu.Unlock()
	if !facts.Guest.Known || len(seen.operators) <= pageMost || len(seen.etcd.Unhealthy) == 0 || len(seen.nodes) != 2 {
		t.Fatalf("it is %+v", facts.Guest.APIProblem)
	}
	if sum := textsOf(reflect.ValueOf(seen)); sum > 256<<10 {
		t.Errorf("%d bytes are kept of it", sum)
	}
}

func TestNodes_are_looked_through_page_by_page_and_no_more_of_them_than_allowed(t *testing.T) {
	for name, of := range map[string]struct {
		pages int
		next  string
		known bool
		ready int
	}{"three pages": {3, "more", true, 1}, "without an end": {1 << 20, "more", true, 1}, "told in too many bytes": {3, strings.Repeat("x", messageMost+1), false, 0}} {
		w := connected(t, controlPlane("a-0", "", "p0"))
		asked := 0
		w.guest.set(nodesPath, func(to http.ResponseWriter, r *http.Request) {
			list := corev1.NodeList{}
			if asked++; asked < of.pages {
				list.Continue = of.next
			}
			if asked == 2 {
				list.Items = []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n0"}, Spec: corev1.NodeSpec{ProviderID: "p0"}, Status: corev1.NodeStatus{
					Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				}}}
			}
			if r.URL.Query().Get("limit") != nodesAtOnce || (asked > 1) != (r.URL.Query().Get("continue") != "") {
				t.Errorf("%s: at %d it is asked for %s", name, asked, r.URL.RawQuery)
			}
			is(list)(to, r)
		})
		facts := w.ask()
		if facts.Guest.Known != of.known || facts.Guest.Nodes.Done != of.ready || asked > pagesMost {
			t.Errorf("%s: after %d pages it is %+v", name, asked, facts.Guest)
		}
	}
}

func TestBounds_have_few_answers_decoded_at_the_same_time(t *testing.T) {
	b := newBounds()
	for range decodedMost {
		b.decoders <- struct{}{}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := b.decode(over, []byte("{}"), &struct{}{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	<-b.decoders
	if err := b.decode(t.Context(), []byte("{}"), &struct{}{}); err != nil || len(b.decoders) != decodedMost-1 {
		t.Errorf("it says %v, and %d places are taken", err, len(b.decoders))
	}
}
