package images

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlaces_are_the_mirrors_of_the_most_specific_source_and_then_the_source(t *testing.T) {
	digest := "@" + someDigest
	ref := Ref("registry.redhat.io/product/repo" + digest)
	of := func(source string, mirrors ...string) Mirrors { return Mirrors{Source: source, Mirrors: mirrors} }
	never := func(m Mirrors) Mirrors { m.NeverSource = true; return m }
	const source = "registry.redhat.io/product/repo"
	for _, c := range []struct {
		name string
		all  []Mirrors
		want []string
	}{
		{"no mirrors", nil, []string{source}},
		{"a host", []Mirrors{of("registry.redhat.io", "m.test", "n.test/deep")}, []string{"m.test/product/repo", "n.test/deep/product/repo", source}},
		{"a folder", []Mirrors{of("registry.redhat.io/product", "m.test/p")}, []string{"m.test/p/repo", source}},
		{"a repository", []Mirrors{of(source, "m.test/other")}, []string{"m.test/other", source}},
		{"all hosts under one", []Mirrors{of("*.redhat.io", "m.test/redhat")}, []string{"m.test/redhat/product/repo", source}},
		{"another host", []Mirrors{of("redhat.io", "m.test"), of("*.registry.redhat.io", "m.test"), of("registry.redhat.io:443", "m.test")}, []string{source}},
		{"half of a folder's name", []Mirrors{of("registry.redhat.io/prod", "m.test")}, []string{source}},
		{
			"the most specific one, whatever the order",
			[]Mirrors{
				of("*.redhat.io", "wild.test"), of(source, "m.test/exact"), of("registry.redhat.io", "host.test"), of("*.io", "wilder.test"),
			},
			[]string{"m.test/exact", source},
		},
		{"a host rather than all under one", []Mirrors{never(of("*.redhat.io", "wild.test")), of("registry.redhat.io", "host.test")}, []string{"host.test/product/repo", source}},
		{"never the source", []Mirrors{never(of(source, "m.test/a"))}, []string{"m.test/a"}},
		{"never the source, says one of two", []Mirrors{of(source, "m.test/a"), never(of(source, "m.test/b"))}, []string{"m.test/a", "m.test/b"}},
		{"never the source, but no mirrors", []Mirrors{never(of(source))}, []string{source}},
		{"the source as its own mirror", []Mirrors{of(source, "registry.redhat.io/product/repo", "m.test/a")}, []string{"m.test/a", source}},
		{
			"two sets, merged",
			[]Mirrors{of(source, "m.test/c", "m.test/d"), of(source, "m.test/a", "m.test/c")},
			[]string{"m.test/a", "m.test/c", "m.test/d", source},
		},
		{
			"a mirror that is a source which is never asked",
			[]Mirrors{of(source, "m.test/a", "n.test/b"), never(of("m.test", "o.test"))},
			[]string{"n.test/b", source},
		},
		{
			"a mirror below such a source, and more specific one that may be asked",
			[]Mirrors{of(source, "m.test/a"), never(of("m.test", "o.test")), of("m.test/a", "o.test/a")},
			[]string{"m.test/a", source},
		},
		{"a mirror that makes no reference", []Mirrors{of("registry.redhat.io", "UPPER/CASE", "m.test")}, []string{"m.test/product/repo", source}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []Ref
			for _, place := range c.want {
				want = append(want, Ref(place+digest))
			}
			if got, _ := places(ref, c.all); !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// The rows are those of registries.conf and policy.json on nodes.
func TestAdmission_reads_what_is_under_a_registry_as_nodes_do(t *testing.T) {
	const image = "a.some.test:5000/p"
	for name, c := range map[string]struct {
		access Access
		want   string // the places; nothing: it is refused
	}{
		"all hosts under one are blocked, with a port": {Access{Blocked: []string{"*.some.test"}}, ""},
		"all hosts under another are blocked":          {Access{Blocked: []string{"*.a.some.test", "*.other.test"}}, image},
		"the host is blocked, and so are its ports":    {Access{Blocked: []string{"a.some.test"}}, ""},
		"another port of the host is blocked":          {Access{Blocked: []string{"a.some.test:500"}}, image},
		"the image is blocked":                         {Access{Blocked: []string{image + "@" + someDigest}}, ""},
		"another image of the repository is blocked":   {Access{Blocked: []string{image + "@sha256:" + strings.Repeat("a", 64)}}, image},
		"a tag is blocked":                             {Access{Blocked: []string{image + ":v1"}}, image},
		"all hosts under one are never asked": {
			Access{Mirrors: []Mirrors{{Source: "*.some.test", Mirrors: []string{"m.test"}, NeverSource: true}}}, "m.test:5000/p",
		},
		"the host is never asked": {
			Access{Mirrors: []Mirrors{{Source: "a.some.test", Mirrors: []string{"m.test"}, NeverSource: true}}}, "m.test:5000/p",
		},
		"all hosts under one are allowed, with a port": {Access{Allowed: []string{"*.some.test"}}, image},
		"all hosts under another are allowed":          {Access{Allowed: []string{"*.a.some.test"}}, ""},
		"the host is allowed, and not its ports":       {Access{Allowed: []string{"a.some.test"}}, ""},
		"the host with its port is allowed":            {Access{Allowed: []string{"a.some.test:5000"}}, image},
		"the image is allowed":                         {Access{Allowed: []string{image + "@" + someDigest}}, image},
	} {
		t.Run(name, func(t *testing.T) {
			asks, refusal := c.access.admission(Ref(image + "@" + someDigest))
			var got []string
			for _, place := range asks.places {
				got = append(got, strings.TrimSuffix(string(place), "@"+someDigest))
			}
			if strings.Join(got, " ") != c.want || (refusal != nil) != (c.want == "") {
				t.Errorf("it may be asked for at %v, want %q: %v", got, c.want, refusal)
			}
		})
	}
}

func TestMerged_keeps_every_mirror_once_and_every_order_that_does_not_contradict(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation([]string{"a", "b", "c", "d", "e"}).Draw(rt, "order")
		var lists [][]string
		wanted := map[string]bool{}
		for range rapid.IntRange(0, 4).Draw(rt, "lists") {
			var list []string
			for _, mirror := range order {
				if rapid.Bool().Draw(rt, mirror) {
					list, wanted[mirror] = append(list, mirror), true
				}
			}
			lists = append(lists, list)
		}
		got := merged(lists)
		if len(got) != len(wanted) {
			rt.Fatalf("%v of %v", got, lists)
		}
		for _, list := range lists {
			for i := 1; i < len(list); i++ {
				if slices.Index(got, list[i-1]) > slices.Index(got, list[i]) {
					rt.Fatalf("%v has another order than %v", got, list)
				}
			}
		}
	})
	if got := merged([][]string{{"a", "b"}, {"b", "a"}}); len(got) != 2 {
		t.Errorf("lists that contradict each other give %v", got)
	}
}

func TestPuller_asks_mirrors_in_order_and_records_the_source(t *testing.T) {
	first, second, source := newRegistry(t), newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	second.push(image)
	source.stop()
	p := runPuller(t, Options{CacheDir: t.TempDir()})
	p.use(Access{Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{first.host, second.host}, NeverSource: true}}})
	p.Want([]Ref{ref})
	if got := p.ready(ref); got.Ref != ref || string(got.Profiles[0].Manifests) != "a" {
		t.Errorf("got %v", got)
	}
	if first.requests.Load() == 0 {
		t.Error("the first mirror was not asked")
	}
}

