package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

func TestPrintPlainJSON_is_the_same_JSON_without_what_controls_a_terminal(t *testing.T) {
	const hostile = "a\u009b2Jb\u202ec\u200bd\U000e0041e\x1b[0mf g\u00a0h é 漢"
	var out bytes.Buffer
	if err := printPlainJSON(&out, map[string]string{"text": hostile}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\u009b\u202e\u200b\u00a0\x1b\U000e0041") || !strings.Contains(out.String(), "é 漢") {
		t.Errorf("printed is %q", out.String())
	}
	var read map[string]string
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read["text"] != hostile {
		t.Errorf("it is read as %q (%v)", read["text"], err)
	}
}

func TestFrom_is_in_place_of_a_cluster(t *testing.T) {
	for _, target := range []inspect.Target{
		{Access: inspect.Access{Kubeconfig: "a"}}, {Access: inspect.Access{Context: "b"}}, {Access: inspect.Access{As: "c"}},
	} {
		if _, err := (&fromFlag{from: "d"}).use(&target); err == nil || target.Instead != nil {
			t.Errorf("both are taken: %v", err)
		}
	}
}
