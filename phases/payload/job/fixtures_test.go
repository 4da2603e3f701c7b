package job

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/payload"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inputs(t testing.TB, withState bool, manifests ...payload.ManifestSecret) *payload.Inputs {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile("../testdata/small/" + name)
		must(t, err)
		return data
	}
	d := payload.Documents{Secret: "inputs", Replicas: 3, Manifests: manifests, Data: map[string][]byte{payload.ConfigKey: read("install-config.yaml")}}
	if withState {
		d.Data[payload.StateKey] = read("state.json")
	}
	in, err := payload.Read(d)
	must(t, err)
	return in
}

// own is a manifest Secret with a Secret in it.
var own = payload.ManifestSecret{Name: "own", Directory: payload.OpenShiftFolder, Data: map[string][]byte{
	"own.yaml": []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: own}\nstringData: {a: hunter4-of-a-secret}\ndata: {b: aHVudGVyNS1vZi1hLXNlY3JldA==}\n"),
}}

func request(files map[string][]byte) Request {
	return Request{
		Namespace: "fleet", Name: "small", Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "small"},
		Owner:  metav1.OwnerReference{APIVersion: "cluster.openshift.io/v1alpha1", Kind: "OpenShiftControlPlane", Name: "small", UID: "1", Controller: new(true)},
		Digest: "0123", ReleaseImage: "registry.example.com/release@sha256:00", InstallerImage: "registry.example.com/installer@sha256:11",
		CollectImage: "registry.example.com/capstan-provider@sha256:22", Files: files, Seconds: 1800,
	}
}
