package acts_test

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/acts"
)

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"Namespace/a":         "Namespace a",
		"Namespace a":         "Namespace a",
		"ConfigMap/a/b":       "ConfigMap a/b",
		"Deployment.apps/a/b": "Deployment.apps a/b",
		"Deployment.apps a/b": "Deployment.apps a/b",
		"ClusterRole.rbac.authorization.k8s.io/a":        "ClusterRole.rbac.authorization.k8s.io a",
		"ClusterRole.rbac.authorization.k8s.io/system:a": "ClusterRole.rbac.authorization.k8s.io system:a",
		"deployment/a/b":  "",
		"Deployment":      "",
		"ConfigMap/a/b/c": "",
		"":                "",
	} {
		o, err := acts.Named(text)
		if (err == nil) != (want != "") || err == nil && o.String() != want {
			t.Errorf("%q is %q (%v)", text, o, err)
		}
	}
}

func TestObjects(t *testing.T) {
	act, err := acts.Read(acts.ConsentToDelete, endless+"\nrevision: 4\nobject: Namespace a 12-34 0 "+aDigest+"\nobject: ConfigMap a/b 12-35 20 "+aDigest)
	if err != nil {
		t.Fatal(err)
	}
	objects := act.Objects()
	if len(objects) != 2 || objects[1].String() != "ConfigMap a/b" || strings.Join(objects[1].Rest, " ") != "12-35 20 "+aDigest {
		t.Errorf("they are %+v", objects)
	}
	if act.About() != "Namespace a and 1 more" {
		t.Error(act.About())
	}
	if pause, err := acts.Read(acts.Pause, head); err != nil || pause.About() != "" {
		t.Errorf("a pause is about %q (%v)", pause.About(), err)
	}
}