func TestPuller_says_what_every_place_answered(t *testing.T) {
	mirror, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	mirror.breaks("/manifests/", answers(http.StatusForbidden, ""))
	source.breaks("/blobs/", answers(http.StatusInternalServerError, ""))
	p := runPuller(t, Options{})
	p.use(Access{Mirrors: []Mirrors{{Source: source.host + "/providers", Mirrors: []string{mirror.host + "/mirrored"}}}})
	p.Want([]Ref{ref})
	s, err := p.failed(ref)
	contains(t, err, string(ref), "at "+mirror.host+"/mirrored/some: ", "403", "at "+source.host+"/providers/some: ", "500")
	if err.Kind != KindUnauthorized || s.NextTry.IsZero() || strings.Contains(err.Error(), "NeverContactSource") {
		t.Errorf("got a %s error, next try %s: %v", err.Kind, s.NextTry, err)
	}
	source.heal()
	p.clock.Step(firstRetry)
	p.recovered(ref)
}

func TestPuller_never_contacts_a_source_when_that_is_forbidden(t *testing.T) {
	mirror, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	before := source.requests.Load()
	p := runPuller(t, Options{})
	of := func(never bool) Access {
		return Access{Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{mirror.host}, NeverSource: never}}}
	}
	p.use(of(true))
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "at "+mirror.host, "NeverContactSource")
	if err.Kind != KindNotFound || source.requests.Load() != before {
		t.Errorf("the source got %d requests; the error is %s: %v", source.requests.Load()-before, err.Kind, err)
	}
	p.use(of(false)) // tried at once
	p.recovered(ref)
}

func TestPuller_asks_no_other_place_for_an_image_that_is_wrong_in_itself(t *testing.T) {
	mirror, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a")[:1])
	ref := source.push(image)
	mirror.push(image)
	before := source.requests.Load()
	p := runPuller(t, Options{})
	p.use(Access{Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{mirror.host}}}})
	p.Want([]Ref{ref})
	if _, err := p.failed(ref); !err.Terminal() || source.requests.Load() != before {
		t.Errorf("the source got %d requests: %v", source.requests.Load()-before, err)
	}
}
