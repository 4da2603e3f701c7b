package images

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

var fuzzLimits = limits{file: 1 << 10, image: 4 << 10, entries: 60, unpacked: 1 << 20}

// extract gives what two layers come to, and how far the tree has been filled.
func extract(layers ...[]byte) (*tree, []Profile, error) {
	t, left := newTree(ManifestsFolder, fuzzLimits), fuzzLimits.unpacked
	for i, layer := range layers {
		if err := unpack(bytes.NewReader(layer), i+1, t, &left); err != nil {
			return t, nil, err
		}
	}
	profiles, err := t.profiles(context.Background())
	return t, profiles, err
}

// checkExtracted is what holds for whatever layers are made of.
func checkExtracted(t *testing.T, layers ...[]byte) (*tree, error) {
	t.Helper()
	filled, profiles, err := extract(layers...)
	_, again, errAgain := extract(layers...)
	if !reflect.DeepEqual(profiles, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		t.Fatalf("not deterministic: %v, %v and %v, %v", profiles, err, again, errAgain)
	}
	nodes, held := filled.root.cost()
	if held > fuzzLimits.image || nodes-1 > fuzzLimits.entries {
		t.Fatalf("%d nodes hold %d bytes", nodes-1, held)
	}
	for name := range filled.root.children {
		if "/"+name != ManifestsFolder {
			t.Fatalf("the tree holds /%s", name)
		}
	}
	if err != nil {
		failure, ok := errors.AsType[*Error](err)
		if !ok || failure.Kind != KindContent && failure.Kind != KindLimit || failure.Error() == "" {
			t.Fatalf("got %#v", err)
		}
		return filled, err
	}
	if !slices.IsSortedFunc(profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) }) || profiles == nil {
		t.Fatalf("profiles: %v", profiles)
	}
	var stored bytes.Buffer
	must(t, encode(&stored, "name", &Image{Profiles: profiles}))
	if restored, err := decode("name", stored.Bytes()); err != nil || !sameProfiles(restored.Profiles, profiles) {
		t.Fatalf("from the cache come %v, %v; stored were %v", restored, err, profiles)
	}
	return filled, nil
}

func sameProfiles(a, b []Profile) bool {
	return slices.EqualFunc(a, b, func(a, b Profile) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata) && bytes.Equal(a.Manifests, b.Manifests)
	})
}

// cost counts the nodes and the bytes that are held; hard links share theirs.
func (n *node) cost() (nodes int, held int64) {
	nodes = 1
	seen := map[*byte]bool{}
	var visit func(*node)
	visit = func(n *node) {
		for name, child := range n.children {
			nodes++
			held += int64(len(name) + len(child.target))
			if len(child.data) > 0 && !seen[&child.data[0]] {
				seen[&child.data[0]] = true
				held += int64(len(child.data))
			}
			visit(child)
		}
	}
	visit(n)
	return nodes, held
}

// FuzzLayerBytes is for what is not an archive, or a broken one, in any compression.
func FuzzLayerBytes(f *testing.F) {
	for _, c := range contentCases {
		var layers [][]byte
		for _, entries := range c.layers {
			var b bytes.Buffer
			must(f, writeTar(&b, entries))
			layers = append(layers, b.Bytes()[:min(b.Len(), 8<<10)])
		}
		f.Add(layers[0], slices.Concat(layers[1:]...))
	}
	var plain, zipped, packed bytes.Buffer
	must(f, writeTar(&plain, profileAt(root+"/a", "a")))
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(plain.Bytes())
	must(f, errors.Join(err, z.Close()))
	zs, err := zstd.NewWriter(&packed)
	must(f, err)
	_, err = zs.Write(plain.Bytes())
	must(f, errors.Join(err, zs.Close()))
	f.Add(zipped.Bytes(), packed.Bytes())
	f.Add(zipped.Bytes()[:zipped.Len()/2], packed.Bytes()[:packed.Len()/2])
	f.Fuzz(func(t *testing.T, lower, upper []byte) { _, _ = checkExtracted(t, lower, upper) })
}

