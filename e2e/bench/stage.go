package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	// release is the version that the operator reports.
	release = "4.22.0"
	// benchUserAgent tells the bench's requests from those of the operator, whose user it is too.
	benchUserAgent = "capstan-bench"
	// patience bounds every wait.
	patience = 2 * time.Minute
	// aftermath is how long requests are counted after a scenario's end: what it
	// causes a little later is part of what it costs.
	aftermath = 3 * time.Second
)

// stage is a fresh control plane, a registry with a content in it, and the
// operator once it is started.
type stage struct {
	*harness.Environment
	*bare
	bench    *bench
	operator *harness.Operator
	// moving is the cluster with its releases, where boot images are moved.
	moving *bootworld.Cluster
	// cache is the folder of images; empty for one that goes with the stage.
	cache string
	// steered gives the operator a clock that can be advanced.
	steered bool
}

// fresh starts a control plane that nobody has used, with a service CA, without
// which no webhook would ever serve, and with definitions beside OpenShift's own. The caller ends it.
func (b *bench) fresh(ctx context.Context, definitions []*apiextensionsv1.CustomResourceDefinition) (*stage, error) {
	env, err := harness.Start(ctx, harness.Options{Bin: b.bin, ServiceCA: true, Definitions: definitions})
	if err != nil {
		return nil, err
	}
	s := &stage{Environment: env, bench: b, cache: filepath.Join(b.dir, "images")}
	var access *rest.Config
	// The floor is authorized as the operator is: with many roles that takes time.
	access, err = env.Cluster.ConfigFor(operatorUser(), "system:serviceaccounts", "system:serviceaccounts:"+harness.OperatorNamespace)
	if err == nil {
		access.UserAgent = benchUserAgent
		s.bare, err = newBare(access)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, env.Stop())
	}
	return s, nil
}

// operatorUser is the user that the audit log knows the operator by.
func operatorUser() string {
	return "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount
}

// push brings a content's images into the registry and returns their references.
func (s *stage) push(ctx context.Context, c content) (map[string]string, error) {
	references, err := providers.Push(ctx, s.Registry.Host(), c.profiles)
	if err != nil {
		return nil, fmt.Errorf("pushing the images: %w", err)
	}
	return references, nil
}

// world is what the operator finds: an empty cluster on AWS, and images.
func (s *stage) world(ctx context.Context, c content) error {
	references, err := s.push(ctx, c)
	if err != nil {
		return err
	}
	return s.Begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: references})
}

func (s *stage) operate(arguments ...string) (err error) {
	s.operator, err = s.StartOperator(harness.OperatorOptions{
		Release: release, LeaderElect: true, CacheDir: s.cache, SteeredClock: s.steered, Arguments: arguments,
	})
	return err
}

// fetch brings a content's images into the cache, by an operator that is given
// nothing else to do.
func (s *stage) fetch(ctx context.Context, c content) error {
	references, err := s.push(ctx, c)
	if err != nil {
		return err
	}
	if err := s.cached(references); err == nil {
		return nil
	}
	s.bench.say("fetching the images of the content into the cache")
	if err := s.SetImages(ctx, references); err != nil {
		return err
	}
	if err := s.operate(); err != nil {
		return err
	}
	ctx, cancel := s.operator.Context(ctx)
	defer cancel()
	err = harness.Eventually(ctx, "the images to be cached", func(context.Context) error { return s.cached(references) })
	if err != nil {
		return err
	}
	return s.operator.Stop()
}

// cached is nil when the operator's cache has a file named by the digest of each image.
func (s *stage) cached(references map[string]string) error {
	files, err := os.ReadDir(s.cache)
	if err != nil {
		return fmt.Errorf("looking for cached images: %w", err)
	}
	for _, component := range slices.Sorted(maps.Keys(references)) {
		_, digest, _ := strings.Cut(references[component], "@sha256:")
		if !slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), "sha256-"+digest) }) {
			return fmt.Errorf("the image of %s is not cached", component)
		}
	}
	return nil
}

