package golden

import (
	"fmt"
	"regexp"

	"github.com/capstan-capi/capstan/message"
)

const (
	// maxValue is how many bytes of a golden value are used.
	maxValue = 1024
	// maxTold is how many bytes of a foreign text are told.
	maxTold = 256
)

// form is how a value looks that may be written into a target.
type form struct {
	name    string
	pattern *regexp.Regexp
}

// The forms are wider than what clouds give out today: they keep out what is no name at all, such as a path or an expression.
var (
	amiForm     = form{name: "an AMI", pattern: regexp.MustCompile(`^ami-[A-Za-z0-9._-]+$`)}
	projectForm = form{name: "a GCP project", pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)}
	imageForm   = form{name: "the name of an image", pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)}
	releaseForm = form{name: "a release", pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)}
)

// check refuses a value that is too long or of another form.
func (f form) check(value string) error {
	if len(value) > maxValue {
		return fmt.Errorf("a value has %d bytes, and may have %d", len(value), maxValue)
	}
	if !f.pattern.MatchString(value) {
		return fmt.Errorf("%q is not %s", message.Shorten(value, maxTold), f.name)
	}
	return nil
}
