package hostedworld

import (
	"fmt"
	"slices"
	"sync"
)

// Cloud has the machines in memory, and remembers each call. Programs come and go, and it stays.
type Cloud struct {
	mu       sync.Mutex
	machines map[string]bool
	made     int
	calls    []Call
}

// Call is one that has changed something.
type Call struct {
	// Verb is create or delete.
	Verb string `json:"verb"`
	// Machine is the name that the caller gave, with its namespace.
	Machine string `json:"machine"`
}

// create makes a machine, and returns its provider ID.
func (c *Cloud) create(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines == nil {
		c.machines = map[string]bool{}
	}
	c.made++
	id := fmt.Sprintf("memory:///%s/%d", name, c.made)
	c.machines[id] = true
	c.calls = append(c.calls, Call{"create", name})
	return id
}

// delete ends a machine, if there is one of that provider ID.
func (c *Cloud) delete(name, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines[id] {
		delete(c.machines, id)
		c.calls = append(c.calls, Call{"delete", name})
	}
}

// Calls are all so far, the oldest first.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// Machines is how many there are.
func (c *Cloud) Machines() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.machines)
}
