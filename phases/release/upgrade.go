package release

import (
	"fmt"

	"github.com/blang/semver/v4"
)

// Upgradeable is what the ClusterVersion of a cluster says of upgrades to the next minor release.
type Upgradeable struct {
	// False says that the condition Upgradeable is False, with the message Why.
	False bool
	Why   string
}

// RefusedError is a version that a cluster may not go to.
type RefusedError struct {
	From, To string
	Why      string
}

func (e RefusedError) Error() string {
	return fmt.Sprintf("the cluster is not upgraded from %s to %s: %s", e.From, e.To, e.Why)
}

// Terminal is false: conditions change, and so does what is asked for.
func (RefusedError) Terminal() bool { return false }

// NotBack is a RefusedError if one version is older than another that a cluster has begun to go to. One that cannot be compared is not.
func NotBack(begun, to string) error {
	has, notHas := semver.Parse(begun)
	wants, notWants := semver.Parse(to)
	if notHas == nil && notWants == nil && wants.LT(has) {
		return RefusedError{From: begun, To: to, Why: fmt.Sprintf("it has begun to go to %s, and a cluster never goes back; set spec.releaseImage to that release, or to a newer one", begun)}
	}
	return nil
}

// May is a RefusedError if a cluster of one version may not go to another: to an older one, by more than one minor release, or to
// the next minor release while it says that it is not upgradeable. The same version is no upgrade, and may always be asked for.
func May(from, to string, u Upgradeable) error {
	refuse := func(why string, args ...any) error {
		return RefusedError{From: from, To: to, Why: fmt.Sprintf(why, args...)}
	}
	has, err := semver.Parse(from)
	if err != nil {
		return refuse("the version it has cannot be compared; wait until its ClusterVersion tells one")
	}
	wants, err := semver.Parse(to)
	if err != nil {
		return refuse("the version asked for cannot be compared; name the image of a release")
	}
	minor := func(v semver.Version) semver.Version { return semver.Version{Major: v.Major, Minor: v.Minor} }
	next := minor(has)
	next.Minor++
	switch {
	case wants.LT(has):
		return refuse("a cluster never goes back; set spec.releaseImage to the release it has, or to a newer one")
	case minor(wants).EQ(minor(has)):
		return nil
	case minor(wants).NE(next):
		return refuse("it goes by one minor release at a time; set spec.releaseImage to a release of %d.%d first", next.Major, next.Minor)
	case u.False:
		return refuse("its ClusterVersion has condition Upgradeable False (%s); do what that asks for, or stay within %d.%d", u.Why, has.Major, has.Minor)
	}
	return nil
}
