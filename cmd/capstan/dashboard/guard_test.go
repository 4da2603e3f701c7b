package dashboard

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// answers are those below which there is something to be asked for.
var answers = []string{"/", "/page.css", "/api/contexts", "/api/diagrams", "/api/watch", "/api/contexts/0/history", "/api/nothing"}

func TestServer_answers_nobody_who_asks_under_another_name_or_from_another_origin(t *testing.T) {
	f := installed(t)
	p := openOne(t, f)
	_, port, _ := strings.Cut(p.host, ":")
	for name, change := range map[string]func(*http.Request){
		"a name that was made to resolve to this machine": func(r *http.Request) { r.Host = "evil.example:" + port },
		"a name of this machine":                          func(r *http.Request) { r.Host = "localhost:" + port },
		"another port":                                    func(r *http.Request) { r.Host = "127.0.0.1:1" },
		"no port":                                         func(r *http.Request) { r.Host = "127.0.0.1" },
		"a page of others":                                func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a page of this machine, on another port":         func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"a page without an origin":                        func(r *http.Request) { r.Header.Set("Origin", "null") },
		"two origins":                                     func(r *http.Request) { r.Header.Add("Origin", "https://evil.example") },
		"a link of others":                                func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a page of the same site":                         func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
	} {
		for _, path := range answers {
			response := p.ask(t.Context(), http.MethodGet, path, "", change)
			if response.StatusCode != http.StatusForbidden {
				t.Errorf("%s gets %d for %s", name, response.StatusCode, path)
			}
		}
		response := p.ask(t.Context(), http.MethodPost, "/api/session", `{"code":"x"}`, change)
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s gets %d for a session", name, response.StatusCode)
		}
	}
	if asked := f.requests(); len(asked) > 0 {
		t.Errorf("the cluster was asked %q", asked)
	}
}

func TestServer_lets_no_answer_run_or_load_what_is_not_its_own(t *testing.T) {
	p := openOne(t, installed(t))
	for _, path := range append(answers, "/nothing.js", "/../server.go") {
		for _, token := range []string{p.token, ""} {
			if path == "/api/watch" && token != "" {
				continue
			}
			response := p.ask(t.Context(), http.MethodGet, path, "", func(r *http.Request) { r.Header.Set(TokenHeader, token) })
			for name, value := range headers {
				if got := response.Header.Get(name); got != value {
					t.Errorf("%s of %s (%d) is %q", name, path, response.StatusCode, got)
				}
			}
			if response.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s sets a cookie", path)
			}
		}
	}
	for _, must := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, must) {
			t.Errorf("the policy lacks %s", must)
		}
	}
	for _, never := range []string{"unsafe", "data:", "blob:", "http", "*"} {
		if strings.Contains(policy, never) {
			t.Errorf("the policy has %s", never)
		}
	}
}

func TestServer_tells_another_user_of_this_machine_nothing(t *testing.T) {
	f := installed(t)
	p := openOne(t, f)
	token := p.token
	for name, given := range map[string]string{"no token": "", "a wrong token": strings.Repeat("x", len(token)), "half a token": token[:len(token)/2], "a code": "code"} {
		for _, path := range answers[2:] {
			response := p.ask(t.Context(), http.MethodGet, path, "", func(r *http.Request) { r.Header.Set(TokenHeader, given) })
			var why Problem
			if p.into(response, http.StatusUnauthorized, &why); why.Error == "" || !strings.Contains(why.Next, "Enter") {
				t.Errorf("%s for %s: %+v", name, path, why)
			}
		}
	}
	response := p.ask(t.Context(), http.MethodGet, "/api/contexts?token="+token+"&Capstan-Token="+token, "", func(r *http.Request) {
		r.Header.Del(TokenHeader)
		r.AddCookie(&http.Cookie{Name: TokenHeader, Value: token})
		r.Header.Set("Authorization", "Bearer "+token)
	})
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token elsewhere than in its header counts")
	}
	if asked := f.requests(); len(asked) > 0 {
		t.Errorf("the cluster was asked %q", asked)
	}
}

