package privatecapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// standIn is in the API server's place, since no real one can be made to answer wrongly. It counts what it is asked.
type standIn struct {
	mutex  sync.Mutex
	asked  int
	answer http.HandlerFunc
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" {
		_, _ = io.WriteString(w, "ok")
		return
	}
	s.mutex.Lock()
	s.asked++
	answer := s.answer
	s.mutex.Unlock()
	answer(w, r)
}

// answers says how it answers from now on, and has it count anew.
func (s *standIn) answers(answer http.HandlerFunc) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked, s.answer = 0, answer
}

func (s *standIn) count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.asked
}

// startBefore starts a proxy before a server in the API server's place.
func startBefore(ctx context.Context, server *httptest.Server) *proxy {
	GinkgoHelper()
	kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: server.URL}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "of-the-pod"}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "c",
	}, kubeconfig)).To(Succeed())
	return startProxy(ctx, kubeconfig)
}

const (
	inJSON     = "application/json"
	inProtobuf = "application/vnd.kubernetes.protobuf"
	machine    = `{"apiVersion":"` + private + `/` + version + `","kind":"Machine","metadata":{"name":"m"}}`
	added      = `{"type":"ADDED","object":` + machine + "}\n"
)

// halfList is one that is longer than what a proxy holds, without its end.
var halfList = `{"apiVersion":"` + private + `/` + version + `","kind":"MachineList","items":[` + strings.Repeat(machine+",", 5000)

// saying answers with a text of a content type.
func saying(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	}
}

// cut is an answer that is broken off where it would go on.
func cut(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer(w, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

var _ = Describe("A server that answers wrongly", Ordered, ContinueOnFailure, func() {
	var (
		behind *standIn
		own    *proxy
	)
	BeforeAll(func(ctx SpecContext) {
		behind = &standIn{}
		server := httptest.NewServer(behind)
		DeferCleanup(server.Close)
		own = startBefore(ctx, server)
	})
	// counted runs a request, and says by how much the count of answers that were not understood has grown.
	counted := func(ctx context.Context, ask func()) float64 {
		GinkgoHelper()
		before := own.metric(ctx, "translation_errors_total", "to client")
		ask()
		return own.metric(ctx, "translation_errors_total", "to client") - before
	}

	for name, row := range map[string]struct {
		method, accept string
		answer         http.HandlerFunc
		wrong          float64
		says           string
	}{
		"with half an object":               {http.MethodGet, inJSON, saying(inJSON, machine[:60]), 1, "cannot be translated"},
		"with two objects":                  {http.MethodGet, inJSON, saying(inJSON, machine+machine), 1, "cannot be translated"},
		"in protobuf that is none":          {http.MethodGet, inProtobuf, saying(inProtobuf, "k8s\x00\xff"), 1, "cannot be translated"},
		"with half an object to a creation": {http.MethodPost, inJSON, saying(inJSON, machine[:60]), 1, "may have been acted upon"},
		"with half an object to an update":  {http.MethodPut, inJSON, saying(inJSON, machine[:60]), 1, "may have been acted upon"},
		"to a creation with nothing":        {http.MethodPost, inJSON, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "may have been acted upon"},
	} {
		It(name+" is told so, asked once, and counted", func(ctx SpecContext) {
			behind.answers(row.answer)
			body := ""
			if row.method != http.MethodGet {
				body = strings.ReplaceAll(machine, private, standard)
			}
			Expect(counted(ctx, func() {
				code, text, _, err := own.send(ctx, row.method, machines, body, map[string]string{"Content-Type": inJSON, "Accept": row.accept})
				Expect(err).NotTo(HaveOccurred())
				Expect(code).To(Equal(http.StatusBadGateway), text)
				Expect(text).To(And(ContainSubstring(`"reason":"ProxyUpstream"`), ContainSubstring(row.says), Not(ContainSubstring("nothing was"))))
			})).To(Equal(row.wrong))
			Expect(behind.count()).To(Equal(1))
		})
	}

	for name, row := range map[string]struct {
		query, accept string
		answer        http.HandlerFunc
		// whole is what the client has got whole, as the server said it.
		whole string
		wrong float64
	}{
		"in the middle of a long list":                           {"", inJSON, saying(inJSON, halfList+"}"+machine), halfList[:len(halfList)-1], 1},
		"with a long list that ends in the middle":               {"", inJSON, saying(inJSON, halfList), halfList[:len(halfList)-1], 1},
		"with a long list that is broken off":                    {"", inJSON, cut(saying(inJSON, halfList)), "", 0},
		"after an event of a watch":                              {"?watch=1", inJSON, saying(inJSON, added+"}"), added, 1},
		"with half an event after one of a watch":                {"?watch=1", inJSON, saying(inJSON, added+added[:60]), added, 1},
		"with a watch that is broken off":                        {"?watch=1", inJSON, cut(saying(inJSON, added+added[:60])), added, 0},
		"with a frame of a watch in protobuf":                    {"?watch=1", inProtobuf, saying(inProtobuf+";stream=watch", "\x00\x00\x00\x05wrong"), "", 1},
		"with half a frame of a watch in protobuf":               {"?watch=1", inProtobuf, saying(inProtobuf+";stream=watch", "\x00\x00\x00\x05wr"), "", 1},
		"with a watch in protobuf that is broken off in a frame": {"?watch=1", inProtobuf, cut(saying(inProtobuf+";stream=watch", "\x00\x00\x00\x05wr")), "", 0},
		"with a Table whose end is that of another":              {"", inJSON + ";as=Table;g=meta.k8s.io;v=v1", saying(inJSON, halfList+"]]"), halfList[:len(halfList)-1], 1},
		"with a list that is none after its objects":             {"", inJSON, saying(inJSON, halfList+`{"apiVersion":1e}]}`), halfList[:len(halfList)-1], 1},
	} {
		It(name+" has the stream break, is asked once, and counted", func(ctx SpecContext) {
			behind.answers(row.answer)
			Expect(counted(ctx, func() {
				code, text, _, err := own.get(ctx, machines+row.query, map[string]string{"Accept": row.accept})
				Expect(code).To(Equal(http.StatusOK), text)
				Expect(err).To(MatchError(io.ErrUnexpectedEOF), "it has ended cleanly after %.80q", text[max(0, len(text)-80):])
				Expect(strings.HasPrefix(text, strings.ReplaceAll(row.whole, private, standard))).To(BeTrue(), "the client has %.200q of %d bytes", text, len(text))
				Expect(text).NotTo(ContainSubstring(private))
			})).To(Equal(row.wrong))
			Expect(behind.count()).To(Equal(1))
		})
	}

	It("is another than one that asks for patience in an object, which is kept", func(ctx SpecContext) {
		behind.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Content-Type", inJSON)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","message":"machines.`+private+` are many","code":429,"details":{"group":"`+private+`","retryAfterSeconds":7}}`)
		})
		code, text, header, err := own.get(ctx, machines, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(http.StatusTooManyRequests))
		Expect(header.Get("Retry-After")).To(Equal("7"))
		Expect(text).To(And(ContainSubstring(`"retryAfterSeconds":7`), ContainSubstring("machines."+standard+" are many"), ContainSubstring(`"group":"`+standard+`"`)))
	})
})
