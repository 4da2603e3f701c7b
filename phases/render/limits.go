package render

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/capstan-capi/capstan/message"
)

// What the ClusterAPI CustomResourceDefinition accepts in an entry of
// status.revisions. Reporting it here keeps the API server from refusing the
// write with a message that names no image.
const (
	maxComponents        = 32
	maxSubstitutions     = 32
	maxSubstitutionKey   = 255
	maxSubstitutionValue = 4096
	maxUnmanaged         = 128
	maxProfileName       = 255
	maxImage             = 447
)

var (
	substitutionKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	profileName     = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	imageReference  = regexp.MustCompile(`^(?:` + hostLabel + `(?:\.` + hostLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?` +
		`(?:/` + pathComponent + `)+@sha256:[a-f0-9]{64}$`)
)

const (
	hostLabel     = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	pathComponent = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
)

// checkLimits reports what the API would refuse in the entry for this revision.
func (r *renderer) checkLimits(rev *Revision) {
	r.limit("components", len(rev.Components), maxComponents)
	r.limit("substitutions", len(rev.Substitutions), maxSubstitutions)
	r.limit("unmanaged CustomResourceDefinitions", len(rev.Unmanaged), maxUnmanaged)
	for _, c := range rev.Components {
		r.checkSource(c)
	}
	for _, s := range rev.Substitutions {
		r.checkSubstitution(s)
	}
}

func (r *renderer) limit(what string, count, limit int) {
	if count > limit {
		r.report(Problem{Cause: fmt.Sprintf("the revision has %d %s and the ClusterAPI status holds at most %d: remove %d", count, what, limit, count-limit)})
	}
}

func (r *renderer) checkSource(c Component) {
	report := func(format string, args ...any) {
		r.report(Problem{Image: c.Image, Profile: c.Profile, Cause: fmt.Sprintf(format, args...)})
	}
	switch {
	case len(c.Image) > maxImage:
		report("the image reference has %d characters, at most %d are allowed", len(c.Image), maxImage)
	case !imageReference.MatchString(c.Image):
		report("the image reference must have the form host[:port]/path@sha256:<64 hexadecimal digits>")
	}
	switch {
	case len(c.Profile) > maxProfileName:
		report("the profile's name has %d characters, at most %d are allowed: rename its folder in the image", len(c.Profile), maxProfileName)
	case !profileName.MatchString(c.Profile):
		report("the profile's name must consist of letters, digits, '-' and '_': rename its folder in the image")
	}
}

func (r *renderer) checkSubstitution(s Substitution) {
	report := func(format string, args ...any) {
		r.report(Problem{Cause: fmt.Sprintf("substitution %q: ", message.Shorten(s.Key, 300)) + fmt.Sprintf(format, args...)})
	}
	switch {
	case len(s.Key) > maxSubstitutionKey:
		report("the name has %d characters, at most %d are allowed", len(s.Key), maxSubstitutionKey)
	case !substitutionKey.MatchString(s.Key):
		report("a name consists of letters, digits and '_' and does not begin with a digit")
	}
	switch count := utf8.RuneCountInString(s.Value); {
	case !utf8.ValidString(s.Value):
		report("the value is not valid UTF-8")
	case count > maxSubstitutionValue:
		report("the value has %d characters, at most %d are allowed", count, maxSubstitutionValue)
	}
}
