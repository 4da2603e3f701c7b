package stub

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	errors2 "github.com/coreos/ignition/config/shared/errors"
	errors3 "github.com/coreos/ignition/v2/config/shared/errors"
)

// UnconvertibleError says why user data cannot be read, or has no equivalent in spec 3.1. It is made of names of fields,
// positions and reasons, and never of what user data holds. Only other user data heals it.
type UnconvertibleError struct {
	// At is the field, such as "storage.filesystems[1]"; empty if it is the whole.
	At string
	// Why is the reason, after a colon.
	Why string
}

func (e UnconvertibleError) Error() string {
	if e.At == "" {
		return "user data: " + e.Why
	}
	return "user data: " + e.At + ": " + e.Why
}

// Terminal tells the engine of machines that trying again does not help.
func (UnconvertibleError) Terminal() bool { return true }

func unconvertible(at, why string) error { return UnconvertibleError{At: at, Why: why} }

// item is the place of an item of a list.
func item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// sayable are the reasons of the validations of both specs that hold no value of a config. Others are not told.
var sayable = reasons(
	errors2.ErrBothIDAndNameSet, errors2.ErrDiskDeviceRequired, errors2.ErrDoesntMatchGUIDRegex, errors2.ErrFileIllegalMode,
	errors2.ErrFilesystemInvalidFormat, errors2.ErrFilesystemMountAndPath, errors2.ErrFilesystemNoMountPath, errors2.ErrHashMalformed,
	errors2.ErrHashUnrecognized, errors2.ErrHashWrongSize, errors2.ErrInvalidScheme, errors2.ErrInvalidSystemdDropinExt,
	errors2.ErrInvalidSystemdExt, errors2.ErrLabelTooLong, errors2.ErrNoFilesystem, errors2.ErrPartitionNumbersCollide,
	errors2.ErrPartitionsMisaligned, errors2.ErrPartitionsOverlap, errors2.ErrPartitionsUnitsMismatch, errors2.ErrPathRelative,
	errors2.ErrUnrecognizedRaidLevel, errors2.ErrUnsupportedSchemeForHTTPHeaders, errors2.ErrUsedCreateAndWipeFilesystem,
	errors2.ErrAppendAndOverwrite, errors2.ErrCompressionInvalid, errors2.ErrInvalidUrl,
	errors3.ErrDirectoryUsedSymlink, errors3.ErrDuplicateLabels, errors3.ErrFileUsedSymlink, errors3.ErrHardLinkToDirectory,
	errors3.ErrInvalidProxy, errors3.ErrInvalidScheme, errors3.ErrInvalidUrl, errors3.ErrLabelContainsColon, errors3.ErrLinkUsedSymlink,
	errors3.ErrNeedLabelOrNumber, errors3.ErrRaidDevicesRequired, errors3.ErrSourceRequired, errors3.ErrZeroesWithShouldNotExist,
)

func reasons(errs ...error) map[string]bool {
	said := map[string]bool{}
	for _, err := range errs {
		said[err.Error()] = true
	}
	return said
}

// sentence is what may be told of a reason, as the end of a sentence.
func sentence(spec, reason string) string {
	if sayable[reason] {
		return fmt.Sprintf("spec %s refuses it: %s", spec, reason)
	}
	return "spec " + spec + " refuses it"
}

// complained is the first line of a report of spec 3's validation: a path and a reason.
var complained = regexp.MustCompile(`(?m)^error at \$((?:\.[A-Za-z0-9]+)+)(?:, [^:]*)?: (.*)$`)

// refused makes of a report of spec 3's validation what may be told: fields without positions, since those of what was converted
// are others.
func refused(report string) error {
	found := complained.FindStringSubmatch(report)
	if found == nil {
		return unconvertible("", "spec "+Converted.String()+" refuses what it converts to")
	}
	fields := slices.DeleteFunc(strings.Split(strings.TrimPrefix(found[1], "."), "."), func(part string) bool { return part[0] <= '9' })
	return unconvertible(strings.Join(fields, "."), sentence(Converted.String(), found[2]))
}
