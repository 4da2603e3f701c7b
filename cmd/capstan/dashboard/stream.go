package dashboard

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"
)

// maxStreams is how many streams there are at a time, each of all contexts.
const maxStreams = 32

// alive is the line that says nothing but that the stream is.
var alive = []byte(`{"type":"alive"}`)

// watch is a response that stays open: a line whenever something changed, until the client goes, the session is over, or the command ends.
// It is one for all contexts, since browsers open few connections to a server.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		s.refuse(w, http.StatusTooManyRequests, Problem{Error: "too many streams are open", Next: "close other windows with this page"})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	to := http.NewResponseController(w)
	_ = to.SetReadDeadline(time.Time{}) // else it would count as gone
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	var writing sync.Mutex
	send := func(line []byte) error {
		writing.Lock()
		defer writing.Unlock()
		_ = to.SetWriteDeadline(time.Now().Add(writeWithin))
		if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
		return to.Flush()
	}
	if send(alive) != nil {
		return
	}
	var all sync.WaitGroup
	for _, c := range s.clusters {
		all.Go(func() {
			defer cancel()
			defer c.use(ctx)()
			_ = c.follow(ctx, send)
		})
	}
	all.Wait()
}

// follow sends lines until the context ends, or one cannot be sent.
func (c *cluster) follow(ctx context.Context, send func(line []byte) error) error {
	ticker := time.NewTicker(c.times.alive)
	defer ticker.Stop()
	var sent []byte
	for {
		line, news := c.latest(ctx)
		if line != nil && !bytes.Equal(line, sent) {
			sent = line
			if err := send(line); err != nil {
				return err
			}
			ticker.Reset(c.times.alive)
			pause(ctx, c.times.coalesce)
		}
		select {
		case <-news:
		case <-ticker.C:
			if err := send(alive); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
