package dashboard

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/message"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

var (
	clusterAPIs      = operatorv1alpha1.GroupVersion.WithResource("clusterapis")
	clusterOperators = configv1.GroupVersion.WithResource("clusteroperators")
)

// cluster is what is known of one context's. It is asked while somebody looks, and forgets all soon after nobody does any more: what is
// shown is never older than that.
type cluster struct {
	Context

	access    inspect.Access
	shell     shell
	views     []view.View
	namespace string
	times     times

	// reads has what is read on demand, and plans the plan that is made, one at a time.
	reads, plans lane

	mu      sync.Mutex
	viewers int
	end     context.CancelFunc // nil while nothing is asked
	leave   *time.Timer
	conn    *connection
	known   known
	// version counts changes, and news is closed by the next one; told is the view of a version.
	version int
	news    chan struct{}
	told    []byte
	toldOf  int
	at      time.Time
}

// known is all that was read since the cluster is asked.
type known struct {
	singles map[schema.GroupVersionResource]*single
	rosters []*roster
	objects *shelf
}

// single is one object as it was read last.
type single struct {
	read    bool
	object  *unstructured.Unstructured // nil for one that does not exist
	watched bool
	// err says why it could not be read the last time, and again after how long it is tried once more.
	err   error
	again time.Duration
}

// use has the cluster asked until it is released, and for a while after that, whatever becomes of the context.
func (c *cluster) use(ctx context.Context) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leave != nil {
		c.leave.Stop()
		c.leave = nil
	}
	c.viewers++
	if c.end == nil {
		c.begin(ctx)
	}
	return sync.OnceFunc(c.release)
}

func (c *cluster) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers--; c.viewers == 0 {
		c.leave = time.AfterFunc(c.times.linger, c.rest)
	}
}

// begin starts to ask, with nothing known; c.mu is held.
func (c *cluster) begin(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.end, c.conn, c.told = cancel, nil, nil
	c.known = known{singles: map[schema.GroupVersionResource]*single{clusterAPIs: {}, clusterOperators: {}}, objects: &shelf{}}
	for _, of := range []*feed{
		{c: c, kind: clusterAPIs, word: "ClusterAPI", name: phases.Singleton, lane: newLane()},
		{c: c, kind: clusterOperators, word: "ClusterOperator", name: phases.ClusterOperatorName, lane: newLane()},
	} {
		of.into = c.known.singles[of.kind]
		go of.run(ctx)
	}
	for _, of := range c.views {
		if source := sourceOf(of); source != nil {
			r := &roster{of: of}
			c.known.rosters = append(c.known.rosters, r)
			go source(ctx, c, r)
		}
	}
}

// rest ends all requests, unless somebody has come back.
func (c *cluster) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers == 0 && c.end != nil {
		c.end()
		c.end = nil
	}
}

// stop ends all requests, whoever looks.
func (c *cluster) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.end()
	}
}

// connection is the present way to the cluster; the kubeconfig is read anew after every failure, since logging in may write it.
func (c *cluster) connection() (*connection, error) {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	conn, err := connect(c.access)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return conn, nil
}

// renew lets go of a connection over which something failed.
func (c *cluster) renew(failed *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == failed {
		c.conn = nil
	}
}

// changed has a new version; c.mu is held.
func (c *cluster) changed() {
	c.version++
	close(c.news)
	c.news = make(chan struct{})
}

// touch has a new version, for what is kept beside.
func (c *cluster) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed()
}

// newsNow is closed by the next version.
func (c *cluster) newsNow() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// saw takes in an object, and says whether that is new.
func (c *cluster) saw(of *single, object *unstructured.Unstructured) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Now()
	same := of.read && of.err == nil && (object == nil) == (of.object == nil)
	if same && (object == nil || object.GetUID() == of.object.GetUID() && object.GetResourceVersion() == of.object.GetResourceVersion()) {
		return false
	}
	of.read, of.object, of.err = true, object, nil
	c.changed()
	return true
}

