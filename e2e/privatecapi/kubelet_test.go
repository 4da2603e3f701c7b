package privatecapi_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubelet stands in for a node's: kube-apiserver asks it for streams. It echoes what it is sent and notes it, and has one log.
type kubelet struct {
	*httptest.Server
	log   []byte
	mutex sync.Mutex
	got   []byte
}

const (
	node          = "with-streams"
	forwarding    = "portforward.k8s.io"
	streamsAnswer = `{"metadata":{},"status":"Success"}`
)

// startKubelet starts one, with a node of its own and a pod p on it.
func startKubelet(ctx context.Context, in string, log []byte) *kubelet {
	GinkgoHelper()
	k := &kubelet{log: log}
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", k.run)
	mux.HandleFunc("/attach/", k.run)
	mux.HandleFunc("/portForward/", k.forward)
	mux.HandleFunc("/containerLogs/", k.tell)
	k.Server = httptest.NewTLSServer(mux)
	host, port, err := net.SplitHostPort(k.Listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	number, err := strconv.ParseInt(port, 10, 32)
	Expect(err).NotTo(HaveOccurred())
	// It is Ready from the beginning, so that kwok leaves its addresses as they are.
	_, err = stored.typed.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "for", Value: "streams", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: host}, {Type: corev1.NodeInternalIP, Address: host}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(number)}},
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	eventually(ctx, "the pod to be accepted", func(ctx context.Context) error {
		_, err := stored.typed.CoreV1().Pods(in).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "none"}}},
		}, metav1.CreateOptions{})
		return err
	})
	return k
}

func (k *kubelet) note(text []byte) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.got = text
}

// noted is what it was sent last.
func (k *kubelet) noted() []byte {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.got
}

type opened struct {
	httpstream.Stream
	replied <-chan struct{}
}

// upgrade switches to streams, which come one after the other until the connection ends.
func upgrade(w http.ResponseWriter, r *http.Request, protocol string) (httpstream.Connection, <-chan opened) {
	if _, err := httpstream.Handshake(r, w, []string{protocol}); err != nil {
		return nil, nil
	}
	streams := make(chan opened, 4)
	return spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error {
		streams <- opened{s, replied}
		return nil
	}), streams
}

// run is a command that says on both outputs what it reads.
func (k *kubelet) run(w http.ResponseWriter, r *http.Request) {
	conn, streams := upgrade(w, r, remotecommand.StreamProtocolV4Name)
	if conn == nil {
		return
	}
	defer conn.Close()
	by := map[string]httpstream.Stream{}
	for len(by) < 4 {
		select {
		case one := <-streams:
			<-one.replied
			by[one.Headers().Get(corev1.StreamType)] = one
		case <-conn.CloseChan():
			return
		}
	}
	var got bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(&got, by[corev1.StreamTypeStdout], by[corev1.StreamTypeStderr]), by[corev1.StreamTypeStdin]); err != nil {
		return
	}
	k.note(got.Bytes())
	_, _ = io.WriteString(by[corev1.StreamTypeError], streamsAnswer) // who is gone is not told
}

// forward is a port behind which somebody says what he hears.
func (k *kubelet) forward(w http.ResponseWriter, r *http.Request) {
	conn, streams := upgrade(w, r, forwarding)
	if conn == nil {
		return
	}
	defer conn.Close()
	var failures httpstream.Stream
	for {
		select {
		case one := <-streams:
			<-one.replied
			if one.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
				failures = one
				continue
			}
			var got bytes.Buffer
			if _, err := io.Copy(io.MultiWriter(&got, one), one); err != nil {
				return
			}
			k.note(got.Bytes())
			for _, done := range []httpstream.Stream{one, failures} {
				_ = done.Close() // who is gone is not told
			}
		case <-conn.CloseChan():
			return
		}
	}
}

// tell says the log in two pieces.
func (k *kubelet) tell(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	half := len(k.log) / 2
	_, _ = w.Write(k.log[:half])
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(k.log[half:])
}
