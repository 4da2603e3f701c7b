package faults_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// way is a way in which an operator ends.
type way struct {
	name, doc string
	// points is how many writes are chosen, after each of which an operator ends so.
	points int
	// elects says that the operator leads by the Lease.
	elects bool
	// after lets the operator end so after its n-th write; the channel is closed when it was told to, or has.
	after func(n int, operator *harness.Operator) <-chan struct{}
	// fails says whether the operator ends with an error by itself.
	fails bool
}

const sigkill = "SIGKILL"

var ways = []way{
	{
		name: sigkill, doc: "the write is not answered, and no other is made", points: 4, fails: true,
		after: func(n int, operator *harness.Operator) <-chan struct{} { return between.EndAfter(n, operator.Kill) },
	},
	{
		name: "SIGTERM", doc: "the write is answered, and the operator ends when it likes, without an error", points: 2,
		after: func(n int, operator *harness.Operator) <-chan struct{} {
			return between.TellAfter(n, operator.Terminate)
		},
	},
	{
		name: "loss of the Lease", doc: "somebody else holds the Lease from then on; no other write is made, and the operator ends with an error within ten seconds",
		points: 1, elects: true, fails: true,
		after: func(n int, operator *harness.Operator) <-chan struct{} {
			return between.EndAfter(n, func() {
				defer GinkgoRecover()
				stealLease()
				<-operator.Exited()
			})
		},
	},
}

// ends waits for the operator to be gone, as it has to be by now.
func (w way) ends(operator *harness.Operator) {
	GinkgoHelper()
	Eventually(operator.Exited()).WithTimeout(patience).Should(BeClosed(), "the operator did not end")
	if w.fails {
		Expect(operator.Failure()).To(HaveOccurred())
	} else {
		Expect(operator.Failure()).NotTo(HaveOccurred())
	}
}

// killPoint counts the points of one state and way for the report.
type killPoint struct {
	From      string `json:"from"`
	Way       string `json:"way"`
	Tried     int    `json:"tried"`
	Converged int    `json:"converged"`
}

// counted are the points of all states and ways.
type counted struct {
	Tried     int          `json:"tried"`
	Converged int          `json:"converged"`
	Points    []*killPoint `json:"points"`
}

var killPoints counted

func (c *counted) of(from, way string) *killPoint {
	for _, p := range c.Points {
		if p.From == from && p.Way == way {
			return p
		}
	}
	made := &killPoint{From: from, Way: way}
	c.Points = append(c.Points, made)
	return made
}

func (c *counted) tried(from, way string) {
	c.Tried++
	c.of(from, way).Tried++
}

func (c *counted) converged(from, way string) {
	c.Converged++
	c.of(from, way).Converged++
}
