package privatecapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// protocols are those by which clients ask for streams.
var protocols = map[string]struct {
	execute func(*url.URL) (remotecommand.Executor, error)
	forward func(*url.URL) (httpstream.Dialer, error)
}{
	"SPDY": {
		func(at *url.URL) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(front.config(), http.MethodPost, at)
		},
		func(at *url.URL) (httpstream.Dialer, error) {
			through, upgrader, err := spdy.RoundTripperFor(front.config())
			return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: through}, http.MethodPost, at), err
		},
	},
	"WebSocket": {
		func(at *url.URL) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(front.config(), http.MethodGet, at.String())
		},
		func(at *url.URL) (httpstream.Dialer, error) {
			return portforward.NewSPDYOverWebsocketDialerForStreaming(at, front.config())
		},
	},
}

// everything is each byte that there is, and groups of both sides in what looks like objects, many times.
func everything() []byte {
	one := []byte(`{"apiVersion":"` + standard + `/v1beta2"}{"apiVersion":"` + private + `/v1beta2","kind":"Machine"}` + "\n")
	for b := range 256 {
		one = append(one, byte(b))
	}
	return bytes.Repeat(one, 1500)
}

var _ = Describe("A stream", Ordered, func() {
	var (
		far  *kubelet
		in   string
		sent = everything()
	)
	BeforeAll(func(ctx SpecContext) {
		in = namespace(ctx)
		far = startKubelet(ctx, in, sent)
		DeferCleanup(func(ctx SpecContext) {
			far.Close()
			Expect(stored.typed.CoreV1().Pods(in).Delete(ctx, "p", *metav1.NewDeleteOptions(0))).To(Succeed())
			Expect(stored.typed.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{})).To(Succeed())
		})
	})

	of := func(subresource string, options runtime.Object) *url.URL {
		return seen.typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(in).Name("p").SubResource(subresource).
			VersionedParams(options, clientgoscheme.ParameterCodec).URL()
	}
	// passed waits until the API server says that it has switched to the stream.
	passed := func(ctx context.Context, mark cluster.Mark, subresource string) {
		GinkgoHelper()
		eventually(ctx, "the stream in the audit log", func(ctx context.Context) error {
			all, err := plane.RequestsSince(ctx, mark)
			if err != nil {
				return err
			}
			found := all.Where(func(r cluster.Request) bool { return r.Subresource == subresource && r.Namespace == in })
			return unless(len(found) == 1 && found[0].Code == http.StatusSwitchingProtocols, found.String())
		})
	}

	for name, protocol := range protocols {
		for subresource, options := range map[string]runtime.Object{
			"exec":   &corev1.PodExecOptions{Container: "c", Command: []string{"cat", standard}, Stdin: true, Stdout: true, Stderr: true},
			"attach": &corev1.PodAttachOptions{Container: "c", Stdin: true, Stdout: true, Stderr: true},
		} {
			It("of "+subresource+" by "+name+" has the bytes that were sent, both ways", func(ctx SpecContext) {
				mark, err := plane.Mark(ctx)
				Expect(err).NotTo(HaveOccurred())
				executor, err := protocol.execute(of(subresource, options))
				Expect(err).NotTo(HaveOccurred())
				var out, failures bytes.Buffer
				Expect(executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: bytes.NewReader(sent), Stdout: &out, Stderr: &failures})).To(Succeed())
				expectSame(far.noted(), sent)
				expectSame(out.Bytes(), sent)
				expectSame(failures.Bytes(), sent)
				passed(ctx, mark, subresource)
			}, NodeTimeout(patience))
		}

		It("to a port by "+name+" has the bytes that were sent, both ways", func(ctx SpecContext) {
			mark, err := plane.Mark(ctx)
			Expect(err).NotTo(HaveOccurred())
			dialer, err := protocol.forward(of("portforward", &corev1.PodPortForwardOptions{}))
			Expect(err).NotTo(HaveOccurred())
			stop, ready := make(chan struct{}), make(chan struct{})
			forwarder, err := portforward.NewForStreaming(dialer, []string{":80"}, stop, ready, io.Discard, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			ended := make(chan error, 1)
			go func() { ended <- forwarder.ForwardPorts() }()
			Eventually(ctx, ready).Should(BeClosed())
			ports, err := forwarder.GetPorts()
			Expect(err).NotTo(HaveOccurred())
			expectSame(through(ctx, ports[0].Local, sent), sent)
			expectSame(far.noted(), sent)
			close(stop)
			Eventually(ctx, ended).Should(Receive(BeNil()))
			passed(ctx, mark, "portforward")
		}, NodeTimeout(patience))
	}

	It("of a log has the bytes that were said", func(ctx SpecContext) {
		for _, follow := range []bool{false, true} {
			log, err := seen.typed.CoreV1().Pods(in).GetLogs("p", &corev1.PodLogOptions{Container: "c", Follow: follow}).DoRaw(ctx)
			Expect(err).NotTo(HaveOccurred())
			expectSame(log, sent)
		}
	})
})

// expectSame compares bytes, of which a failure shows few.
func expectSame(is, want []byte) {
	GinkgoHelper()
	if bytes.Equal(is, want) {
		return
	}
	at := 0
	for at < min(len(is), len(want)) && is[at] == want[at] {
		at++
	}
	Fail(fmt.Sprintf("%d bytes, not %d; from byte %d on they are %.80q, not %.80q", len(is), len(want), at, is[at:], want[at:]))
}

// through sends bytes to a port of this machine, and returns what comes back.
func through(ctx context.Context, port uint16, sent []byte) []byte {
	GinkgoHelper()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", port))
	Expect(err).NotTo(HaveOccurred())
	defer conn.Close()
	wrote := make(chan error, 1)
	go func() {
		_, err := conn.Write(sent)
		wrote <- err
	}()
	back := make([]byte, len(sent))
	_, err = io.ReadFull(conn, back)
	Expect(err).NotTo(HaveOccurred())
	Expect(<-wrote).To(Succeed())
	Expect(conn.(*net.TCPConn).CloseWrite()).To(Succeed())
	rest, err := io.ReadAll(conn)
	Expect(err).NotTo(HaveOccurred())
	Expect(rest).To(BeEmpty())
	return back
}
