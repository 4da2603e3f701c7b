package images

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"
)

const root = "capi-operator-manifests"

// contentCase is an image by its layers, and what must come of it however it gets here.
type contentCase struct {
	name   string
	layers [][]entry
	want   map[string]string // manifests by profile; nothing if it fails
	kind   Kind
	says   []string
	limits limits
	// pulledOnly cases are about tar entries for which a mounted folder has no counterpart, or about a folder that is
	// missing: one that is mounted may not be filled yet.
	pulledOnly bool
}

func joined(parts ...[]entry) []entry { return slices.Concat(parts...) }

var contentCases = []contentCase{
	{
		name: "two profiles are found and sorted, and everything else is left out",
		layers: [][]entry{
			joined(
				profileAt(root+"/zeta", "z"),
				profileAt(root+"/alpha", "a"),
				[]entry{
					{name: root + "/README.md", data: "x"},
					{name: root + "/empty/other", data: "x"},
					{name: "etc/passwd", data: "x"},
				},
			),
		},
		want: map[string]string{"alpha": "a", "zeta": "z"},
	},
	{
		name:   "names with a leading ./ or / mean the same",
		layers: [][]entry{{{name: "./" + root + "/a/metadata.yaml", data: "name: a"}, {name: "/" + root + "//a/manifests.yaml", data: "a"}}},
		want:   map[string]string{"a": "a"},
	},
	{
		name:   "a later layer replaces a file",
		layers: [][]entry{profileAt(root+"/a", "old"), {{name: root + "/a/manifests.yaml", data: "new"}}},
		want:   map[string]string{"a": "new"},
	},
	{
		name:   "a whiteout removes a profile of a lower layer",
		layers: [][]entry{joined(profileAt(root+"/a", "a"), profileAt(root+"/b", "b")), {{name: root + "/.wh.a"}}},
		want:   map[string]string{"b": "b"},
	},
	{
		name: "a whiteout does not hide what its own layer adds, in whatever order",
		layers: [][]entry{
			joined(profileAt(root+"/a", "old"), []entry{{name: root + "/a/extra", data: "x"}}),
			joined(profileAt(root+"/a", "new"), []entry{{name: root + "/.wh.a"}}),
		},
		want: map[string]string{"a": "new"},
	},
	{
		name:   "a whiteout of one of the two files leaves half a profile",
		layers: [][]entry{profileAt(root+"/a", "a"), {{name: root + "/a/.wh.metadata.yaml"}}},
		kind:   KindContent, says: []string{"/" + root + "/a has manifests.yaml but no metadata.yaml"},
	},
	{
		name: "an opaque folder hides all of the lower layers",
		layers: [][]entry{
			joined(profileAt(root+"/a", "a"), profileAt(root+"/b", "b")),
			joined([]entry{{name: root + "/.wh..wh..opq"}}, profileAt(root+"/c", "c")),
		},
		want: map[string]string{"c": "c"},
	},
	{
		name:   "an opaque folder hides lower files also inside a folder that its layer goes on using",
		layers: [][]entry{profileAt(root+"/a", "old"), {{name: root + "/a/manifests.yaml", data: "new"}, {name: root + "/.wh..wh..opq"}}},
		kind:   KindContent, says: []string{"has manifests.yaml but no metadata.yaml"},
	},
	{
		name:       "a whiteout that names nothing, or the folder above, is refused rather than taken for one of its folder",
		layers:     [][]entry{profileAt(root+"/a", "a"), {{name: root + "/a/.wh..."}}},
		kind:       KindContent,
		says:       []string{"the whiteout /" + root + "/a/.wh... names no entry of its folder"},
		pulledOnly: true,
	},
	{
		name:   "a whiteout of the whole folder leaves an image that brings nothing",
		layers: [][]entry{profileAt(root+"/a", "a"), {{name: ".wh." + root}}},
		want:   map[string]string{}, pulledOnly: true,
	},
	{
		name:   "a profile with metadata only is named",
		layers: [][]entry{joined(profileAt(root+"/good", "a"), []entry{{name: root + "/half/metadata.yaml", data: "x"}})},
		kind:   KindContent, says: []string{"/" + root + "/half has metadata.yaml but no manifests.yaml"},
	},
	{
		name:   "all half profiles are named at once",
		layers: [][]entry{{{name: root + "/one/metadata.yaml", data: "x"}, {name: root + "/two/manifests.yaml", data: "x"}}},
		kind:   KindContent, says: []string{"/one has metadata.yaml", "/two has manifests.yaml"},
	},
	{
		name:   "an image without the folder brings nothing",
		layers: [][]entry{{{name: "manifests/a/metadata.yaml", data: "x"}}},
		want:   map[string]string{}, pulledOnly: true,
	},
	{
		name:   "a folder without a profile is refused",
		layers: [][]entry{{{name: root + "/README.md", data: "x"}, {name: root + "/a/deeper/metadata.yaml", data: "x"}}},
		kind:   KindContent, says: []string{"no profile"},
	},
	{
		name:   "a profile name that the API would refuse is refused here",
		layers: [][]entry{profileAt(root+"/v1.2", "a")},
		kind:   KindContent, says: []string{"/v1.2", "letters, digits"},
	},
	{
		name: "links inside the folder are followed, relative and absolute, to files and folders",
		layers: [][]entry{
			joined(
				profileAt(root+"/a", "a"),
				[]entry{
					{name: root + "/b", symlink: "a"},
					{name: root + "/c/metadata.yaml", symlink: "../../" + root + "/b/metadata.yaml"},
					{name: root + "/c/manifests.yaml", symlink: "/" + root + "/a/manifests.yaml"},
				},
			),
		},
		want: map[string]string{"a": "a", "b": "a", "c": "a"},
	},
	{
		name: "a link that climbs out of the image is refused",
		layers: [][]entry{
			{
				{name: root + "/a/metadata.yaml", data: "x"},
				{name: root + "/a/manifests.yaml", symlink: "../../../../../../etc/passwd"},
			},
		},
		kind: KindContent, says: []string{"link /" + root + "/a/manifests.yaml to ../../../../../../etc/passwd leads out of /" + root},
	},
	{
		name:   "an absolute link out of the folder is refused",
		layers: [][]entry{{{name: root + "/a/metadata.yaml", data: "x"}, {name: root + "/a/manifests.yaml", symlink: "/etc/passwd"}}},
		kind:   KindContent, says: []string{"to /etc/passwd leads out of"},
	},
	{
		name:   "a profile folder that is a link out of the folder is refused",
		layers: [][]entry{joined(profileAt(root+"/a", "a"), []entry{{name: root + "/b", symlink: "/etc"}})},
		kind:   KindContent, says: []string{"link /" + root + "/b to /etc leads out of"},
	},
	{
		name:   "a link to the image's root is refused",
		layers: [][]entry{joined(profileAt(root+"/a", "a"), []entry{{name: root + "/b", symlink: ".."}})},
		kind:   KindContent, says: []string{"leads out of"},
	},
	{
		name:   "a link to nothing is named",
		layers: [][]entry{{{name: root + "/a/metadata.yaml", data: "x"}, {name: root + "/a/manifests.yaml", symlink: "gone.yaml"}}},
		kind:   KindContent, says: []string{"link /" + root + "/a/manifests.yaml leads to nothing"},
	},
	{
		name: "links in a circle end",
		layers: [][]entry{
			{
				{name: root + "/a/metadata.yaml", data: "x"},
				{name: root + "/a/manifests.yaml", symlink: "other"},
				{name: root + "/a/other", symlink: "manifests.yaml"},
			},
		},
		kind: KindContent, says: []string{"in circles"},
	},
	{
		name:   "the folder itself may not be a link",
		layers: [][]entry{joined(profileAt("real/a", "a"), []entry{{name: root, symlink: "real"}})},
		kind:   KindContent, says: []string{"/" + root + " is not a folder"},
	},
	{
		name: "a hard link has its target's content",
		layers: [][]entry{
			joined(
				profileAt(root+"/a", "a"),
				[]entry{
					{name: root + "/b/metadata.yaml", hard: root + "/a/metadata.yaml"},
					{name: root + "/b/manifests.yaml", hard: root + "/a/manifests.yaml"},
				},
			),
		},
		want: map[string]string{"a": "a", "b": "a"},
	},
	{
		name: "a hard link to a lower layer belongs to its own layer",
		layers: [][]entry{profileAt(root+"/a", "a"), {
			{name: root + "/b/metadata.yaml", data: "x"},
			{name: root + "/b/manifests.yaml", hard: root + "/a/manifests.yaml"},
			{name: root + "/b/.wh..wh..opq"},
		}},
		want: map[string]string{"a": "a", "b": "a"},
	},
	{
		name: "a hard link keeps its content when a later layer replaces the target",
		layers: [][]entry{
			joined(
				profileAt(root+"/a", "a"),
				[]entry{
					{name: root + "/b/metadata.yaml", data: "x"},
					{name: root + "/b/manifests.yaml", hard: root + "/a/manifests.yaml"},
				},
			),
			profileAt(root+"/a", "new"),
		},
		want:       map[string]string{"a": "new", "b": "a"},
		pulledOnly: true,
	},
	{
		name: "a hard link out of the folder is refused when it is needed",
		layers: [][]entry{
			{
				{name: "etc/passwd", data: "x"},
				{name: root + "/a/metadata.yaml", data: "x"},
				{name: root + "/a/manifests.yaml", hard: "etc/passwd"},
			},
		},
		kind:       KindContent,
		says:       []string{"hard link /" + root + "/a/manifests.yaml leads to /etc/passwd"},
		pulledOnly: true,
	},
	{
		name:       "an entry behind a link is refused",
		layers:     [][]entry{{{name: root + "/a", symlink: "/etc"}}, {{name: root + "/a/metadata.yaml", data: "x"}}},
		kind:       KindContent,
		says:       []string{"entry /" + root + "/a/metadata.yaml lies behind the link /" + root + "/a"},
		pulledOnly: true,
	},
	{
		name: "a name that climbs stays inside the image",
		layers: [][]entry{
			joined(
				profileAt(root+"/a", "a"),
				[]entry{
					{name: "../../" + root + "/a/manifests.yaml", data: "climbed"},
					{name: "../../../tmp/capstan-escaped", data: "x"},
				},
			),
		},
		want:       map[string]string{"a": "climbed"},
		pulledOnly: true,
	},
	{
		name:   "a folder in the place of a file is refused",
		layers: [][]entry{{{name: root + "/a/metadata.yaml", data: "x"}, {name: root + "/a/manifests.yaml", dir: true}}},
		kind:   KindContent, says: []string{"manifests.yaml is a folder"},
	},
	{
		name:   "a pipe in the place of a file is refused and not opened",
		layers: [][]entry{{{name: root + "/a/metadata.yaml", data: "x"}, {name: root + "/a/manifests.yaml", fifo: true}}},
		kind:   KindContent, says: []string{"manifests.yaml is a device, pipe or socket"},
	},
	{
		name:   "a file over the limit is refused by name and size",
		layers: [][]entry{profileAt(root+"/a", strings.Repeat("x", 101))},
		limits: limits{file: 100, image: 1000, entries: 10, unpacked: 1 << 20},
		kind:   KindLimit, says: []string{"/" + root + "/a/manifests.yaml has 101 bytes", "100 allowed"},
	},
	{
		name:   "files that are too large together are refused",
		layers: [][]entry{joined(profileAt(root+"/a", strings.Repeat("x", 60)), profileAt(root+"/b", strings.Repeat("x", 60)))},
		limits: limits{file: 100, image: 120, entries: 10, unpacked: 1 << 20},
		kind:   KindLimit, says: []string{"120 bytes allowed for an image"},
	},
	{
		name: "names and the targets of links count like content",
		layers: [][]entry{joined(profileAt(root+"/a", "a"), []entry{
			{name: root + "/b", symlink: strings.Repeat("./", 200)}, {name: root + "/c", symlink: strings.Repeat("./", 200)},
		})},
		limits: limits{file: 100, image: 700, entries: 20, unpacked: 1 << 20},
		kind:   KindLimit, says: []string{"700 bytes allowed for an image"},
	},
	{
		name:       "a target that is longer than a path may be is refused",
		layers:     [][]entry{joined(profileAt(root+"/a", "a"), []entry{{name: root + "/b", symlink: strings.Repeat("./", 2100)}})},
		kind:       KindLimit,
		says:       []string{"the link target of /" + root + "/b has 4200 bytes", "4096 allowed"},
		pulledOnly: true,
	},
	{
		name:   "too many entries are refused",
		layers: [][]entry{joined(profileAt(root+"/a", "a"), many(20))},
		limits: limits{file: 100, image: 1000, entries: 20, unpacked: 1 << 20},
		kind:   KindLimit, says: []string{"more than the 20 entries"},
	},
	{
		name:       "folders that only a long path implies are counted too",
		layers:     [][]entry{{{name: root + strings.Repeat("/d", 30) + "/f", data: "x"}}},
		limits:     limits{file: 100, image: 1000, entries: 20, unpacked: 1 << 20},
		kind:       KindLimit,
		says:       []string{"more than the 20 entries"},
		pulledOnly: true,
	},
	{
		name:       "whiteouts are counted too",
		layers:     [][]entry{profileAt(root+"/a", "a"), whiteouts(20)},
		limits:     limits{file: 100, image: 1000, entries: 20, unpacked: 1 << 20},
		kind:       KindLimit,
		says:       []string{"more than the 20 entries"},
		pulledOnly: true,
	},
	{
		name:       "layers that are too large when decompressed are refused, wherever their files lie",
		layers:     [][]entry{joined(profileAt(root+"/a", "a"), []entry{{name: "bomb", data: strings.Repeat("\x00", 8<<20)}})},
		limits:     limits{file: 100, image: 1000, entries: 20, unpacked: 4 << 20},
		kind:       KindLimit,
		says:       []string{"more than the 4194304 bytes allowed when decompressed"},
		pulledOnly: true,
	},
}

