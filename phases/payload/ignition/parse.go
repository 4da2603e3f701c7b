package ignition

import (
	"errors"
	"fmt"
	"strings"

	shared "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/vcontext/report"
)

// InvalidError is a config that Ignition refuses. It holds no value of the config.
type InvalidError struct {
	// At is the field, as storage.files[1].path, and empty if the config as a whole is refused.
	At string
	// Line and Column are where that is in the text, and zero if that is not known.
	Line, Column int64
	Why          string
}

func (e InvalidError) Error() string {
	said := "Ignition refuses the config"
	if e.At != "" {
		said += " at " + e.At
	}
	if e.Line > 0 {
		said += fmt.Sprintf(" (line %d, column %d)", e.Line, e.Column)
	}
	return said + ": " + e.Why
}

// Terminal is true: the same bytes are refused again.
func (InvalidError) Terminal() bool { return true }

// Check refuses what is not a config of spec 3.2.0 that Ignition takes.
func Check(config []byte) error {
	_, err := parsed(config)
	return err
}

// CheckOfMachineConfig refuses what a MachineConfig may not hold: a config of spec 3.0.0 to 3.5.0 that Ignition takes.
func CheckOfMachineConfig(config []byte) error {
	if err := bounded(config); err != nil {
		return err
	}
	_, found, err := v3_5.ParseCompatibleVersion(config)
	return told(found, err, "3.0.0 to 3.5.0")
}

// Merge returns a config into which another, of spec 3.0.0 to 3.2.0, was merged by Ignition's own rules: what the other says wins.
func Merge(config, overrides []byte) ([]byte, error) {
	base, err := parsed(config)
	if err != nil {
		return nil, err
	}
	if err := bounded(overrides); err != nil {
		return nil, err
	}
	over, found, err := v3_2.ParseCompatibleVersion(overrides)
	if err := told(found, err, "3.0.0 to 3.2.0"); err != nil {
		return nil, err
	}
	return written(v3_2.Merge(base, over))
}

func parsed(config []byte) (types.Config, error) {
	if err := bounded(config); err != nil {
		return types.Config{}, err
	}
	read, found, err := v3_2.Parse(config)
	return read, told(found, err, Version)
}

// told makes of what Ignition says what may be told.
func told(found report.Report, err error, specs string) error {
	if err == nil {
		return nil
	}
	for _, entry := range found.Entries {
		if !entry.Kind.IsFatal() {
			continue
		}
		refusal := InvalidError{At: place(entry.Context.Path), Why: "the value is not one that the spec allows"}
		if sayable[entry.Message] {
			refusal.Why = entry.Message
		}
		if start := entry.Marker.StartP; start != nil {
			refusal.Line, refusal.Column = start.Line, start.Column
		}
		return refusal
	}
	switch {
	case errors.Is(err, shared.ErrUnknownVersion):
		return InvalidError{At: "ignition.version", Why: "it is not of spec " + specs}
	case errors.Is(err, shared.ErrEmpty):
		return InvalidError{Why: "it is empty"}
	}
	return InvalidError{Why: "it is no JSON of a config"}
}

// place writes a path of fields and positions. A part in other letters than those of fields is not one of them.
func place(path []any) string {
	var b strings.Builder
	for _, part := range path {
		switch part := part.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", part)
		case string:
			if strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
				return b.String()
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// sayable are the reasons of Ignition that are fixed texts. Others may quote what they are about.
var sayable = fixed(
	shared.ErrCompressionInvalid, shared.ErrDirectoryUsedSymlink, shared.ErrDiskDeviceRequired,
	shared.ErrDuplicateLabels, shared.ErrFileIllegalMode, shared.ErrFileUsedSymlink, shared.ErrFilesystemInvalidFormat,
	shared.ErrHardLinkToDirectory, shared.ErrHashMalformed, shared.ErrHashUnrecognized,
	shared.ErrHashWrongSize, shared.ErrInvalidProxy, shared.ErrInvalidScheme, shared.ErrInvalidSystemdDropinExt,
	shared.ErrInvalidSystemdExt, shared.ErrInvalidUrl, shared.ErrLabelContainsColon, shared.ErrLinkUsedSymlink,
	shared.ErrNeedLabelOrNumber, shared.ErrNoPath, shared.ErrNoSystemdExt, shared.ErrPathRelative, shared.ErrRaidDevicesRequired,
	shared.ErrSourceRequired, shared.ErrUnsupportedSchemeForHTTPHeaders, shared.ErrVerificationAndNilSource,
	shared.ErrZeroesWithShouldNotExist,
)

func fixed(reasons ...error) map[string]bool {
	said := map[string]bool{}
	for _, reason := range reasons {
		said[reason.Error()] = true
	}
	return said
}
