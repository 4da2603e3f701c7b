package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"sync"
	"time"
)

const (
	// codeLasts is how long a code may be used, once.
	codeLasts = 10 * time.Minute
	// tokenLasts is how long a session lasts.
	tokenLasts = 12 * time.Hour
	// toldGuesses is after how many wrong codes the terminal is told, once for each code. They void nothing: 256 bits are not guessed, and
	// whoever could void a code could lock out whom it is for.
	toldGuesses = 5
	// maxSessions is how many sessions there are at a time; the oldest goes.
	maxSessions = 8
)

// secret is what is kept of a code or of a token: enough to know it again.
type secret [sha256.Size]byte

func secretOf(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) is(other secret) bool { return subtle.ConstantTimeCompare(s[:], other[:]) == 1 }

// fresh is a text of 256 random bits that needs no escaping anywhere.
func fresh() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // it never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// sessions are who may ask. They live in memory, and end with the command.
type sessions struct {
	now func() time.Time

	mu sync.Mutex
	// code is the one that counts, until it was used, or became too old; open says that there is one.
	code    secret
	until   time.Time
	open    bool
	guesses int
	tokens  []token
}

type token struct {
	secret secret
	until  time.Time
	// code is what it was given for. Who comes with that again, within the time of the code, may be whom it was for: the session is ended.
	code      secret
	codeUntil time.Time
	// ended is closed when the session ends before that.
	ended chan struct{}
}

// newCode makes a code, in the place of the one before.
func (s *sessions) newCode() string {
	code := fresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.until, s.open, s.guesses = secretOf(code), s.now().Add(codeLasts), true, 0
	return code
}

// What the terminal is told of the codes that somebody gives.
const (
	guessing = "Somebody on this machine tries wrong codes. The last address still works: a code is too long to be guessed."
	replayed = "An address was opened a second time, and its session is ended: if you did not open it twice, somebody else has read it. Enter prints a new one."
)

// begin takes a code for a session; warning is what the terminal is to be told, empty for nothing.
func (s *sessions) begin(code string) (begun Session, is bool, warning string) {
	given := secretOf(code)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i, t := range s.tokens {
		if t.code.is(given) && now.Before(t.codeUntil) {
			s.end(i)
			return Session{}, false, replayed
		}
	}
	if !s.open || !now.Before(s.until) {
		return Session{}, false, ""
	}
	if !s.code.is(given) {
		if s.guesses++; s.guesses == toldGuesses {
			warning = guessing
		}
		return Session{}, false, warning
	}
	s.open = false
	begun = Session{Token: fresh(), Expires: now.Add(tokenLasts).UTC()}
	s.tokens = append(s.tokens, token{secret: secretOf(begun.Token), until: begun.Expires, code: s.code, codeUntil: s.until, ended: make(chan struct{})})
	if len(s.tokens) > maxSessions {
		s.end(0)
	}
	return begun, true, ""
}

// end ends a session, and all requests in it; s.mu is held.
func (s *sessions) end(i int) {
	close(s.tokens[i].ended)
	s.tokens = slices.Delete(s.tokens, i, i+1)
}

// lasts says whether a token counts, and until when unless it is ended before.
func (s *sessions) lasts(text string) (until time.Time, ended <-chan struct{}, is bool) {
	given := secretOf(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.tokens = slices.DeleteFunc(s.tokens, func(t token) bool { return !now.Before(t.until) })
	for _, t := range s.tokens {
		if t.secret.is(given) {
			until, ended, is = t.until, t.ended, true
		}
	}
	return until, ended, is
}