func many(n int) []entry {
	var es []entry
	for i := range n {
		es = append(es, entry{name: fmt.Sprintf("%s/a/file-%d", root, i), data: "x"})
	}
	return es
}

func whiteouts(n int) []entry {
	var es []entry
	for range n / 2 {
		es = append(es, entry{name: root + "/b/" + opaqueMark}, entry{name: root + "/b/.wh.c"})
	}
	return es
}

func TestSources_give_the_same_result_for_an_image_however_it_gets_here(t *testing.T) {
	r := newRegistry(t)
	for _, c := range contentCases {
		ref := r.push(imageOf(t, c.layers...))
		if c.limits == (limits{}) {
			c.limits = standardLimits
		}
		t.Run("pulled/"+c.name, func(t *testing.T) {
			checkContent(t, c, ref, run(t, func(notify func(), clk *clocktesting.FakeClock) Source {
				p := NewPuller(Options{Notify: notify, Clock: clk})
				p.limits = c.limits
				return p
			}))
		})
		if c.pulledOnly {
			continue
		}
		t.Run("mounted/"+c.name, func(t *testing.T) {
			folders := map[Ref]string{ref: mount(t, c.layers...)}
			checkContent(t, c, ref, run(t, func(notify func(), clk *clocktesting.FakeClock) Source {
				p := NewPuller(Options{Notify: notify, Clock: clk, Mounted: func(context.Context) (map[Ref]string, error) { return folders, nil }})
				p.limits = c.limits
				return p
			}))
		})
	}
}

func checkContent(t *testing.T, c contentCase, ref Ref, source *running) {
	t.Helper()
	source.Want([]Ref{ref})
	if c.kind != "" {
		_, err := source.failed(ref)
		if err.Kind != c.kind || err.Ref != ref || !err.Terminal() {
			t.Errorf("got a %s error about %q, terminal %t; want %s", err.Kind, err.Ref, err.Terminal(), c.kind)
		}
		contains(t, err, append(c.says, string(ref))...)
		return
	}
	image := source.ready(ref)
	got := map[string]string{}
	var order []string
	for _, p := range image.Profiles {
		got[p.Name] = string(p.Manifests)
		order = append(order, p.Name)
		if len(p.Metadata) == 0 {
			t.Errorf("profile %s has no metadata", p.Name)
		}
	}
	if !maps.Equal(got, c.want) || !slices.IsSorted(order) || image.Ref != ref {
		t.Errorf("got %v in the order %v for %s, want %v", got, order, image.Ref, c.want)
	}
}