// failed takes in that an object cannot be read.
func (c *cluster) failed(of *single, conn *connection, err error, again time.Duration) {
	c.renew(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	of.err, of.again = err, again
	c.changed()
}

// watches takes in whether an object is watched.
func (c *cluster) watches(of *single, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of.watched != is {
		of.watched = is
		c.changed()
	}
}

// latest is the newest line that there is to tell, as JSON, nil for none yet; news is closed when there may be another one.
func (c *cluster) latest(ctx context.Context) (line []byte, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range []schema.GroupVersionResource{clusterOperators, clusterAPIs} {
		if of := c.known.singles[kind]; of.err != nil {
			return c.troubled(of.err, of.again), c.news
		}
	}
	for _, of := range c.known.singles {
		if !of.read {
			return nil, c.news
		}
	}
	if c.told == nil || c.toldOf != c.version {
		c.told, c.toldOf = c.view(ctx), c.version
	}
	return c.told, c.news
}

// troubled is a line about trouble.
func (c *cluster) troubled(err error, again time.Duration) []byte {
	why := problemOf(err)
	line := Line{Type: LineTrouble, Context: c.ID, Message: why.Error, Next: why.Next}
	if again > 0 {
		line.RetryIn = message.Duration(again)
	}
	text, err := encoded(line)
	if err != nil {
		return []byte(`{"type":"trouble","context":"` + c.ID + `"}`)
	}
	return text
}

// view is a line with the view of all that is known; c.mu is held.
func (c *cluster) view(ctx context.Context) []byte {
	v, err := tell(ctx, c.views, c.get, c.shell)
	if err != nil {
		return c.troubled(err, 0)
	}
	v.At, v.How = c.at.UTC(), ByWatch
	for _, of := range c.known.singles {
		if !of.watched {
			v.How = ByPoll
		}
	}
	for _, r := range c.known.rosters {
		family, unread := r.family()
		v.Families = append(v.Families, family)
		v.Unread = append(v.Unread, unread...)
	}
	text, err := encoded(Line{Type: LineView, Context: c.ID, View: &v})
	if err != nil {
		return c.troubled(err, 0)
	}
	return text
}

// get reads an object out of what is known, as a [view.Getter]; c.mu is held.
func (c *cluster) get(_ context.Context, kind schema.GroupVersionResource, word, _, name string, into any) (bool, error) {
	of := c.known.singles[kind]
	if of == nil || of.object == nil || of.object.GetName() != name {
		return false, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(of.object.Object, into); err != nil {
		return false, &inspect.Error{What: fmt.Sprintf("%s %s cannot be read: %v", word, name, err), Next: "use the capstan of the release that runs on the cluster", Err: err}
	}
	return true, nil
}

// operator is the ClusterOperator as it was read last, nil for none.
func (c *cluster) operator(ctx context.Context) *configv1.ClusterOperator {
	c.mu.Lock()
	defer c.mu.Unlock()
	operator := &configv1.ClusterOperator{}
	found, err := c.get(ctx, clusterOperators, "ClusterOperator", "", phases.ClusterOperatorName, operator)
	if !found || err != nil {
		return nil
	}
	return operator
}

// trouble says why the cluster could not be read the last time, nil if it could.
func (c *cluster) trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.known.singles {
		if of.err != nil {
			return of.err
		}
	}
	return nil
}

// ready waits until the cluster was read, or could not be.
func (c *cluster) ready(ctx context.Context) error {
	for {
		news, err := c.newsNow(), c.trouble()
		if err != nil || c.isRead() {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isRead says that all was read that every view needs.
func (c *cluster) isRead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.known.singles {
		if !of.read {
			return false
		}
	}
	return true
}

// revisions tells apart what revisions are listed: the version of the ClusterAPI.
func (c *cluster) revisions() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.known.singles[clusterAPIs]; of.object != nil {
		return of.object.GetResourceVersion()
	}
	return ""
}

// roster is that of a family, nil for none.
func (c *cluster) roster(family string) *roster {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.known.rosters, func(r *roster) bool { return r.of.Table.Name == family })
	if i < 0 {
		return nil
	}
	return c.known.rosters[i]
}

// shelf is that of inventories.
func (c *cluster) shelf() *shelf {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known.objects
}
