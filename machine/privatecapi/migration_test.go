package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

func TestMigration_moves_a_hosted_cluster_and_leaves_no_trace(t *testing.T) {
	p, key := hosted(t)
	was := p.picture(key)
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.isMoved(key, was)
	t.Log(p.Wrote(), p.visited[key])
}
