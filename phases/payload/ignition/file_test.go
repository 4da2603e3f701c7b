package ignition

import (
	"testing"

	"pgregory.net/rapid"
)

func TestFileOf_returns_what_Render_was_given(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := drawContent(t)
		config, err := Render(content)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range content.Files {
			got, err := FileOf(config, file.Path)
			if err != nil || string(got) != string(file.Data) {
				t.Fatalf("%s holds %q (%v), want %q", file.Path, got, err, file.Data)
			}
		}
		if got, err := FileOf(config, "/etc/none"); got != nil || err != nil {
			t.Fatalf("there is %q (%v)", got, err)
		}
	})
}

func TestFileOf_files_that_are_fetched_or_compressed_are_none(t *testing.T) {
	for source, more := range map[string]string{"https://a.example.com/b": "", "data:,a": `,"compression":"gzip"`} {
		config := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"` + source + `"` + more + `}}]}}`
		if got, err := FileOf([]byte(config), "/a"); got != nil || more != "" && err != nil {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
	if _, err := FileOf([]byte("{"), "/a"); err == nil {
		t.Error("it is no config")
	}
}
