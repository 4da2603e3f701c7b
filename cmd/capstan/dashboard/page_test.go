package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
)

// page is a browser with the page open.
type page struct {
	*Server

	t     *testing.T
	token string
	told  chan string // at the terminal
}

// open serves contexts of a kubeconfig, and begins a session.
func open(t *testing.T, kubeconfig string, plan func(context.Context, *rest.Config) (any, error), contexts ...string) *page {
	t.Helper()
	p := &page{t: t, told: make(chan string, 10)}
	var of []Cluster
	for _, name := range contexts {
		of = append(of, Cluster{Name: name, Access: inspect.Access{Kubeconfig: kubeconfig, Context: name}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	server, err := Listen(ctx, 0, Options{
		Views: controllers.Views(), Clusters: of, OperatorNamespace: "ops", Plan: plan, Tell: func(text string) { p.told <- text },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range server.clusters {
		c.times = soon
	}
	p.Server = server
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	p.begin()
	return p
}

// openOne serves one cluster.
func openOne(t *testing.T, f *fakeCluster) *page {
	t.Helper()
	return open(t, kubeconfigOf(t, "", map[string]string{"one": f.URL}), nil, "one")
}

// begin begins a session, as a browser does that is given the address.
func (p *page) begin() {
	p.t.Helper()
	_, code, _ := strings.Cut(p.Address(), "#code=")
	var session Session
	p.into(p.ask(p.t.Context(), http.MethodPost, "/api/session", `{"code":"`+code+`"}`, nil), http.StatusOK, &session)
	p.token = session.Token
}

// ask sends a request as the page does, changed by whoever wants it otherwise.
func (p *page) ask(ctx context.Context, method, path, body string, change func(*http.Request)) reply {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.host+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Origin", "http://"+p.host)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		r.Header.Set(TokenHeader, p.token)
	}
	if change != nil {
		change(r)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = response.Body.Close() })
	return reply{StatusCode: response.StatusCode, Header: response.Header, path: path, body: response.Body}
}

// reply is an answer whose body is closed when the test ends.
type reply struct {
	StatusCode int
	Header     http.Header
	path       string
	body       io.Reader
}

// into reads an answer that has a status.
func (p *page) into(response reply, code int, into any) {
	p.t.Helper()
	text, err := io.ReadAll(response.body)
	if err != nil {
		p.t.Fatal(err)
	}
	if response.StatusCode != code {
		p.t.Fatalf("%s answers %d: %s", response.path, response.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		p.t.Fatalf("%s answers %s: %v", response.path, text, err)
	}
}

// get asks for something that is there.
func (p *page) get(path string, into any) {
	p.t.Helper()
	p.into(p.ask(p.t.Context(), http.MethodGet, path, "", nil), http.StatusOK, into)
}

// stream is a response that stays open.
type stream struct {
	t     *testing.T
	lines chan Line
	end   context.CancelFunc
}

func (p *page) stream(path string) *stream {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	response := p.ask(ctx, http.MethodGet, path, "", nil)
	if response.StatusCode != http.StatusOK {
		p.t.Fatalf("the stream answers %d", response.StatusCode)
	}
	s := &stream{t: p.t, lines: make(chan Line, 1000), end: cancel}
	p.t.Cleanup(cancel)
	go func() {
		defer close(s.lines)
		text := bufio.NewScanner(response.body)
		text.Buffer(nil, 8<<20)
		for text.Scan() {
			var line Line
			if err := json.Unmarshal(text.Bytes(), &line); err != nil {
				return
			}
			s.lines <- line
		}
	}()
	return s
}

// until reads lines until one is as wanted.
func (s *stream) until(what string, wanted func(Line) bool) Line {
	s.t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	var last Line
	for {
		select {
		case line, is := <-s.lines:
			if !is {
				s.t.Fatalf("the stream has ended before %s", what)
			}
			if wanted(line) {
				return line
			}
			last = line
		case <-timer.C:
			s.t.Fatalf("%s did not come; the last line was %+v", what, last)
		}
	}
}

// state is a view with the first machine in a state.
func state(name string) func(Line) bool {
	return func(l Line) bool { return l.Type == LineView && string(l.View.Machines[0].State) == name }
}

// trouble is a line about trouble that says something.
func trouble(says string) func(Line) bool {
	return func(l Line) bool { return l.Type == LineTrouble && strings.Contains(l.Message, says) }
}

func TestThePagesLibrariesAreSmall(t *testing.T) {
	all, err := files.ReadDir("page/lib")
	if err != nil || len(all) == 0 {
		t.Fatalf("there are none: %v", err)
	}
	var size int64
	for _, file := range all {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 100_000 {
		t.Errorf("they have %d bytes, and may have 100 KB", size)
	}
}
