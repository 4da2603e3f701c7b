package dashboard

import (
	"context"
	"net/http"
	"strings"
)

// policy lets the page have its own files, and nothing of anybody else or inline; what a script sets as markup is refused.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers are those of every answer.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

// guarded lets through what a browser asks that has been given the page's own address. A page of others whose name was made to
// resolve to this machine sends its own name as the host; one that asks across origins says so.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if why := s.foreign(r); why != "" {
			s.refuse(w, http.StatusForbidden, Problem{Error: why, Next: "open the address that capstan dashboard has printed"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign says why a request does not come from the page, empty if it may.
func (s *Server) foreign(r *http.Request) string {
	if r.Host != s.host {
		return "this is the dashboard at " + s.host + ", and was asked for under another name"
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+s.host {
			return "a page of another origin asks, which nobody here answers"
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return "a page of another site asks, which nobody here answers"
		}
	}
	return ""
}

// withToken lets through who has a session; the request ends with it.
func (s *Server) withToken(next func(http.ResponseWriter, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until, ended, is := s.sessions.lasts(r.Header.Get(TokenHeader))
		if !is {
			s.refuse(w, http.StatusUnauthorized, Problem{Error: "the token is missing, wrong, or over", Next: newAddress})
			return
		}
		ctx, cancel := context.WithDeadline(r.Context(), until)
		defer cancel()
		go func() {
			select {
			case <-ended:
				cancel()
			case <-ctx.Done():
			}
		}()
		next(w, r.WithContext(ctx))
	})
}

// newAddress is how somebody without a session gets one.
const newAddress = "press Enter in the terminal in which capstan dashboard runs: it prints a new address"

// isJSON says that a request says so of its body, which a form of another page cannot.
func isJSON(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
