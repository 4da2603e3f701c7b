package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestWatch_tells_of_each_change_and_asks_only_when_it_begins(t *testing.T) {
	f := installed(t)
	p := openOne(t, f)
	s := p.stream("/api/watch")
	first := s.until("a view by watch", func(l Line) bool {
		return l.Type == LineView && l.View.How == ByWatch && !slices.ContainsFunc(l.View.Families, func(f Family) bool { return f.Reading })
	})
	if first.Context != "0" || first.View.Release != "4.22.5" || first.View.Machines[0].Attention != AttentionNone {
		t.Errorf("it begins with %+v", first.View)
	}
	f.awaitWatches(t, operatorPath, apiPath, requirementsPath)
	before := f.requests()
	for i := range 20 {
		reason := fmt.Sprintf("step %d", i)
		f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Applying", reason)}))
		s.until(reason, func(l Line) bool { return state("Applying")(l) && l.View.Machines[0].Waits == reason })
	}
	if after := f.requests(); len(after) != len(before) {
		t.Errorf("20 changes took %q", after[len(before):])
	}
	for _, request := range before {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("the cluster was asked %s", request)
		}
	}
}

func TestWatch_polls_where_nobody_may_watch(t *testing.T) {
	f := installed(t)
	f.unwatched = "/"
	p := openOne(t, f)
	s := p.stream("/api/watch")
	s.until("a view by poll", func(l Line) bool { return state("Installed")(l) && l.View.How == ByPoll })
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Planning", "x")}))
	s.until("the change", state("Planning"))
	f.set(requirementsPath, "a", requirement("Met", "it is met"))
	s.until("the requirement", func(l Line) bool { return l.Type == LineView && l.View.Families[0].Counts["Met"] == 1 })
	watches := 0
	for _, request := range f.requests() {
		if strings.Contains(request, "watch=true") {
			watches++
		}
	}
	if watches > 3 {
		t.Errorf("what is forbidden was asked for %d times", watches)
	}
}

func TestWatch_tells_what_has_gone_and_comes_back(t *testing.T) {
	f := installed(t)
	p := openOne(t, f)
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	f.set(operatorPath, "cluster-api", nil)
	gone := s.until("that it is gone", state(""))
	if !strings.Contains(gone.View.Machines[0].Problem, "does not exist") {
		t.Errorf("it says %+v", gone.View.Machines[0])
	}
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Applying", "x")}))
	s.until("that it is back", state("Applying"))
}

func TestWatch_tells_of_an_expired_login_and_goes_on_after_the_next(t *testing.T) {
	f := installed(t)
	f.token = "first"
	kubeconfig := kubeconfigOf(t, `{name: one, user: {token: first}}`, map[string]string{"one": f.URL})
	p := open(t, kubeconfig, nil, "one")
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	f.with(func() { f.token = "second" })
	f.CloseClientConnections() // which ends watches, as an API server does
	told := s.until("the trouble", trouble("does not accept the credentials"))
	if !strings.Contains(told.Next, "log in again") || told.RetryIn == "" {
		t.Errorf("it says %+v", told)
	}
	var why Problem
	p.into(p.ask(t.Context(), http.MethodGet, "/api/contexts/0/history", "", nil), http.StatusBadGateway, &why)
	if !strings.Contains(why.Error, "does not accept the credentials") {
		t.Errorf("a request says %+v", why)
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: one, cluster: {server: %q, insecure-skip-tls-verify: true}}]\ncontexts: [{name: one, context: {cluster: one, user: one}}]\nusers: [{name: one, user: {token: second}}]\n", f.URL)
	rewrite(t, kubeconfig, text)
	s.until("a view after the login", state("Installed"))
}

func TestWatch_tells_of_credentials_that_are_not_to_be_had(t *testing.T) {
	f := installed(t)
	plugin := func(script string) string {
		return fmt.Sprintf(`{name: one, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: sh, args: [-c, %q]}}}`, script)
	}
	for name, row := range map[string]struct{ script, says, next string }{
		"it fails":      {"exit 3", "exit code 3", "log in again"},
		"it says stuff": {"echo '<b>no'", "could not be asked", "log in again"},
		"it hangs":      {"exec sleep 4", "sh, which gives the credentials, may wait for somebody", "log in with kubectl"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, kubeconfigOf(t, plugin(row.script), map[string]string{"one": f.URL}), nil, "one")
			if name == "it hangs" {
				p.impatient()
			}
			told := p.stream("/api/watch").until("the trouble", trouble(row.says))
			if !strings.Contains(told.Next, row.next) {
				t.Errorf("it says %+v", told)
			}
		})
	}
}

