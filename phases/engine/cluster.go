package engine

import (
	"sync"

	"github.com/go-logr/logr"
)

// cluster is what watches have shown of a cluster. Its lock guards all of that, and what depends on it.
type cluster struct {
	sync.Mutex

	reader  *reader
	log     logr.Logger
	reset   func() // called under the lock: what is seen of a whole kind is new, or is not seen any more
	kick    func() // another watch may be needed, or one less
	notify  func() // something that matters changed
	changes int    // grows when anything that is watched, or what is watched, changes
	running sync.WaitGroup
}

// count gives back how often anything changed so far.
func (c *cluster) count() int {
	c.Lock()
	defer c.Unlock()
	return c.changes
}
