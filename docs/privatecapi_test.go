package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// metered are the files that make metrics of private types, and what the names in them begin with where they are put together.
var metered = map[string]string{
	"controllers/privatecapi/meters.go": "", "phases/conversion/metrics.go": "", "phases/apiproxy/metrics.go": "hypershift_api_proxy_",
}

// naming finds the names of metrics in these files.
var naming = regexp.MustCompile(`"(hypershift_[a-z_]+)"|\bname\("([a-z_]+)"`)

func TestPrivateCAPI_tells_of_every_metric_and_of_no_other(t *testing.T) {
	_, told, _ := strings.Cut(text(t, "private-capi-reference.md"), "\n## Metrics\n")
	var listed, served []string
	for _, row := range rowsOf(told)[1:] {
		listed = append(listed, strings.Trim(row[0], "`"))
		if len(row) != 3 || row[2] == "" {
			t.Errorf("the page does not say what %s is", row[0])
		}
	}
	for file, prefix := range metered {
		for _, found := range naming.FindAllStringSubmatch(read(t, file), -1) {
			if found[1] != "" {
				served = append(served, found[1])
			} else {
				served = append(served, prefix+found[2])
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(served)
	if !slices.Equal(listed, served) || len(served) < 14 {
		t.Errorf("the page lists %q, and %q are served", listed, served)
	}
}

// What a mistake at night would cost most has to stand where it is looked for.
func TestPages_of_hosted_clusters_have_no_command_that_takes_their_definitions_or_routes_away(t *testing.T) {
	count := 0
	for _, page := range filesOf(t, ".md") {
		if !strings.HasPrefix(page, "docs/runbooks/CapstanPrivateCAPI") {
			continue
		}
		count++
		if strings.Contains(read(t, page), "-k deploy/privatecapi") {
			t.Errorf("%s has people apply all of deploy/privatecapi, whose image and routes are placeholders", page)
		}
	}
	if count < 10 {
		t.Errorf("only %d pages were found", count)
	}
}
