package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"go.yaml.in/yaml/v3"

	"github.com/capstan-capi/capstan/message"
)

// metadata is the content of metadata.yaml.
type metadata struct {
	name         string
	installOrder int
	platform     string
	selfImageRef string
	attributes   map[string]string

	at place // of selfImageRef, or of the document if it is not given; empty if there is no document
}

// maxComponentName is stricter than the API's 255 because the name is also the
// value of a label on every object.
const maxComponentName = 63

// shortestSelf is how many characters a selfImageRef has at least.
const shortestSelf = 8

var selfReference = regexp.MustCompile(`^(?:(?:` + hostLabel + `(?:\.` + hostLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?` +
	pathComponent + `(?:/` + pathComponent + `)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[a-f0-9]{64})?$`)

var componentName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$`)

// platforms are the values of configv1.PlatformType.
var platforms = []configv1.PlatformType{
	configv1.AWSPlatformType, configv1.AlibabaCloudPlatformType, configv1.AzurePlatformType,
	configv1.BareMetalPlatformType, configv1.EquinixMetalPlatformType, configv1.ExternalPlatformType,
	configv1.GCPPlatformType, configv1.IBMCloudPlatformType, configv1.KubevirtPlatformType,
	configv1.LibvirtPlatformType, configv1.NonePlatformType, configv1.NutanixPlatformType,
	configv1.OpenStackPlatformType, configv1.PowerVSPlatformType, configv1.VSpherePlatformType,
	configv1.OvirtPlatformType,
}

// metadata reads a profile's metadata.yaml; false means that problems were
// reported and the profile cannot be placed.
func (r *renderer) metadata(p Profile) (metadata, bool) {
	before := r.troubles()
	m := metadataReader{r: r, at: place{image: p.Image, profile: p.Name, file: metadataFile}}
	r.guarded(m.at, func() { m.documents(split(p.Metadata)) })
	if m.found || r.troubles() == before {
		m.check()
	}
	return m.result, r.troubles() == before
}

func (m *metadataReader) documents(all []document) {
	for _, doc := range all {
		at := m.at.in(doc)
		root := m.r.parse(at, doc.text, nil)
		switch {
		case root == nil:
		case m.found:
			m.r.report(at.onLine(root.Line).problem("", "there is more than one YAML document"))
			return
		default:
			m.found, m.at = true, at
			m.result.at = at.onLine(root.Line)
			m.fields(root)
		}
	}
}

// metadataReader fills result from a YAML mapping. It reads the nodes itself,
// since a strict decoder stops at its first error and knows no lines.
type metadataReader struct {
	r      *renderer
	at     place
	found  bool
	result metadata
	name   *yaml.Node
}

func (m *metadataReader) report(node *yaml.Node, path, format string, args ...any) {
	at := m.at
	if node != nil {
		at = at.onLine(node.Line)
	}
	m.r.report(at.problem(path, fmt.Sprintf(format, args...)))
}

func (m *metadataReader) fields(root *yaml.Node) {
	m.mapping(root, "", func(key, value *yaml.Node) {
		switch path := key.Value; path {
		case "name":
			m.name = value
			m.result.name = m.text(value, path)
		case "installOrder":
			m.result.installOrder = m.number(value, path)
		case "ocpPlatform":
			m.result.platform = m.platform(value, path)
		case "selfImageRef":
			m.result.selfImageRef = m.self(value, path)
			m.result.at = m.at.onLine(key.Line)
		case "attributes":
			m.result.attributes = map[string]string{}
			m.mapping(value, path, func(key, value *yaml.Node) {
				m.result.attributes[key.Value] = m.text(value, path+"."+key.Value)
			})
		default:
			m.report(key, path, "unknown field: name, installOrder, ocpPlatform, selfImageRef and attributes are known")
		}
	})
}

// check reports what only all fields together can show.
func (m *metadataReader) check() {
	switch name := m.result.name; {
	case !m.found:
		m.report(nil, "", "the file is empty: it must give at least a name")
	case m.name == nil:
		m.report(nil, "name", "the component has no name")
	case name == "" && m.name.Kind != yaml.ScalarNode: // reported by text
	case len(name) > maxComponentName:
		m.report(m.name, "name", "the name has %d characters, at most %d are allowed, since it becomes the value of a label", len(name), maxComponentName)
	case !componentName.MatchString(name):
		m.report(m.name, "name", "the name %q must consist of letters, digits and '-', and begin and end with a letter or digit", name)
	}
}

// mapping visits the entries of a mapping, each key once; null has none.
func (m *metadataReader) mapping(node *yaml.Node, path string, visit func(key, value *yaml.Node)) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return
	}
	if node.Kind != yaml.MappingNode {
		m.report(node, path, "must be a mapping of names to values")
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if first, twice := lines[key.Value]; twice {
			m.report(key, strings.TrimPrefix(path+"."+key.Value, "."), "the field is given twice, first on line %d", first)
			continue
		}
		lines[key.Value] = m.at.onLine(key.Line).line
		visit(key, node.Content[i+1])
	}
}

func (m *metadataReader) text(node *yaml.Node, path string) string {
	if node.Kind == yaml.ScalarNode && (node.Tag == "!!str" || node.Tag == "!!null") {
		if node.Tag == "!!null" {
			return ""
		}
		return node.Value
	}
	m.report(node, path, "must be a string: write it in quotes")
	return ""
}

// self is replaced wherever it occurs, so it must be nothing that occurs by chance. What is listed was applied with
// whatever it is.
func (m *metadataReader) self(node *yaml.Node, path string) string {
	text := m.text(node, path)
	if text != "" && !m.r.listed && (len(text) < shortestSelf || !selfReference.MatchString(text)) {
		m.report(node, path, "%q is not an image reference of at least %d characters, such as registry.ci.openshift.org/openshift:name",
			message.Shorten(text, 100), shortestSelf)
		return ""
	}
	return text
}

func (m *metadataReader) number(node *yaml.Node, path string) int {
	number, err := strconv.ParseInt(node.Value, 10, 32)
	if node.Kind != yaml.ScalarNode || node.Tag != "!!int" || err != nil {
		m.report(node, path, "must be a whole number of at most 32 bits")
	}
	return int(number)
}

func (m *metadataReader) platform(node *yaml.Node, path string) string {
	text := m.text(node, path)
	if text != "" {
		if err := CheckPlatform(text); err != nil {
			m.report(node, path, "%v; leave it empty for all", err)
		}
	}
	return text
}

// CheckPlatform refuses a name that is no platform type of OpenShift's API; the
// error lists those that are.
func CheckPlatform(name string) error {
	if !slices.Contains(platforms, configv1.PlatformType(name)) {
		return fmt.Errorf("unknown platform %q: the platforms are %s", message.Shorten(name, 100), strings.Join(Platforms(), ", "))
	}
	return nil
}

// Platforms are the platform types of OpenShift's API.
func Platforms() []string {
	var names []string
	for _, p := range platforms {
		names = append(names, string(p))
	}
	return names
}
