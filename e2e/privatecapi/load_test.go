package privatecapi_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// How long the load lasts, and the folder of the proxy that is under it; make test-proxy-load has it last longer, with the race detector.
var (
	loadLasts = flag.Duration("load", 10*time.Second, "how long the proxy is under load")
	loadOf    = flag.String("load.bin", bin, "the `folder` of the proxy that is under load")
)

const (
	watchers = 100
	rate     = 200
	// senders are how many requests may be under way.
	senders = 20
)

// load is what a proxy is asked for, and what has to come of it.
type load struct {
	client dynamic.ResourceInterface
	// uids are those of the objects, which tell what is mixed up.
	uids [watchers]types.UID
	// wrote is how often each object was written, by its own sender alone.
	wrote [watchers]int
	mutex sync.Mutex
	wrong []string
}

func nameOf(i int) string { return fmt.Sprintf("m-%03d", i) }

// fails notes what went wrong; the first few say enough.
func (l *load) fails(format string, arguments ...any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.wrong) < 20 {
		l.wrong = append(l.wrong, fmt.Sprintf(format, arguments...))
	}
}

// is checks that an answer is the object that was asked for, as it is now.
func (l *load) is(of *unstructured.Unstructured, i int, what string) {
	if of.GetName() != nameOf(i) || of.GetUID() != l.uids[i] || of.GetAPIVersion() != standard+"/"+version || of.GetAnnotations()["n"] != strconv.Itoa(l.wrote[i]) {
		l.fails("%s of %s after %d writes is %s %s %s %v", what, nameOf(i), l.wrote[i], of.GetAPIVersion(), of.GetName(), of.GetUID(), of.GetAnnotations())
	}
}

// send makes one request about an object: a write, a read or a list that finds it alone.
func (l *load) send(ctx context.Context, i, turn int) {
	switch turn % 4 {
	case 0, 1:
		l.wrote[i]++
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, l.wrote[i])
		of, err := l.client.Patch(ctx, nameOf(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			l.fails("writing %s: %v", nameOf(i), err)
			return
		}
		l.is(of, i, "the answer to a write")
	case 2:
		of, err := l.client.Get(ctx, nameOf(i), metav1.GetOptions{})
		if err != nil {
			l.fails("reading %s: %v", nameOf(i), err)
			return
		}
		l.is(of, i, "what is read")
	default:
		list, err := l.client.List(ctx, metav1.ListOptions{LabelSelector: "of=" + nameOf(i)})
		switch {
		case err != nil:
			l.fails("listing %s: %v", nameOf(i), err)
		case len(list.Items) != 1:
			l.fails("%d are listed, and not %s alone", len(list.Items), nameOf(i))
		default:
			l.is(&list.Items[0], i, "what is listed")
		}
	}
}

// run sends requests at the rate, each object's by one sender, and returns when all are answered.
func (l *load) run(ctx context.Context, lasts time.Duration) (requests int) {
	var all sync.WaitGroup
	var asked [senders]chan int
	for s := range asked {
		asked[s] = make(chan int, rate)
		all.Go(func() {
			for request := range asked[s] {
				l.send(ctx, request%watchers, request/watchers+request%watchers)
			}
		})
	}
	pace := time.NewTicker(time.Second / rate)
	defer pace.Stop()
	for ; requests < int(lasts/(time.Second/rate)) && ctx.Err() == nil; requests++ {
		<-pace.C
		asked[requests%watchers%senders] <- requests
	}
	for s := range asked {
		close(asked[s])
	}
	all.Wait()
	return requests
}

// follow reads the events of one object until it has seen the last write, which is told when all are written.
func (l *load) follow(ctx context.Context, i int, watched watch.Interface, last <-chan int) {
	seen, until := 0, -1
	for seen != until {
		select {
		case <-ctx.Done():
			l.fails("the watch of %s has seen %d writes of %d", nameOf(i), seen, until)
			return
		case until = <-last:
			last = nil
		case event, open := <-watched.ResultChan():
			of, err := asObject(event.Object)
			if !open || err != nil || event.Type != watch.Modified {
				l.fails("the watch of %s says %s of %T after %d writes", nameOf(i), event.Type, event.Object, seen)
				return
			}
			if seen++; of.GetName() != nameOf(i) || of.GetUID() != l.uids[i] || of.GetAnnotations()["n"] != strconv.Itoa(seen) || of.GetAPIVersion() != standard+"/"+version {
				l.fails("event %d of %s is of %s %s %v", seen, nameOf(i), of.GetAPIVersion(), of.GetName(), of.GetAnnotations())
				return
			}
		}
	}
}

var _ = Describe("A proxy under load", Label("load"), func() {
	It("loses and mixes up nothing for a hundred watchers and two hundred requests a second", func(ctx SpecContext) {
		in := namespace(ctx)
		started, stop := context.WithTimeout(ctx, patience)
		defer stop()
		log := filepath.Join(GinkgoT().TempDir(), "proxy.log")
		process, err := harness.StartCAPIProxy(started, plane, *loadOf, plane.Kubeconfig(), log)
		Expect(err).NotTo(HaveOccurred())
		own := &proxy{process}
		l := &load{client: clientsOf(own.config()).dynamic.Resource(resource(standard, version, "machines")).Namespace(in)}

		whole, end := context.WithTimeout(ctx, *loadLasts+5*patience)
		defer end()
		var followers sync.WaitGroup
		var last [watchers]chan int
		for i := range watchers {
			of := object("", "Machine", nameOf(i), machineSpec)
			of.SetLabels(map[string]string{"of": nameOf(i)})
			of.SetAnnotations(map[string]string{"n": "0"})
			made, err := l.client.Create(ctx, of, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			l.uids[i], last[i] = made.GetUID(), make(chan int, 1)
			watched, err := l.client.Watch(whole, metav1.ListOptions{LabelSelector: "of=" + nameOf(i), ResourceVersion: made.GetResourceVersion()})
			Expect(err).NotTo(HaveOccurred())
			defer watched.Stop()
			followers.Go(func() { l.follow(whole, i, watched, last[i]) })
		}
		Expect(own.metric(ctx, "open_watches", "")).To(BeEquivalentTo(watchers))

		began := time.Now()
		requests := l.run(whole, *loadLasts)
		AddReportEntry("load", fmt.Sprintf("%d requests in %s", requests, time.Since(began).Round(time.Second)))
		for i := range watchers {
			last[i] <- l.wrote[i]
		}
		followers.Wait()
		Expect(l.wrong).To(BeEmpty())
		Expect(requests).To(Equal(int(loadLasts.Seconds() * rate)))

		for i := range watchers {
			there, err := stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in).Get(ctx, nameOf(i), metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(there.GetUID()).To(Equal(l.uids[i]))
			Expect(there.GetAnnotations()["n"]).To(Equal(strconv.Itoa(l.wrote[i])))
		}
		Expect(own.metric(ctx, "translation_errors_total", "")).To(BeZero())
		Expect(own.metric(ctx, "requests_total", `code="`+strconv.Itoa(http.StatusOK)+`".*verb="patch"`)).To(BeEquivalentTo(requests / 2))
		text, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).NotTo(ContainSubstring("DATA RACE"))
	}, NodeTimeout(time.Hour))
})
