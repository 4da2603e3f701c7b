package bootgate

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// rhcosForm is how versions of RHCOS are written: two numbers, the day or the minute of the build, and its number.
var rhcosForm = regexp.MustCompile(`^([0-9]+)\.([0-9]+)\.([0-9]{8}|[0-9]{12})-[0-9]+$`)

// minuteDigits is how long the date of the older form is, in which the second number is RHEL's version without its dot.
const minuteDigits = 12

// rhelOf is the version of RHEL that a version of RHCOS is made of.
func rhelOf(rhcos string) (*version.Version, error) {
	parts := rhcosForm.FindStringSubmatch(rhcos)
	if parts == nil {
		return nil, fmt.Errorf("%q is no version of RHCOS, such as 9.6.20251023-0", rhcos)
	}
	text := parts[1] + "." + parts[2]
	if len(parts[3]) == minuteDigits {
		text = parts[2][:1] + "." + parts[2][1:]
	}
	rhel, err := version.ParseGeneric(text)
	if err != nil {
		return nil, fmt.Errorf("reading %q as a version of RHCOS: %w", rhcos, err)
	}
	return rhel, nil
}

// releaseParts is how many numbers x.y.z has.
const releaseParts = 3

// releaseOf reads a version of the form x.y.z, whatever follows.
func releaseOf(text string) (*version.Version, error) {
	release, err := version.ParseGeneric(text)
	if err != nil {
		return nil, fmt.Errorf("reading %q as a version of a release: %w", text, err)
	}
	if len(release.Components()) != releaseParts {
		return nil, fmt.Errorf("%q is no version of a release, such as 4.22.0", text)
	}
	return release, nil
}

// xyz is a version of a release as MachineConfigurations hold one, and 0.0.0 for one that cannot be read.
func xyz(text string) string {
	release, err := releaseOf(text)
	if err != nil {
		return unknownRelease
	}
	return fmt.Sprintf("%d.%d.%d", release.Major(), release.Minor(), release.Patch())
}

// unknownRelease stands for an installation of which no history tells.
const unknownRelease = "0.0.0"

// Limits are the oldest boot images that the next upgrade can do with.
type Limits struct {
	Release, RHEL *version.Version
}

// ParseLimits reads limits such as 4.13.0,9.2: a release, and a version of RHEL.
func ParseLimits(text string) (Limits, error) {
	release, rhel, _ := strings.Cut(text, ",")
	oldest, err := releaseOf(release)
	if err != nil {
		return Limits{}, err
	}
	of, err := version.ParseMajorMinor(rhel)
	if err != nil {
		return Limits{}, fmt.Errorf("reading %q as a version of RHEL: %w", rhel, err)
	}
	if oldest.String()+","+of.String() != text {
		return Limits{}, fmt.Errorf("%q is not of the form 4.13.0,9.2", text)
	}
	return Limits{Release: oldest, RHEL: of}, nil
}

// ParseRelease reads the first release of a minor, such as 4.21.
func ParseRelease(text string) (*version.Version, error) {
	release, err := version.ParseMajorMinor(text)
	if err != nil {
		return nil, fmt.Errorf("reading %q as a minor release: %w", text, err)
	}
	if release.String() != text {
		return nil, fmt.Errorf("%q is not of the form 4.21", text)
	}
	return release, nil
}