func TestWatch_of_a_context_that_hangs_holds_up_no_other(t *testing.T) {
	fine, hangs := installed(t), installed(t)
	hangs.hangs = "/"
	p := open(t, kubeconfigOf(t, "", map[string]string{"hangs": hangs.URL, "fine": fine.URL}), nil, "hangs", "fine")
	p.clusters[0].times.request = time.Hour
	both := p.stream("/api/watch")
	both.until("the other one", of("1", state("Installed")))
	var all Instances
	p.get("/api/contexts/1/family?machine=compatibility", &all)
	fine.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Applying", "x")}))
	both.until("a change of the other one", of("1", state("Applying")))
}

func TestWatch_of_a_context_that_hangs_tells_the_trouble_and_that_it_is_over(t *testing.T) {
	fine, hangs := installed(t), installed(t)
	hangs.hangs = "/"
	p := open(t, kubeconfigOf(t, "", map[string]string{"hangs": hangs.URL, "fine": fine.URL}), nil, "hangs", "fine")
	p.clusters[0].times.request = impatience
	both := p.stream("/api/watch")
	told := both.until("the trouble", of("0", trouble("does not answer: nothing came within 500ms")))
	if !strings.Contains(told.Next, "can be reached") {
		t.Errorf("it says %+v", told)
	}
	hangs.with(func() { hangs.hangs = "" })
	both.until("that it answers", of("0", state("Installed")))
}

// of asks for a line of one context.
func of(id string, wanted func(Line) bool) func(Line) bool {
	return func(l Line) bool { return l.Context == id && wanted(l) }
}

func TestWatch_of_seven_contexts_is_one_stream(t *testing.T) {
	servers, names, clusters := map[string]string{}, []string{}, []*fakeCluster{}
	for i := range 7 { // a browser opens six connections to a server
		f, name := installed(t), fmt.Sprintf("c%d", i)
		servers[name], names, clusters = f.URL, append(names, name), append(clusters, f)
	}
	all := open(t, kubeconfigOf(t, "", servers), nil, names...).stream("/api/watch")
	seen := map[string]bool{}
	all.until("a view of each", func(l Line) bool {
		if state("Installed")(l) {
			seen[l.Context] = true
		}
		return len(seen) == 7
	})
	for i, f := range clusters {
		f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Applying", "x")}))
		all.until("the change of "+names[i], func(l Line) bool { return state("Applying")(l) && l.Context == strconv.Itoa(i) })
	}
}

func TestWatch_that_hangs_is_noticed(t *testing.T) {
	f := installed(t)
	p := openOne(t, f).impatient()
	p.clusters[0].times.round = time.Second
	s := p.stream("/api/watch")
	s.until("a view by watch", func(l Line) bool { return state("Installed")(l) && l.View.How == ByWatch })
	f.with(func() { f.hangs = operatorPath })
	s.until("the trouble", trouble("does not answer"))
}

func TestCluster_is_asked_only_while_somebody_looks(t *testing.T) {
	f := installed(t)
	f.unwatched = "/"
	p := openOne(t, f)
	if asked := f.requests(); len(asked) > 0 {
		t.Fatalf("nobody looks, and it was asked %q", asked)
	}
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	s.end()
	rested := func() bool {
		c := p.clusters[0]
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.end == nil
	}
	eventually(t, "that it rests", rested)
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Applying", "x")}))
	p.stream("/api/watch").until("what is so now, and not what was", func(l Line) bool {
		if state("Installed")(l) {
			t.Error("what is shown is old")
		}
		return state("Applying")(l)
	})
}

// eventually waits for something that nothing tells of.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !is() {
		if pause(ctx, 5*time.Millisecond); ctx.Err() != nil {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestStreams_are_so_many_and_no_more(t *testing.T) {
	p := openOne(t, installed(t))
	var open []*stream
	for range maxStreams {
		open = append(open, p.stream("/api/watch"))
	}
	refused := func() bool {
		return p.ask(t.Context(), http.MethodGet, "/api/watch", "", nil).StatusCode == http.StatusTooManyRequests
	}
	if !refused() {
		t.Error("one more is served")
	}
	open[0].end()
	eventually(t, "that there is room again", func() bool { return len(p.streams) < maxStreams })
	p.stream("/api/watch").until("a view", state("Installed"))
}

func TestStream_goes_on_saying_that_it_is_alive(t *testing.T) {
	p := openOne(t, installed(t))
	p.clusters[0].times.alive = 20 * time.Millisecond
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	s.until("that it is alive", func(l Line) bool { return l.Type == LineAlive && l.View == nil })
}