// FuzzLayers is for archives that are well formed, with whatever entries. An entry is a line: what it is (f a file,
// d a folder, s a symbolic link, h a hard link, p a pipe), its name under ManifestsFolder or with a slash from the
// root, and the target of a link. A line of - begins the next layer.
func FuzzLayers(f *testing.F) {
	for _, seed := range []string{
		"f a/metadata.yaml\nf a/manifests.yaml",
		"f a/metadata.yaml\nf a/manifests.yaml\n-\nf .wh.a\nf b/metadata.yaml\nf b/manifests.yaml",
		"f a/metadata.yaml\nf a/manifests.yaml\n-\nf a/manifests.yaml\nf .wh..wh..opq\nf a/metadata.yaml",
		"f a/metadata.yaml\nf a/manifests.yaml\n-\nf a/.wh.metadata.yaml\nd a\n-\nf a\n-\nf a/metadata.yaml",
		"f a/metadata.yaml\ns a/manifests.yaml metadata.yaml\ns b a\ns c ../capi-operator-manifests/b\ns d d",
		"f a/metadata.yaml\ns a/manifests.yaml /etc/passwd\nf /etc/passwd\nh b/metadata.yaml a/metadata.yaml\nh b/manifests.yaml gone",
		"f a/.wh...\nf a/.wh.\nf a/.wh..\nf ../../x\nf /../capi-operator-manifests/a/metadata.yaml\nd .\nf .",
		"f a\nf a/b/c\nf a/b\nd a/b/c\n-\nf a/.wh.b\nf a/b/c/.wh..wh..opq\np a/b/c/d",
		"s a b\nf a/metadata.yaml\n-\nf .wh.a\nf a/metadata.yaml", "f /.wh.capi-operator-manifests\nf /.wh..wh..opq\nf /capi-operator-manifests",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 1000 {
			return
		}
		layers, contents := scripted(script)
		var tars [][]byte
		for _, entries := range layers {
			var b bytes.Buffer
			if writeTar(&b, entries) != nil {
				return // not to be written as tar
			}
			tars = append(tars, b.Bytes())
		}
		filled, err := checkExtracted(t, tars...)
		_, profiles, _ := extract(tars...)
		for _, p := range profiles {
			if !contents[string(p.Metadata)] || !contents[string(p.Manifests)] {
				t.Fatalf("profile %s has what no file in the folder has: %q, %q", p.Name, p.Metadata, p.Manifests)
			}
		}
		if failure, ok := errors.AsType[*Error](err); strings.Contains(script, "\ns") || ok && failure.Kind == KindLimit {
			return // what lies behind a link is refused, not modelled
		}
		if want, ok := modelled(layers); ok {
			if got := filled.files(); !maps.Equal(got, want) {
				t.Fatalf("the layers give\n%v, want\n%v", got, want)
			}
		}
	})
}

// scripted gives the entries by layer, and the contents that files have: each its own.
func scripted(script string) (layers [][]entry, contents map[string]bool) {
	layers, contents = [][]entry{nil}, map[string]bool{}
	for i, line := range strings.Split(script, "\n") {
		words := strings.SplitN(line, " ", 3)
		if line == "-" {
			layers = append(layers, nil)
		}
		if len(words) < 2 || len(words) > 2 && words[2] == "" {
			continue
		}
		e := entry{name: words[1]}
		if !strings.HasPrefix(e.name, "/") {
			e.name = root + "/" + e.name
		}
		target := append(words, "nothing")[2]
		switch words[0] {
		case "d":
			e.dir = true
		case "p":
			e.fifo = true
		case "s":
			e.symlink = target
		case "h":
			e.hard = root + "/" + target
		default:
			e.data = fmt.Sprintf("content %d", i)
			if p := path.Clean("/" + e.name); fuzzed(p) {
				contents[e.data] = true
			}
		}
		last := len(layers) - 1
		layers[last] = append(layers[last], e)
	}
	return layers, contents
}

// fuzzed says whether a path lies in the folder that is read.
var fuzzed = newTree(ManifestsFolder, fuzzLimits).inside

// modelled says what files layers come to in the plainest way: a map of paths, of which a layer first removes what it
// hides and then writes what it has. It knows no links and no pipes.
func modelled(layers [][]entry) (map[string]string, bool) {
	const isFolder = "/"
	model := map[string]string{}
	remove := func(under string, itself bool) {
		maps.DeleteFunc(model, func(p, _ string) bool { return strings.HasPrefix(p, under+"/") || itself && p == under })
	}
	for _, entries := range layers {
		for _, e := range entries {
			if e.symlink != "" || e.hard != "" || e.fifo {
				return nil, false
			}
			dir, base := path.Split(path.Clean("/" + e.name))
			hidden, whiteout := strings.CutPrefix(base, whiteoutPrefix)
			switch {
			case whiteout && (hidden == "" || hidden == "." || hidden == ".."):
				return nil, false // refused
			case base == opaqueMark:
				remove(strings.TrimSuffix(dir, "/"), false)
			case whiteout && !strings.HasPrefix(hidden, whiteoutPrefix):
				remove(dir+hidden, true)
			}
		}
		for _, e := range entries {
			p := path.Clean("/" + e.name)
			if strings.HasPrefix(path.Base(p), whiteoutPrefix) || !fuzzed(p) {
				continue
			}
			for up := path.Dir(p); up != "/"; up = path.Dir(up) {
				model[up] = isFolder
			}
			if !e.dir {
				remove(p, true)
			}
			if model[p] = e.data; e.dir {
				model[p] = isFolder
			}
		}
	}
	maps.DeleteFunc(model, func(_, content string) bool { return content == isFolder })
	return model, true
}

// files are the contents of a tree by path.
func (t *tree) files() map[string]string {
	all := map[string]string{}
	var visit func(string, *node)
	visit = func(p string, n *node) {
		if n.kind == file {
			all[p] = string(n.data)
		}
		for name, child := range n.children {
			visit(path.Join(p, name), child)
		}
	}
	visit("/", t.root)
	return all
}