func TestSession_takes_a_code_once_however_many_others_are_tried(t *testing.T) {
	p := openOne(t, installed(t))
	try := func(code string) int {
		return p.ask(t.Context(), http.MethodPost, "/api/session", `{"code":"`+code+`"}`, nil).StatusCode
	}
	newCode := func() string {
		_, code, _ := strings.Cut(p.Address(), "#code=")
		return code
	}
	code := newCode()
	if first, second, third := try(code), try(code), try(code); first != http.StatusOK || second != http.StatusUnauthorized || third != second {
		t.Errorf("the same code gets %d, then %d, and then %d", first, second, third)
	}
	if told := <-p.told; told != replayed || len(p.told) > 0 {
		t.Errorf("of the same code the terminal is told %q", told)
	}
	old := newCode()
	if code = newCode(); try(old) != http.StatusUnauthorized || try(code) != http.StatusOK {
		t.Error("the address before the last still works, or the last does not")
	}
	code = newCode()
	for range 4 * toldGuesses {
		if try("guess") != http.StatusUnauthorized {
			t.Error("a guess is taken")
		}
	}
	if try(code) != http.StatusOK {
		t.Error("whoever tries wrong codes locks out who has the right one")
	}
	if told := <-p.told; !strings.Contains(told, "wrong codes") || len(p.told) > 0 {
		t.Errorf("the terminal is told %q", told)
	}
	if try(newCode()) != http.StatusOK {
		t.Error("a new code does not work")
	}
	for name, row := range map[string]struct {
		body string
		kind string
		want int
	}{
		"a form":   {"code=" + code, "application/x-www-form-urlencoded", http.StatusUnsupportedMediaType},
		"no type":  {`{"code":"x"}`, "", http.StatusUnsupportedMediaType},
		"too much": {`{"code":"` + strings.Repeat("x", 2*maxBody) + `"}`, "application/json", http.StatusBadRequest},
		"no JSON":  {"code", "application/json; charset=utf-8", http.StatusBadRequest},
	} {
		response := p.ask(t.Context(), http.MethodPost, "/api/session", row.body, func(r *http.Request) { r.Header.Set("Content-Type", row.kind) })
		if response.StatusCode != row.want {
			t.Errorf("%s gets %d", name, response.StatusCode)
		}
	}
}

func TestSession_ends_by_time(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	s := &sessions{now: func() time.Time { return now }}
	old := s.newCode()
	now = now.Add(codeLasts)
	if _, is, _ := s.begin(old); is {
		t.Error("a code that is too old counts")
	}
	begun, is, _ := s.begin(s.newCode())
	if until, _, lasts := s.lasts(begun.Token); !is || !lasts || !until.Equal(now.Add(tokenLasts)) {
		t.Errorf("it lasts %v, until %s", lasts, until)
	}
	now = now.Add(tokenLasts - time.Second)
	if _, _, lasts := s.lasts(begun.Token); !lasts {
		t.Error("it is over too soon")
	}
	now = now.Add(time.Second)
	if _, _, lasts := s.lasts(begun.Token); lasts {
		t.Error("a token that is over counts")
	}
	first, _, _ := s.begin(s.newCode())
	for range maxSessions {
		if _, is, _ := s.begin(s.newCode()); !is {
			t.Error("a code does not count")
		}
	}
	if _, _, lasts := s.lasts(first.Token); lasts || len(s.tokens) != maxSessions {
		t.Errorf("%d sessions are kept, the first one: %v", len(s.tokens), lasts)
	}
}

func TestStream_ends_with_the_session(t *testing.T) {
	p := openOne(t, installed(t))
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	p.sessions.mu.Lock()
	p.sessions.tokens[0].until = time.Now().Add(100 * time.Millisecond)
	p.sessions.mu.Unlock()
	second := p.stream("/api/watch")
	for range second.lines { // it ends, or the test does
	}
	if response := p.ask(t.Context(), http.MethodGet, "/api/contexts", "", nil); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the session %d is answered", response.StatusCode)
	}
}

func TestSession_is_ended_by_whoever_comes_with_its_code_again(t *testing.T) {
	p := openOne(t, installed(t))
	other := p.token
	_, code, _ := strings.Cut(p.Address(), "#code=")
	var stolen Session
	p.into(p.ask(t.Context(), http.MethodPost, "/api/session", `{"code":"`+code+`"}`, nil), http.StatusOK, &stolen)
	p.token = stolen.Token
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	if again := p.ask(t.Context(), http.MethodPost, "/api/session", `{"code":"`+code+`"}`, nil); again.StatusCode != http.StatusUnauthorized {
		t.Errorf("whoever comes second gets %d", again.StatusCode)
	}
	for range s.lines { // it ends, or the test does
	}
	if told := <-p.told; told != replayed {
		t.Errorf("the terminal is told %q", told)
	}
	if response := p.ask(t.Context(), http.MethodGet, "/api/contexts", "", nil); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("whoever came first gets %d", response.StatusCode)
	}
	p.token = other
	p.stream("/api/watch").until("a view in the other session", state("Installed"))
}

func TestSession_outlives_the_time_of_its_code(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	s := &sessions{now: func() time.Time { return now }}
	code := s.newCode()
	begun, _, _ := s.begin(code)
	now = now.Add(codeLasts)
	if _, is, warning := s.begin(code); is || warning != "" {
		t.Errorf("a code that is over counts: %v, %q", is, warning)
	}
	if _, _, lasts := s.lasts(begun.Token); !lasts {
		t.Error("a code that is over ends the session")
	}
}

func TestStream_ends_when_its_session_makes_room_for_another(t *testing.T) {
	p := openOne(t, installed(t))
	s := p.stream("/api/watch")
	s.until("a view", state("Installed"))
	for range maxSessions {
		p.begin()
	}
	for range s.lines { // it ends, or the test does
	}
	p.stream("/api/watch").until("a view in the last session", state("Installed"))
}
