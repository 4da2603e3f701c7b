package render

import (
	"fmt"
	"strings"
	"testing"
)

func TestLimits_what_the_API_would_refuse_says_what_and_how_many(t *testing.T) {
	many := func(count int) Input {
		in := Input{Substitutions: map[string]string{}}
		for i := range count {
			in.Profiles = append(in.Profiles, profile(fmt.Sprintf("p%d", i)))
			in.Substitutions[fmt.Sprintf("V%d", i)] = ""
		}
		for i := range 4 * count {
			name := fmt.Sprintf("n%d.example.com", i)
			in.Unmanaged = append(in.Unmanaged, name, "nowhere."+name)
			in.Profiles[0].Manifests = append(in.Profiles[0].Manifests, "\n---\n"+crdNamed(name, "")...)
		}
		return in
	}
	mustRender(t, many(32))
	found := problems(t, many(33)).Error()
	for _, want := range []string{"33 components", "33 substitutions", "132 unmanaged CustomResourceDefinitions", "at most 32: remove 1", "at most 128: remove 4"} {
		if !strings.Contains(found, want) {
			t.Errorf("want %q in %s", want, found)
		}
	}
}

func TestLimits_skipped_profiles_do_not_count(t *testing.T) {
	var in Input
	for i := range 40 {
		in.Profiles = append(in.Profiles, profile(fmt.Sprintf("p%d", i), "ocpPlatform: AWS"))
	}
	mustRender(t, in)
}

func TestLimits_of_names_and_references(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		change func(*Input)
		want   string // empty: valid
	}{
		"a port, an address and a path":  {func(in *Input) { in.Profiles[0].Image = "10.0.0.1:5000/a/b__c/d--e.f" + digest }, ""},
		"an IPv6 address":                {func(in *Input) { in.Profiles[0].Image = "[fd00::1]:5000/a" + digest }, ""},
		"an image of 447 characters":     {func(in *Input) { in.Profiles[0].Image = "h/" + strings.Repeat("a", 373) + digest }, ""},
		"an image of 448 characters":     {func(in *Input) { in.Profiles[0].Image = "h/" + strings.Repeat("a", 374) + digest }, "448 characters, at most 447"},
		"an image by tag":                {func(in *Input) { in.Profiles[0].Image = "h/a:v1" }, "must have the form"},
		"an image by tag and digest":     {func(in *Input) { in.Profiles[0].Image = "h/a:v1" + digest }, "must have the form"},
		"an image without host":          {func(in *Input) { in.Profiles[0].Image = "a" + digest }, "must have the form"},
		"an image in capitals":           {func(in *Input) { in.Profiles[0].Image = "h/A" + digest }, "must have the form"},
		"a short digest":                 {func(in *Input) { in.Profiles[0].Image = "h/a@sha256:abc" }, "must have the form"},
		"a newline after the digest":     {func(in *Input) { in.Profiles[0].Image = "h/a" + digest + "\n" }, "must have the form"},
		"a profile of 255 characters":    {func(in *Input) { in.Profiles[0].Name = strings.Repeat("p", 255) }, ""},
		"a profile of 256 characters":    {func(in *Input) { in.Profiles[0].Name = strings.Repeat("p", 256) }, "256 characters, at most 255"},
		"a profile with a dot":           {func(in *Input) { in.Profiles[0].Name = "a.b" }, "letters, digits, '-' and '_'"},
		"a profile without name":         {func(in *Input) { in.Profiles[0].Name = "" }, "letters, digits, '-' and '_'"},
		"a key of 255 characters":        {func(in *Input) { in.Substitutions[strings.Repeat("K", 255)] = "" }, ""},
		"a key of 256 characters":        {func(in *Input) { in.Substitutions[strings.Repeat("K", 256)] = "" }, "256 characters, at most 255"},
		"a key that begins with a digit": {func(in *Input) { in.Substitutions["1A"] = "" }, "does not begin with a digit"},
		"a key without characters":       {func(in *Input) { in.Substitutions[""] = "" }, "consists of letters"},
		"a value of 4096 characters":     {func(in *Input) { in.Substitutions["K"] = strings.Repeat("é", 4096) }, ""},
		"a value of 4097 characters":     {func(in *Input) { in.Substitutions["K"] = strings.Repeat("é", 4097) }, "4097 characters, at most 4096"},
		"a value that is not UTF-8":      {func(in *Input) { in.Substitutions["K"] = "\xff" }, "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Profiles: []Profile{profile("core")}, Substitutions: map[string]string{}}
			c.change(&in)
			if c.want == "" {
				mustRender(t, in)
				return
			}
			if found := problems(t, in); len(found) != 1 || !strings.Contains(found[0].Cause, c.want) {
				t.Errorf("want %q, got %v", c.want, found)
			}
		})
	}
}
