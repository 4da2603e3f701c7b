package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const troubles = "openshift-troubleshooting.md"

// installing are the machines of OpenShift clusters, and how the part of the page begins that has their states.
var installing = map[string]string{
	"openshiftcontrolplane": "## States\n",
	"openshiftconfig":       "An OpenShiftConfig, of one machine, has fewer:\n",
}

func TestOpenShift_tells_what_to_do_in_every_state_and_which_limit_it_has(t *testing.T) {
	page := text(t, troubles)
	for machine, heading := range installing {
		generated := text(t, "state-diagrams/"+machine+".md")
		limits := limitsOf(generated)
		_, states, _ := strings.Cut(generated, "\n## States\n")
		states, _, _ = strings.Cut(states, "\n## ")
		_, told, found := strings.Cut(page, heading)
		if !found {
			t.Fatalf("%s does not have %q", troubles, heading)
		}
		rows := rowsOf(told)
		for _, state := range rowsOf(states)[1:] {
			name := strings.Trim(state[0], "`")
			if limits[name] == "" {
				limits[name] = "none"
			}
			i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == name })
			if i < 0 || len(rows[i]) != 4 || rows[i][3] == "" {
				t.Errorf("%s does not say what to do in state %s of %s", troubles, name, machine)
			} else if limit := strings.Replace(rows[i][2], "*", "", 1); limit != limits[name] {
				t.Errorf("%s says of %s in %s: %s, and the table says %s", troubles, name, machine, limit, limits[name])
			}
		}
		if len(rows) < 7 {
			t.Errorf("only %d rows were found of %s", len(rows), machine)
		}
	}
}

// limitsOf are the limits in the generated page of a machine, by state: after which time without progress, and where that leads.
func limitsOf(generated string) map[string]string {
	limits := map[string]string{}
	for _, move := range regexp.MustCompile("(?m)^\\| ProgressStalled \\| ([^|]+) \\| `(\\w+)` \\| after (\\w+) without progress").FindAllStringSubmatch(generated, -1) {
		for state := range strings.SplitSeq(move[1], ", ") {
			limits[strings.Trim(state, "`")] = move[3] + ", " + move[2]
		}
	}
	return limits
}

// rowsOf are the cells of the first table in a text.
func rowsOf(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") {
			if strings.HasPrefix(line, "|-") || rows == nil {
				continue
			}
			break
		}
		rows = append(rows, strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | "))
	}
	return rows
}

func TestOpenShift_tells_of_every_condition(t *testing.T) {
	_, told, _ := strings.Cut(text(t, troubles), "## Conditions\n")
	rows := rowsOf(told)
	conditions := stringsOf(t, "machine/openshiftcontrolplane/conditions.go")
	for _, condition := range conditions {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == condition && len(row) == 3 }) {
			t.Errorf("%s does not say what condition %s means", troubles, condition)
		}
	}
	if len(conditions) < 15 {
		t.Errorf("only %d conditions were found", len(conditions))
	}
}

func TestOpenShift_says_of_every_alert_when_it_comes(t *testing.T) {
	_, told, _ := strings.Cut(text(t, troubles), "## Alerts\n")
	rows, count := rowsOf(told), 0
	for machine := range installing {
		_, calls, _ := strings.Cut(text(t, "state-diagrams/"+machine+".md"), "## Who is called\n")
		for _, call := range rowsOf(calls)[1:] {
			count++
			name := strings.Trim(strings.Split(call[0], "]")[0], "[")
			if !slices.ContainsFunc(rows, func(row []string) bool { return strings.HasPrefix(row[0], "["+name+"]") && row[2] == call[2] }) {
				t.Errorf("%s does not say that %s comes after %s", troubles, name, call[2])
			}
		}
	}
	if count < 5 {
		t.Errorf("only %d alerts were found", count)
	}
}

func TestOpenShift_quotes_messages_that_somebody_says(t *testing.T) {
	var source strings.Builder
	for _, file := range filesOf(t, ".go") {
		if strings.HasPrefix(file, "phases/") || strings.HasPrefix(file, "guards/openshift") {
			source.WriteString(read(t, file))
		}
	}
	_, told, _ := strings.Cut(text(t, troubles), "## What it says\n")
	rows := rowsOf(told)
	for _, row := range rows[1:] {
		for part := range strings.SplitSeq(strings.Trim(row[0], "`"), "…") {
			if !strings.Contains(source.String(), strings.TrimSpace(part)) {
				t.Errorf("nobody says %q of %s", part, row[0])
			}
		}
	}
	if len(rows) < 10 {
		t.Errorf("only %d messages were found", len(rows))
	}
}

// asked are the paths of a field of ours that a command prints, and the kind that it prints them of.
var asked = regexp.MustCompile(`kubectl get .*?(openshiftcontrolplane|openshiftconfig)\b.* -o jsonpath='([^']*)'`)

func TestPages_print_fields_of_clusters_that_there_are(t *testing.T) {
	count := 0
	for _, page := range filesOf(t, ".md") {
		for _, command := range asked.FindAllStringSubmatch(read(t, page), -1) {
			for _, path := range regexp.MustCompile(`\{\.([A-Za-z.]+)`).FindAllStringSubmatch(command[2], -1) {
				count++
				if path[1] != "metadata.annotations" && !hasField(t, command[1], strings.Split(path[1], ".")) {
					t.Errorf("%s prints .%s, which %s does not have", page, path[1], command[1])
				}
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d fields were found", count)
	}
}

// hasField says that the definition of a kind has a field.
func hasField(t *testing.T, kind string, path []string) bool {
	t.Helper()
	definition := map[string]any{}
	if err := yaml.Unmarshal([]byte(read(t, "config/crd/cluster.openshift.io_"+kind+"s.yaml")), &definition); err != nil {
		t.Fatal(err)
	}
	at := func(tree any, key string) any { fields, _ := tree.(map[string]any); return fields[key] }
	versions, _ := at(at(definition, "spec"), "versions").([]any)
	for _, version := range versions {
		schema := at(at(version, "schema"), "openAPIV3Schema")
		for _, field := range path {
			schema = at(at(schema, "properties"), field)
		}
		if schema != nil {
			return true
		}
	}
	return false
}

func TestPages_of_clusters_can_be_read_at_a_sitting(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"openshift*.md", "private-capi*.md"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) < 4 {
			t.Fatalf("there are %d pages %s (%v)", len(some), pattern, err)
		}
		pages = append(pages, some...)
	}
	for _, page := range pages {
		if lines := strings.Count(text(t, page), "\n"); lines > 300 {
			t.Errorf("%s has %d lines", page, lines)
		}
	}
}

// text is a page in this folder.
func text(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
