package machines

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// maxProblem is how much of a problem is told, in bytes.
const maxProblem = 300

// problems are what the removal of bootstrap machines has met last, so that the next pass can tell. One that is lost with the process
// is met again.
type problems struct {
	mu  sync.Mutex
	all map[client.ObjectKey]problem
}

// problem is one, of an object.
type problem struct {
	of   types.UID
	text string
}

// note remembers what was met with an object, nil for nothing.
func (p *problems) note(key client.ObjectKey, uid types.UID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.all, key)
		return
	}
	if p.all == nil {
		p.all = map[client.ObjectKey]problem{}
	}
	p.all[key] = problem{of: uid, text: machine.Shorten(err.Error(), maxProblem)}
}

// with is what was met last with an object, empty for nothing.
func (p *problems) with(key client.ObjectKey, uid types.UID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.all[key]; last.of == uid {
		return last.text
	}
	return ""
}

// Forget lets go of what is remembered of an OpenShiftControlPlane that is gone.
func (m *Maker) Forget(key client.ObjectKey) {
	m.problems.mu.Lock()
	defer m.problems.mu.Unlock()
	delete(m.problems.all, key)
}
