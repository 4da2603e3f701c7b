package see

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// Cluster is what watches have shown of a cluster. Its lock guards all of that, and what depends on it.
type Cluster struct {
	sync.Mutex

	Reader  *Reader
	Log     logr.Logger
	Now     func() time.Time
	Reset   func() // called under the lock: what is seen of a whole kind is new, or is not seen any more
	Kick    func() // another watch may be needed, or one less
	Notify  func() // something that matters changed
	Changes int    // grows when anything that is watched, or what is watched, changes
	Running sync.WaitGroup
}

// Count gives back how often anything changed so far.
func (c *Cluster) Count() int {
	c.Lock()
	defer c.Unlock()
	return c.Changes
}
