package privatecapi_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const machines = "/apis/" + standard + "/" + version + "/machines"

var _ = Describe("HTTP", func() {
	It("is answered as it is for a client that could unpack, and for HEAD", func(ctx SpecContext) {
		code, body, header, err := front.get(ctx, machines, map[string]string{"Accept-Encoding": "gzip", "Accept": "application/json"})
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(200))
		Expect(header.Get("Content-Encoding")).To(BeEmpty())
		Expect(body).To(HavePrefix("{"))
		code, body, _, err = front.send(ctx, "HEAD", "/healthz", "", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(200))
		Expect(body).To(BeEmpty())
		_, _, header, err = front.get(ctx, "/openapi/v2", nil)
		Expect(err).NotTo(HaveOccurred())
		code, _, _, err = front.get(ctx, "/openapi/v2", map[string]string{"If-None-Match": header.Get("ETag")})
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(304))
	})

	It("that is malformed is refused, counted, and not acted upon", func(ctx SpecContext) {
		in := namespace(ctx)
		path := "/apis/" + standard + "/" + version + "/namespaces/" + in + "/machines"
		mark, err := plane.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		before := front.metric(ctx, "translation_errors_total", "to server")
		for _, body := range []string{`{"apiVersion":`, `{} {}`, `{"a":1,}`, `[`, `{"metadata":{"name":"m"}}}`, strings.Repeat("[", 2000)} {
			code, answer, _, err := front.send(ctx, "POST", path, body, map[string]string{"Content-Type": "application/json"})
			Expect(err).NotTo(HaveOccurred())
			Expect(code).To(Equal(400), answer)
			Expect(answer).To(And(ContainSubstring(`"kind":"Status"`), ContainSubstring("kube-apiserver-proxy")))
		}
		Expect(front.metric(ctx, "translation_errors_total", "to server")).To(BeNumerically(">=", before+5))
		requests, err := plane.RequestsSince(ctx, mark)
		Expect(err).NotTo(HaveOccurred())
		Expect(requests.Where(func(r cluster.Request) bool { return r.Namespace == in && r.Resource == "machines" && r.IsWrite() })).To(BeEmpty())
	})

	It("is answered to who has the token of the kubeconfig alone, which a proxy that begins anew keeps", func(ctx SpecContext) {
		own := startProxy(ctx, plane.Kubeconfig())
		without, err := url.Parse(own.URL)
		Expect(err).NotTo(HaveOccurred())
		without.User = nil
		for _, header := range []map[string]string{nil, {"Authorization": "Bearer of-somebody"}} {
			code, answer, _, err := own.get(ctx, without.String()+machines, header)
			Expect(err).NotTo(HaveOccurred())
			Expect(code).To(Equal(401), answer)
			Expect(answer).To(And(ContainSubstring(`"kind":"Status"`), ContainSubstring("kubeconfig")))
		}
		access, err := own.Access()
		Expect(err).NotTo(HaveOccurred())
		_, err = clientsOf(access).dynamic.Resource(resource(standard, version, "machines")).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())

		kept := own.token()
		Expect(own.Stop(patience)).To(Succeed())
		again, err := harness.StartCAPIProxy(ctx, plane, bin, plane.Kubeconfig(), own.Log)
		Expect(err).NotTo(HaveOccurred())
		Expect((&proxy{again}).token()).To(Equal(kept))
		Expect(again.Stop(patience)).To(Succeed())
	})

	It("says at once that its port is taken", func(ctx SpecContext) {
		taken, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		defer taken.Close()
		log := filepath.Join(GinkgoT().TempDir(), "proxy.log")
		binary, err := filepath.Abs(filepath.Join(bin, "capstan"))
		Expect(err).NotTo(HaveOccurred())
		process, err := plane.Spawn("another proxy", log, binary, "capi-proxy", "--kubeconfig", plane.Kubeconfig(), "--address", taken.Addr().String(), "--health-address", "0")
		Expect(err).NotTo(HaveOccurred())
		Eventually(process.Exited(), patience).Should(BeClosed())
		Expect(process.Failure()).To(HaveOccurred())
		text, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(ContainSubstring("address already in use"))
	})
})

var _ = Describe("A token", func() {
	It("that is rotated is used within a minute, without a restart", func(ctx SpecContext) {
		in := namespace(ctx)
		folder := GinkgoT().TempDir()
		file := filepath.Join(folder, "token")
		tokenOf := func(account string) {
			GinkgoHelper()
			_, err := stored.typed.CoreV1().ServiceAccounts(in).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			answer, err := stored.typed.CoreV1().ServiceAccounts(in).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(file, []byte(answer.Status.Token), 0o600)).To(Succeed())
		}
		tokenOf("first")
		server := plane.Config()
		ca := filepath.Join(folder, "ca")
		Expect(os.WriteFile(ca, server.CAData, 0o600)).To(Succeed())
		kubeconfig := filepath.Join(folder, "kubeconfig")
		Expect(clientcmd.WriteToFile(clientcmdapi.Config{
			Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: server.Host, CertificateAuthority: ca}},
			AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {TokenFile: file}},
			Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
			CurrentContext: "c",
		}, kubeconfig)).To(Succeed())
		own := startProxy(ctx, kubeconfig)
		who := func(ctx context.Context) (string, error) {
			code, body, _, err := own.get(ctx, machines, map[string]string{"Authorization": "Bearer of-the-client"})
			if err != nil || code != 403 {
				return "", fmt.Errorf("%d %s: %w", code, body, err)
			}
			return body, nil
		}
		Expect(who(ctx)).To(ContainSubstring(in + ":first"))
		tokenOf("second")
		limit, end := context.WithTimeout(ctx, 75*time.Second)
		defer end()
		Eventually(limit, func(ctx context.Context) (string, error) { return who(ctx) }).WithTimeout(75 * time.Second).Should(ContainSubstring(in + ":second"))
	}, NodeTimeout(3*time.Minute))
})
