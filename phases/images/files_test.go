package images

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestPuller_reads_the_files_of_a_folder_of_any_image(t *testing.T) {
	r := newRegistry(t)
	const of = "/release-manifests"
	lower := []entry{
		{name: "release-manifests/0000_10.yaml", data: "old"},
		{name: "release-manifests/gone.yaml", data: "x"},
		{name: "usr/bin/tool", data: strings.Repeat("x", 1000)},
		{name: root + "/default/manifests.yaml", data: "x"},
	}
	upper := []entry{
		{name: "release-manifests/0000_10.yaml", data: "new"},
		{name: "release-manifests/.wh.gone.yaml"},
		{name: "release-manifests/folder/file.yaml", data: "x"},
		{name: "release-manifests/also.yaml", symlink: "0000_10.yaml"},
	}
	p := NewPuller(Options{})
	t.Cleanup(p.access.close)
	files, err := p.Files(t.Context(), r.push(imageOf(t, lower, upper)), of)
	must(t, err)
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, []string{"0000_10.yaml", "also.yaml"}) {
		t.Errorf("it has %v", names)
	}
	if string(files["0000_10.yaml"]) != "new" || string(files["also.yaml"]) != "new" {
		t.Errorf("they have %q", files)
	}

	for name, c := range map[string]struct {
		entries []entry
		says    string
	}{
		"no such folder":         {[]entry{{name: "usr/bin/tool", data: "x"}}, "it has no folder /release-manifests"},
		"a file in its place":    {[]entry{{name: "release-manifests", data: "x"}}, "it has no folder /release-manifests"},
		"a link out of it":       {[]entry{{name: "release-manifests/a", symlink: "/etc/passwd"}}, "leads out of /release-manifests"},
		"a link to nothing":      {[]entry{{name: "release-manifests/a", symlink: "b"}}, "leads to nothing"},
		"a pipe among its files": {[]entry{{name: "release-manifests/a", fifo: true}}, "is a device, pipe or socket"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Files(t.Context(), r.push(imageOf(t, c.entries)), of)
			if own, is := errors.AsType[*Error](err); !is || own.Kind != KindContent || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}