// installed waits for a record that says Installed since a moment or later, and
// returns when it was seen. It watches; to ask again and again would slow the
// operator down.
func (s *stage) installed(ctx context.Context, since time.Time) (time.Time, error) {
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not installed after %s", patience))
	defer stop()
	ctx, cancel := s.operator.Context(ctx)
	defer cancel()
	var failure error
	err := s.watch(ctx, "/apis/config.openshift.io/v1/clusteroperators",
		url.Values{"fieldSelector": {"metadata.name=" + harness.ClusterOperatorName}}, func(i item) bool {
			var record harness.Record
			raw, written := i.Status.Extension["clusterapi"]
			if !written {
				return false
			}
			if failure = json.Unmarshal(raw, &record); failure != nil {
				return true
			}
			if record.State == harness.Degraded {
				failure = fmt.Errorf("the operator reports %s: %s", harness.Degraded, record.Reason)
				return true
			}
			// The record's time is truncated to milliseconds.
			return record.State == harness.Installed && !record.Since.Before(since.Truncate(time.Millisecond))
		})
	if err == nil {
		err = failure
	}
	return time.Now(), err
}

// install brings a content onto a fresh control plane, unmeasured.
func (s *stage) install(ctx context.Context, c content, arguments ...string) error {
	if err := s.world(ctx, c); err != nil {
		return err
	}
	if err := s.operate(arguments...); err != nil {
		return err
	}
	_, err := s.installed(ctx, s.operator.Started)
	return err
}

// within runs a measurement on a fresh control plane.
func (b *bench) within(ctx context.Context, measure func(*stage) error) error {
	return b.on(ctx, nil, measure)
}

// on does so with definitions.
func (b *bench) on(ctx context.Context, definitions []*apiextensionsv1.CustomResourceDefinition, measure func(*stage) error) (err error) {
	s, err := b.fresh(ctx, definitions)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.Stop(); err == nil {
			err = stopped
		}
	}()
	if err := measure(s); err != nil {
		return fmt.Errorf("%w%s", err, s.lastWords())
	}
	return nil
}

// lastWords is the end of the operator's log, whose folder is about to be removed.
func (s *stage) lastWords() string {
	if s.operator == nil {
		return ""
	}
	log, err := os.ReadFile(s.operator.Log)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return "\nthe operator's log ends with:\n  " + strings.Join(lines[max(0, len(lines)-10):], "\n  ")
}

// wait lets time pass.
func wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// requests are the operator's since a mark.
func (s *stage) requests(ctx context.Context, since cluster.Mark) (cluster.RequestList, error) {
	all, err := s.Cluster.RequestsSince(ctx, since)
	if err != nil {
		return nil, err
	}
	return all.Where(func(r cluster.Request) bool { return r.User == operatorUser() && !r.IsBy(benchUserAgent) }), nil
}

// tally tells what requests were about, the most frequent first, and of one that is alone the name of its object.
func tally(all cluster.RequestList) string {
	count, last := map[string]int{}, map[string]string{}
	for _, r := range all {
		about := r.Verb + " " + strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/")
		if r.DryRun {
			about += " (dry run)"
		}
		if r.Code == http.StatusConflict {
			about += " (conflict)"
		}
		count[about]++
		last[about] = r.Name
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", count[name], name)
		if count[name] == 1 && last[name] != "" {
			names[i] += " " + last[name]
		}
	}
	return strings.Join(names, ", ")
}

// withoutLease drops what leader election sends.
func withoutLease(all cluster.RequestList) cluster.RequestList {
	return all.Except("coordination.k8s.io", "leases")
}

// costs puts requests and memory into a sample.
func (s *stage) costs(into *sample, all cluster.RequestList) error {
	into.Requests = len(all)
	into.Writes = len(withoutLease(all).Writes())
	into.DryRuns = len(all.Where(func(r cluster.Request) bool { return r.DryRun }))
	if into.Requests > 0 {
		s.bench.say("  requests: %s", tally(all))
	}
	used, err := processorSeconds(s.operator.PID())
	if err != nil {
		return err
	}
	s.bench.say("  processor: %.2f s since the operator's start", used)
	into.RSSMiB, err = peakMiB(s.operator.PID())
	return err
}
