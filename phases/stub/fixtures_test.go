package stub_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/coreos/ign-converter/translate/v24tov31"
	old "github.com/coreos/ignition/config/v2_4/types"
	"github.com/coreos/ignition/v2/config/v3_1/types"

	"github.com/capstan-capi/capstan/phases/stub"
)

// secret stands in all values of a config that tests look for in errors.
const secret = "hunter2"

// spec2 is a config of spec 2.2 with what is told.
func spec2(parts string) string {
	return `{"ignition":{"version":"2.2.0"}` + strings.TrimSuffix(","+parts, ",") + `}`
}

// converted is what a config converts to, which has to be possible.
func converted(t testing.TB, userData string) types.Config {
	t.Helper()
	text, err := stub.Convert([]byte(userData))
	if err != nil {
		t.Fatalf("converting %s: %v", userData, err)
	}
	var config types.Config
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if config.Ignition.Version != "3.1.0" {
		t.Errorf("it is of version %q", config.Ignition.Version)
	}
	return config
}

// alone is what the library makes of a config.
func alone(t testing.TB, userData string, paths map[string]string) (types.Config, error) {
	t.Helper()
	var config old.Config
	if err := json.Unmarshal([]byte(userData), &config); err != nil {
		t.Fatal(err)
	}
	return v24tov31.Translate(config, paths)
}

// refusal is why a config does not convert, which has to be so.
func refusal(t testing.TB, userData string) string {
	t.Helper()
	text, err := stub.Convert([]byte(userData))
	var why stub.UnconvertibleError
	if !errors.As(err, &why) || text != nil {
		t.Fatalf("%s: %s, %v", userData, text, err)
	}
	if !why.Terminal() {
		t.Errorf("%v would be tried again", err)
	}
	return err.Error()
}

// written is a value as JSON, for comparisons that see through pointers.
func written(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantWritten compares a value with JSON.
func wantWritten(t testing.TB, value any, want string) {
	t.Helper()
	if got := written(t, value); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
