package proxy

import (
	"bytes"
	"io"
	"net/http"
)

// counter numbers the writes that no rule has met.
type counter struct {
	writes int
	end    *end
}

// end is the plan to end the client after its n-th write.
type end struct {
	after int
	do    func()
	cuts  bool // nothing is answered from the n-th write on
	acted int  // how many of the first n the server has answered
	done  chan struct{}
}

// Writes is how many writes there were since the last CountWrites or EndAfter.
func (p *Proxy) Writes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count.writes
}

// CountWrites begins to count anew, and forgets what EndAfter asked for.
func (p *Proxy) CountWrites() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = counter{}
}

// EndAfter counts anew, and calls do, which ends the client, when the server has
// acted on exactly n writes. The n-th is not answered, and what comes after it
// does not reach the server. The channel is closed when do has returned.
func (p *Proxy) EndAfter(n int, do func()) <-chan struct{} { return p.plan(n, do, true) }

// TellAfter is EndAfter with a client that may go on as long as it likes: the
// n-th write is answered when do has returned, and so is all that comes after it.
func (p *Proxy) TellAfter(n int, do func()) <-chan struct{} { return p.plan(n, do, false) }

func (p *Proxy) plan(n int, do func(), cuts bool) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := make(chan struct{})
	p.count = counter{end: &end{after: n, do: do, cuts: cuts, done: done}}
	return done
}

// serveWrite gives a write its number. Several may be under way at once: all
// those with lower numbers are waited for before the client is ended.
func (p *Proxy) serveWrite(x *Exchange) {
	p.mu.Lock()
	p.count.writes++
	number, end := p.count.writes, p.count.end
	p.mu.Unlock()
	switch {
	case end == nil, !end.cuts && number > end.after:
		x.Pass()
		return
	case number > end.after:
		<-end.done
		x.Reset()
		return
	}
	response, err := x.forward()
	var body []byte
	if err == nil {
		body, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if p.actedOn(end) {
		end.do()
		close(end.done)
	} else if number == end.after {
		<-end.done
	}
	if err != nil || end.cuts && number == end.after {
		x.Reset()
		return
	}
	x.reply(response, body)
}

func (p *Proxy) actedOn(end *end) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end.acted++
	return end.acted == end.after
}

func (x *Exchange) reply(response *http.Response, body []byte) {
	copyHeader(x.answer.Header(), response.Header)
	x.answer.WriteHeader(response.StatusCode)
	_, _ = io.Copy(x.answer, bytes.NewReader(body)) // the client may be gone
}
