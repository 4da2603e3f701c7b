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
	acted int // how many of the first n the server has answered
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
func (p *Proxy) EndAfter(n int, do func()) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := make(chan struct{})
	p.count = counter{end: &end{after: n, do: do, done: done}}
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
	case end == nil:
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
	if err != nil || number == end.after {
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
