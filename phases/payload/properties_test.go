package payload

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// drawSecrets draws manifest Secrets whose objects may be the same, may agree and may contradict each other.
func drawSecrets(t *rapid.T) []ManifestSecret {
	var secrets []ManifestSecret
	for i := range rapid.IntRange(0, 4).Draw(t, "secrets") {
		s := ManifestSecret{Name: fmt.Sprintf("s%d", i), Directory: rapid.SampledFrom([]string{ManifestsFolder, OpenShiftFolder}).Draw(t, "folder"), Data: map[string][]byte{}}
		for range rapid.IntRange(1, 3).Draw(t, "files") {
			var documents []string
			for range rapid.IntRange(1, 2).Draw(t, "documents") {
				object := rapid.SampledFrom([]string{"x", "w", "z"}).Draw(t, "object")
				field := rapid.SampledFrom([]string{"a: same", "b: same", "c: one", "c: other", "d: {e: one}", "d: {e: other}", "d: one"}).Draw(t, "field")
				documents = append(documents, manifest(object, field))
			}
			s.Data[rapid.SampledFrom([]string{"a.yaml", "b.yaml", "c.yaml"}).Draw(t, "file")] = []byte(strings.Join(documents, "---\n"))
		}
		secrets = append(secrets, s)
	}
	return secrets
}

func TestRead_depends_on_no_order(t *testing.T) {
	d := given(t)
	rapid.Check(t, func(t *rapid.T) {
		d := d
		d.Manifests = drawSecrets(t)
		first, firstErr := Read(d)
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		order.Shuffle(len(d.Manifests), func(i, j int) { d.Manifests[i], d.Manifests[j] = d.Manifests[j], d.Manifests[i] })
		second, secondErr := Read(d)
		if fmt.Sprint(firstErr) != fmt.Sprint(secondErr) {
			t.Fatalf("once it says %v, once %v", firstErr, secondErr)
		}
		if firstErr != nil {
			return
		}
		one, err := first.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if other, err := second.Digest(); err != nil || one != other {
			t.Fatalf("the digests are %s and %s (%v)", one, other, err)
		}
		files, _ := Files(first.Manifests)
		again, _ := Files(second.Manifests)
		if !reflect.DeepEqual(files, again) {
			t.Fatalf("the files are %q and %q", files, again)
		}
	})
}

func TestDigest_is_another_one_for_whatever_is_changed(t *testing.T) {
	d := given(t)
	in, err := Read(d)
	must(t, err)
	was, err := in.Digest()
	must(t, err)
	for name, change := range map[string]func(*Documents){
		"a field that is not read": func(d *Documents) {
			delete(d.Data, StateKey)
			d.Data[ConfigKey] = append(d.Data[ConfigKey], "x: y\n"...)
		},
		"a manifest": func(d *Documents) {
			d.Manifests = []ManifestSecret{secretOf("one", ManifestsFolder, "a.yaml", manifest("x", ""))}
		},
		"an asset of the state": func(d *Documents) {
			d.Data[StateKey] = []byte(strings.Replace(string(d.Data[StateKey]), `"AAAA"`, `"AAAB"`, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := given(t)
			change(&d)
			in, err := Read(d)
			must(t, err)
			if now, err := in.Digest(); err != nil || now == was {
				t.Errorf("it is %s still (%v)", now, err)
			}
		})
	}
	d.Data[ConfigKey] = append([]byte("# a comment\n"), d.Data[ConfigKey]...)
	in, err = Read(d)
	must(t, err)
	if now, err := in.Digest(); err != nil || now != was {
		t.Errorf("with a comment it is %s (%v)", now, err)
	}
}

// TestRead_tells_no_value breaks an install-config at any of its texts, and puts the same value everywhere that errors could quote.
func TestRead_tells_no_value(t *testing.T) {
	var tree map[string]any
	must(t, yaml.Unmarshal(fixture(t, "install-config.yaml"), &tree))
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`Q[0-9a-f]{12}`).Draw(t, "secret")
		broken := breakAt(t, tree, secret)
		text, err := yaml.Marshal(broken)
		if err != nil {
			t.Fatal(err)
		}
		cut := string(text)
		if rapid.Bool().Draw(t, "torn") {
			cut = strings.Replace(cut, secret, rapid.SampledFrom([]string{"[", "{", "\t", "- ", "*", "&", "!!int ", "'", "? "}).Draw(t, "by")+secret, 1)
		}
		d := Documents{Secret: "inputs", Replicas: 3, Data: map[string][]byte{ConfigKey: []byte(cut)}}
		d.Manifests = []ManifestSecret{secretOf("one", ManifestsFolder, "a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: "+cut)}
		if rapid.Bool().Draw(t, "with a state") {
			d.Data[StateKey] = []byte(rapid.SampledFrom([]string{
				`{"*installconfig.InstallConfig":{"config":"` + secret + `"}}`, `{"*installconfig.InstallConfig":{"config":{"pullSecret":"` + secret + `"}}}`,
				`{"*installconfig.ClusterID":` + secret + `}`,
			}).Draw(t, "state"))
		}
		if _, err := Read(d); err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("it quotes %s: %v", secret, err)
		}
	})
}

// breakAt returns a copy of a tree with a value in the place of one of its own.
func breakAt(t *rapid.T, tree map[string]any, value string) map[string]any {
	broken := map[string]any{}
	names := []string{"apiVersion", "baseDomain", "metadata", "platform", "pullSecret", "sshKey", "networking", "controlPlane", "compute"}
	at := rapid.SampledFrom(names).Draw(t, "field")
	for name, had := range tree {
		broken[name] = had
		inner, is := had.(map[string]any)
		switch {
		case name != at:
		case is && len(inner) == 1 && rapid.Bool().Draw(t, "within"):
			for only := range inner {
				broken[name] = map[string]any{only: rapid.SampledFrom([]any{value, []any{value}, map[string]any{"a": value}}).Draw(t, "value")}
			}
		default:
			broken[name] = rapid.SampledFrom([]any{value, []any{value}, map[string]any{"a": value}, "https://u:" + value + "@h", `{"auths":{"` + value + `":{"auth":"` + value + `"}}}`}).Draw(t, "value")
		}
	}
	return broken
}
