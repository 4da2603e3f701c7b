package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"
)

// imageReferences is the one file of a payload that holds no manifests.
const imageReferences = "image-references"

// maxFile bounds a file: no object can be larger in a cluster.
const maxFile = 1 << 20

// document is one object of a file, and the text that it was read from.
type document struct {
	file   string
	number int
	node   *yaml.Node
	text   []byte
	unstructured.Unstructured
}

// payload is what was read, in the order in which a release applies it.
type payload struct {
	names     []string
	documents []*document
	images    *document // image-references, nil if there is none
	problems  []Problem
}

func read(folder fs.FS) (*payload, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	p := &payload{}
	for _, entry := range entries {
		p.names = append(p.names, entry.Name())
		if !entry.Type().IsRegular() {
			continue // the rule of names tells it
		}
		if err := p.readFile(folder, entry.Name()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *payload) readFile(folder fs.FS, name string) error {
	file, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	p.parse(name, data)
	return nil
}

// parse reads the content of a file.
func (p *payload) parse(name string, data []byte) {
	if len(data) > maxFile {
		p.problems = append(p.problems, Problem{File: name, Rule: parses, Cause: "is larger than 1 MiB"})
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for number := 1; ; number++ {
		d := &document{file: name, number: number, node: &yaml.Node{}}
		switch err := decoder.Decode(d.node); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			p.problems = append(p.problems, Problem{File: name, Document: number, Rule: parses, Cause: err.Error()})
			return
		}
		if err := d.parse(); err != nil {
			p.problems = append(p.problems, d.problem(parses, "", "%v", err))
			continue
		}
		if name == imageReferences {
			p.images = d
		} else {
			p.documents = append(p.documents, d)
		}
	}
}

func (d *document) parse() (err error) {
	if d.text, err = yaml.Marshal(d.node); err != nil {
		return err
	}
	if err := sigsyaml.UnmarshalStrict(d.text, &d.Object); err != nil {
		return err
	}
	if d.GetKind() == "" || d.GetAPIVersion() == "" {
		return errors.New("it has no kind or no apiVersion")
	}
	if want, is := judged[d.GetKind()]; is && d.GetAPIVersion() != want {
		return fmt.Errorf("it is a %s of %s, and the rules read only those of %s", d.GetKind(), d.GetAPIVersion(), want)
	}
	if typed, err := known.New(d.GroupVersionKind()); err == nil {
		return sigsyaml.UnmarshalStrict(d.text, typed)
	}
	return nil
}

// judged are the kinds that rules read by their names, each of the one group and version that they read.
var judged = map[string]string{
	"Deployment": "apps/v1", "NetworkPolicy": "networking.k8s.io/v1", "ClusterOperator": "config.openshift.io/v1",
	"ConfigMap": "v1", "Namespace": "v1", "ServiceAccount": "v1",
	"Role": rbac, "RoleBinding": rbac, "ClusterRole": rbac, "ClusterRoleBinding": rbac,
}

const rbac = "rbac.authorization.k8s.io/v1"

// known are the kinds whose fields are checked: those of Kubernetes, and the
// objects that the operator reports and reads.
var known = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(clientgoscheme.AddToScheme(scheme), configv1.AddToScheme(scheme), operatorv1alpha1.AddToScheme(scheme)))
	return scheme
}()

// decode reads an object of a judged kind into its type. It was read so before,
// when its fields were checked.
func decode[T any](d *document) *T {
	typed := new(T)
	utilruntime.Must(sigsyaml.Unmarshal(d.text, typed))
	return typed
}

// problem is one of this document, at the line of the field that is named or of
// the nearest one that is there.
func (d *document) problem(rule, path, format string, args ...any) Problem {
	return Problem{
		File: d.file, Document: d.number, Line: d.line(path), Object: d.String(), Path: path,
		Rule: rule, Cause: fmt.Sprintf(format, args...),
	}
}

// String names the object as people do.
func (d *document) String() string {
	name := d.GetName()
	if namespace := d.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(d.GetKind() + " " + name)
}

// same says which object it is, whatever the version.
func (d *document) same() string {
	return d.GroupVersionKind().GroupKind().String() + " " + d.GetNamespace() + "/" + d.GetName()
}

// line follows a dotted path through mappings as far as it goes. Steps through
// lists are not followed: their line is that of the list.
func (d *document) line(path string) int {
	at := d.node
	if at.Kind == yaml.DocumentNode && len(at.Content) > 0 {
		at = at.Content[0]
	}
	found := at.Line
	for step := range strings.SplitSeq(path, ".") {
		step, _, _ = strings.Cut(step, "[")
		next := field(at, step)
		if next == nil {
			break
		}
		at, found = next, next.Line
	}
	return found
}

// field is the value of a mapping's key, with the line of the key.
func field(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			value := *mapping.Content[i+1]
			value.Line = mapping.Content[i].Line
			return &value
		}
	}
	return nil
}
