package proxy

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

func TestAClientIsEndedAfterExactlyTheNthWrite(t *testing.T) {
	for range 20 {
		p, b := start(t)
		var reached int64
		done := p.EndAfter(3, func() { reached = b.hits.Load() })
		var answered atomic.Int64
		var writers sync.WaitGroup
		for range 8 {
			writers.Go(func() {
				if _, _, err := send(t.Context(), p, http.MethodPatch, configMaps+"/a"); err == nil {
					answered.Add(1)
				}
			})
		}
		<-done
		writers.Wait()
		if reached != 3 || b.hits.Load() != 3 || answered.Load() > 2 {
			t.Fatalf("%d writes had reached the server when the client was ended, %d in the end, and %d were answered; want 3, 3, at most 2",
				reached, b.hits.Load(), answered.Load())
		}
		p.CountWrites()
		for _, path := range []string{configMaps + "/a?dryRun=All", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"} {
			if _, _, err := send(t.Context(), p, http.MethodPatch, path); err != nil {
				t.Fatal(err)
			}
		}
		if p.Writes() != 0 {
			t.Fatalf("%d writes are counted of a dry run, a Lease and a review of rights", p.Writes())
		}
	}
}

func TestAClientIsToldAfterExactlyTheNthWrite_andGoesOn(t *testing.T) {
	p, b := start(t)
	var reached int64
	told := p.TellAfter(3, func() { reached = b.hits.Load() })
	for range 5 {
		if _, _, err := send(t.Context(), p, http.MethodPatch, configMaps+"/a"); err != nil {
			t.Fatal(err)
		}
	}
	<-told
	if reached != 3 || b.hits.Load() != 5 {
		t.Fatalf("%d writes had reached the server when the client was told, and %d in the end; want 3 and 5", reached, b.hits.Load())
	}
}
