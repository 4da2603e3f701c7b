package creating

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

// byDigest is the form that an API server asks of a release image.
var byDigest = regexp.MustCompile(`@sha256:[a-f0-9]{64}$`)

// providersNamespace is where Capstan installs providers: clusters live elsewhere.
const providersNamespace = "openshift-cluster-api"

// refused is what is wrong with options, each by the name of its flag.
func (o Options) refused() (problems []payload.Problem) {
	add := func(flag, why string) { problems = append(problems, payload.Problem{At: "--" + flag, Why: why}) }
	switch {
	case o.ReleaseImage == "":
		add("release-image", "it is missing; name the release of OpenShift that is to be installed, as host/path@sha256:...")
	case o.ReleaseImagePolicy != v1alpha1.TagPolicy && !byDigest.MatchString(o.ReleaseImage):
		add("release-image", "it has no digest; name it as host/path@sha256:..., or say --release-image-policy Tag")
	}
	problems = append(problems, o.AWS.refused()...)
	if len(validation.IsDNS1123Label(o.Namespace)) > 0 {
		add("namespace", "it is no name of a Namespace; give it lowercase letters, digits and -, at most 63")
	} else if o.Namespace == providersNamespace {
		add("namespace", "it is that of the providers; choose another one")
	}
	for flag, row := range map[string]struct {
		value   string
		allowed []string
	}{
		"release-image-policy": {string(o.ReleaseImagePolicy), []string{"", string(v1alpha1.DigestPolicy), string(v1alpha1.TagPolicy)}},
		"management":           {string(o.Management), []string{"", string(v1alpha1.Handover), string(v1alpha1.Managed)}},
		"infrastructure":       {o.Infrastructure, []string{"", Dev}},
	} {
		if !slices.Contains(row.allowed, row.value) {
			add(flag, "it is not "+strings.Join(row.allowed[1:], " or ")+"; say so, or leave it out")
		}
	}
	return problems
}
