package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// secret stands in values that tests look for in what is told.
const secret = "hunter2"

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		in       io.Reader
		code     int
		out, err string
	}{
		"spec 2 is converted": {
			in:  strings.NewReader(`{"ignition":{"version":"2.2.0"}}`),
			out: `{"ignition":{"config":{"replace":{"verification":{}}},"proxy":{},"security":{"tls":{}},"timeouts":{},"version":"3.1.0"},"passwd":{},"storage":{},"systemd":{}}`,
		},
		"spec 3 stays as it is": {in: strings.NewReader(` {"ignition":{"version":"3.2.0"}}`), out: ` {"ignition":{"version":"3.2.0"}}`},
		"what has no equivalent is told as JSON": {
			in:   strings.NewReader(`{"ignition":{"version":"2.2.0"},"networkd":{"units":[{"name":"` + secret + `.network"}]}}`),
			code: 3, err: `{"at":"networkd.units","why":"spec 3 has no such units"}` + "\n",
		},
		"what is no config is told as JSON": {in: strings.NewReader(secret), code: 3, err: `{"at":"","why":"it is no JSON object"}` + "\n"},
		"an endless input is refused": {
			in: endless{}, code: 3, err: `{"at":"","why":"it has more than 1048576 bytes, and a Secret has room for no more"}` + "\n",
		},
		"an input that breaks off ends with 1": {in: iotest.ErrReader(errors.New("broken pipe")), code: 1, err: "capstan-stub: reading the input: broken pipe\n"},
		"arguments end with 1":                 {args: []string{secret}, code: 1, err: "capstan-stub: it takes no arguments: give it an Ignition config as its input\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, problems bytes.Buffer
			if code := run(c.args, c.in, &out, &problems); code != c.code || out.String() != c.out || problems.String() != c.err {
				t.Errorf("it ends with %d, writes %s and tells %s", code, out.String(), problems.String())
			}
		})
	}
}

func TestRun_an_output_that_is_closed_ends_with_1(t *testing.T) {
	reader, writer := io.Pipe()
	reader.Close()
	var problems bytes.Buffer
	if code := run(nil, strings.NewReader(`{"ignition":{"version":"2.2.0"}}`), writer, &problems); code != 1 || !strings.Contains(problems.String(), "writing the converted config") {
		t.Errorf("it ends with %d and tells %s", code, problems.String())
	}
	if code := run(nil, strings.NewReader(secret), io.Discard, writer); code != 1 {
		t.Errorf("it ends with %d", code)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
