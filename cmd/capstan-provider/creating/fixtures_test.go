package creating

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// image is a release by its digest.
var image = "registry.example.com/release@sha256:" + strings.Repeat("0", 64)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	must(t, err)
	return data
}

// onAWS is an install-config that is right, with credentials.
func onAWS(t testing.TB) Given {
	t.Helper()
	return Given{Config: fixture(t, "aws.yaml"), ConfigName: "aws.yaml", Options: Options{
		ReleaseImage: image, Namespace: "fleet", AWS: AWS{Credentials: &Credentials{KeyID: "AKIAEXAMPLE", Secret: "hunter2"}},
	}}
}

// elsewhere is the same on another platform, with one field that is otherwise if it is not empty.
func elsewhere(t testing.TB, platform, old, instead string) Given {
	t.Helper()
	text := `apiVersion: v1
baseDomain: example.com
metadata: {name: small}
platform: {` + platform + `: {}}
pullSecret: '{"auths":{"registry.example.com":{"auth":"cHVsbGVyOmh1bnRlcjI="}}}'
controlPlane: {name: master, replicas: 1}
compute: [{name: worker, replicas: 2}]
`
	if !strings.Contains(text, old) {
		t.Fatalf("the install-config has no %q", old)
	}
	return Given{Config: []byte(strings.Replace(text, old, instead, 1)), ConfigName: "small.yaml", Options: Options{ReleaseImage: image}}
}

// changed is what is on AWS with one text that is otherwise.
func changed(t testing.TB, old, instead string) Given {
	t.Helper()
	given := onAWS(t)
	text := string(given.Config)
	if !strings.Contains(text, old) {
		t.Fatalf("the install-config has no %q", old)
	}
	given.Config = []byte(strings.Replace(text, old, instead, 1))
	return given
}

func made(t testing.TB, given Given) Made {
	t.Helper()
	all, err := Make(given)
	must(t, err)
	return all
}

// one is the object of a kind and name.
func one(t testing.TB, all Made, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range all.Objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

func kinds(all Made) (names []string) {
	for _, object := range all.Objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	return names
}
