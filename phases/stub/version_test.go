package stub_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/stub"
)

// secret stands in values that tests look for in errors.
const secret = "hunter2"

func TestReadTellsTheVersion(t *testing.T) {
	for text, want := range map[string]string{
		`{"ignition":{"version":"2.2.0"}}`:               "2.2.0",
		`{"ignition":{"version":"3.2.0"},"storage":{}}`:  "3.2.0",
		`{"ignition":{"version":"3.6.0-experimental"}}`:  "3.6.0",
		`{"ignition":{"version":"4.0.0"}}`:               "4.0.0",
		`{"passwd":null,"ignition":{"version":"2.4.0"}}`: "2.4.0",
	} {
		if got, err := stub.Read([]byte(text)); err != nil || got.String() != want || got.IsSpec3() != (want[0] == '3') || got.Unreleased != strings.Contains(text, "experimental") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestWhatIsNoIgnitionConfigIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "it is empty",
		" \n":                                "it is empty",
		"\x1f\x8b\x08" + secret:              "it is compressed with gzip",
		"#cloud-config\npassword: " + secret: "it is a cloud-config, and no Ignition config",
		"#!/bin/sh\n" + secret:               "it is a script, and no Ignition config",
		"<powershell>" + secret:              "it is no JSON object",
		`[{"ignition":{}}]`:                  "it is no JSON object",
		`{"a":"` + "\xff" + secret + `"}`:    "it is not UTF-8",
		`{"ignition":{"version":"2.2.0"}`:    "it is no JSON at byte",
		`{"ignition":{"version":"2.2.0"}} {"` + secret + `":1}`: "it is no JSON at byte",
		`{"ignition":{"` + secret + `":1}}`:                     "ignition.version: it is missing",
		`{"ignitionVersion":1}`:                                 "ignition.version: it is missing",
		`{"ignition":{"version":""}}`:                           "ignition.version: it is missing",
		`{"ignition":{"version":3}}`:                            "ignition.version: its value is of a wrong kind",
		`{"ignition":["` + secret + `"]}`:                       "ignition: its value is of a wrong kind",
		`{"ignition":{"version":"` + secret + `"}}`:             "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":"3"}}`:                          "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":"v2.2.0"}}`:                     "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":" 2.2.0"}}`:                     "ignition.version: it is no version of three numbers",
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`:            "it has 1048584 bytes, and a Secret has room for 1048576",
	} {
		if _, err := stub.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) || !errors.As(err, &stub.UnconvertibleError{}) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
	}
}
