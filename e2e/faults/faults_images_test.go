package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// registryBack gives the registry back what it does in a state.
func (s *stage) registryBack() {
	if s.state == harness.Planning {
		withhold(two)
		return
	}
	env.Registry.SetFault(nil)
}

// without restarts the operator with an empty cache while the registry is in trouble.
func without(trouble func(*http.Request) int) func(context.Context, *cell) {
	return func(ctx context.Context, c *cell) {
		GinkgoHelper()
		env.Registry.SetFault(trouble)
		newCache()
		restart(ctx)
		c.later(func() {
			c.registryBack()
			restart(ctx)
		})
	}
}

func refuses(status int) func(*http.Request) int { return func(*http.Request) int { return status } }

var registryFaults = []fault{
	{
		name: "registry unreachable", doc: "The operator is restarted with an empty cache, and no connection to the registry can be made.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			Expect(env.Registry.Stop()).To(Succeed())
			newCache()
			restart(ctx)
			c.later(func() {
				Expect(env.Registry.Restart()).To(Succeed())
				restart(ctx)
			})
		},
		expect: tellsOf("cannot be reached"),
	},
	{
		name: "registry asks for credentials", doc: "The operator is restarted with an empty cache, and the registry answers 401.",
		begin: without(refuses(http.StatusUnauthorized)), expect: tellsOf("401 Unauthorized"),
	},
	{
		name: "registry fails", doc: "The operator is restarted with an empty cache, and the registry answers 500.",
		begin: without(refuses(http.StatusInternalServerError)), expect: tellsOf("500 Internal Server Error"),
	},
	{
		name: "registry does not answer", doc: "The operator is restarted with an empty cache, and the registry takes requests and never answers.",
		begin: without(func(request *http.Request) int {
			<-request.Context().Done()
			return http.StatusServiceUnavailable
		}),
		expect: func(s *stage) expectation {
			if s.state == harness.Degraded || s.state == harness.WaitingOnInfra || s.state == harness.MaxRevisions {
				return expectation{word: unnoticed}
			}
			return expectation{word: told, told: []func(harness.View) error{mentions("being fetched")}}
		},
	},
}

// tellsOf expects the state to be kept and an error to be told, with what it was
// about at the time; nothing was edited that is to be put right.
func tellsOf(texts ...string) func(*stage) expectation {
	return func(s *stage) expectation { return expectation{word: told, told: troubled(s, texts...)} }
}

// mentions is the question whether any condition's message has a text in it.
func mentions(text string) func(harness.View) error {
	return func(v harness.View) error {
		if v.ClusterOperator == nil {
			return fmt.Errorf("there is no ClusterOperator")
		}
		var messages []string
		for _, c := range v.ClusterOperator.Status.Conditions {
			if strings.Contains(c.Message, text) {
				return nil
			}
			messages = append(messages, string(c.Type)+": "+c.Message)
		}
		return fmt.Errorf("no condition tells of %q: %s", text, strings.Join(messages, "; "))
	}
}

// mentionsAll are such questions, one for each text.
func mentionsAll(texts ...string) (all []func(harness.View) error) {
	for _, text := range texts {
		all = append(all, mentions(text))
	}
	return all
}

var listFaults = []fault{
	{
		name: "list of images emptied", doc: "Every key is taken out of ConfigMap capi-installer-images.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			list := &corev1.ConfigMap{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap}, list)).To(Succeed())
			Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
			c.later(func() { Expect(env.SetImages(ctx, list.Data)).To(Succeed()) })
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := expectation{word: told, mended: true, told: []func(harness.View) error{
				says("Degraded", "True", "NonRetryableError", "would uninstall every component (good)"), says("Available", "True", "AsExpected"),
			}}
			switch s.state {
			case harness.Planning:
				e.word, e.to, e.departs = settles, harness.Installed, true // the revision that is installed goes on
			case harness.Degraded:
				e.word, e.to = settles, harness.Installed // what was wrong with the list is not there any more
			case harness.Paused:
				e.told = []func(harness.View) error{mentions("would uninstall every component (good)"), s.rest}
			case harness.WaitingOnInfra, harness.MaxRevisions:
				return expectation{word: unnoticed, mended: true} // a platform has to be known first, and there has to be room
			}
			return e
		},
	},
}

// harmed restarts the operator after something was done to its cache, and edits an object.
func harmed(harm func()) func(context.Context, *cell) {
	return func(ctx context.Context, _ *cell) {
		GinkgoHelper()
		killAll()
		harm()
		startGood()
		next()
		edit(ctx)
	}
}

var cacheFaults = []fault{
	{
		name: "cache lost", doc: "The cache of provider images is lost, and the operator is restarted.",
		begin: harmed(func() { Expect(os.RemoveAll(cacheDir)).To(Succeed()) }), expect: soon,
	},
	{
		name: "cache damaged", doc: "Every file of the cache is cut short, and the operator is restarted.",
		begin: harmed(func() {
			files, err := filepath.Glob(filepath.Join(cacheDir, "*"))
			Expect(err).NotTo(HaveOccurred())
			for _, file := range files {
				Expect(os.Truncate(file, 100)).To(Succeed())
			}
		}),
		expect: soon,
	},
	{
		name: "cache not writable", doc: "The operator is restarted with a cache that it cannot write to.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			good := cacheDir
			file := filepath.Join(env.Cluster.Dir(), "file")
			Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
			cacheDir = filepath.Join(file, "cache")
			restart(ctx)
			c.later(func() {
				cacheDir = good
				restart(ctx)
			})
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: told, mended: true, told: []func(harness.View) error{mentions("cannot be stored in the cache folder")}}),
	},
}
