package golden_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/stream-metadata-go/stream"

	"github.com/capstan-capi/capstan/phases/golden"
)

// release is a stream of one AMI.
func release(t *testing.T, ami string) *golden.Golden {
	t.Helper()
	return read(t, &stream.Stream{Architectures: map[string]stream.Arch{"x86_64": {Images: stream.Images{Aws: &stream.AwsImage{
		Regions: map[string]stream.SingleImage{"r": {Image: ami}},
	}}}}})
}

func TestImages(t *testing.T) {
	of := made()
	of.Architectures["x86_64"].Images.Aws.Regions["mars-1"] = stream.SingleImage{Image: "no AMI"}
	images := read(t, of).Images()
	for _, want := range []string{"ami-new-aarch64", "ami-eu-x86_64", someGCP + "new-x86_64", "redhat:rh-ocp-worker:rh-ocp-worker:4.21.2", "azureopenshift:aro4:aro_421:421.1"} {
		if !slices.Contains(images, want) {
			t.Errorf("%s is not among %q", want, images)
		}
	}
	if slices.Contains(images, "no AMI") || !slices.IsSorted(images) {
		t.Errorf("%q", images)
	}
}

func TestRemember_keeps_what_was_golden_last(t *testing.T) {
	data, changed := golden.Remember(nil, release(t, "ami-0"))
	if !changed || len(data) != 1 {
		t.Fatal(data)
	}
	if same, changed := golden.Remember(data, release(t, "ami-0")); changed || len(same) != 1 {
		t.Error(same)
	}
	data["note"] = "somebody's"
	for i := range 100 {
		data, _ = golden.Remember(data, release(t, fmt.Sprintf("ami-%d", i)))
	}
	known := golden.Listed(data)
	for i := range 100 {
		if known.Knows(fmt.Sprintf("ami-%d", i)) != (i >= 36) {
			t.Errorf("ami-%d is wrong", i)
		}
	}
	if len(data) != 65 || data["note"] != "somebody's" {
		t.Errorf("%d keys", len(data))
	}
	again, changed := golden.Remember(data, release(t, "ami-36"))
	if !changed || len(again) != 65 {
		t.Errorf("%d keys", len(again))
	}
	again, _ = golden.Remember(again, release(t, "ami-100"))
	if known := golden.Listed(again); !known.Knows("ami-36") || known.Knows("ami-37") {
		t.Error("what is golden again counts as old")
	}
}

func TestRemember_stays_within_a_ConfigMap(t *testing.T) {
	large := func(name string) *golden.Golden {
		regions := map[string]stream.SingleImage{}
		for i := range 400 {
			regions[fmt.Sprint(i)] = stream.SingleImage{Image: fmt.Sprintf("ami-%s-%d-%s", name, i, strings.Repeat("a", 1000))}
		}
		return read(t, &stream.Stream{Architectures: map[string]stream.Arch{"x86_64": {Images: stream.Images{Aws: &stream.AwsImage{Regions: regions}}}}})
	}
	var data map[string]string
	for i := range 5 {
		data, _ = golden.Remember(data, large(fmt.Sprint(i)))
	}
	size := 0
	for key, value := range data {
		size += len(key) + len(value)
	}
	if size > 1<<20 || len(data) != 2 {
		t.Errorf("%d bytes in %d keys", size, len(data))
	}
}

func TestRemember_leaves_the_data_alone(t *testing.T) {
	data, _ := golden.Remember(nil, release(t, "ami-1"))
	golden.Remember(data, release(t, "ami-2"))
	if len(data) != 1 {
		t.Error(data)
	}
	if same, changed := golden.Remember(data, release(t, "no AMI")); changed || len(same) != 1 {
		t.Error(same)
	}
}

func TestListed(t *testing.T) {
	known := golden.Listed(map[string]string{"a": "ami-1\r\n\n  ami-2  \n# ami-3\n" + strings.Repeat("a", 1025), "b": addressGCP + someGCP + "a"})
	for image, want := range map[string]bool{
		"ami-1": true, "ami-2": true, "ami-3": false, "# ami-3": false, "": false, someGCP + "a": true, strings.Repeat("a", 1025): false,
	} {
		if known.Knows(image) != want {
			t.Errorf("%q: %v", image, !want)
		}
	}
	if either := (golden.AnyOf{nil, golden.Images(nil), known}); !either.Knows("ami-1") || either.Knows("ami-3") {
		t.Error(either)
	}
}
