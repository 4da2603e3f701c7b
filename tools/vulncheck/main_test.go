package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// look runs the command on the module in testdata, and returns its output and its last line.
func look(t *testing.T, database, exceptions string) (out, last string, err error) {
	t.Helper()
	file := ""
	if exceptions != "" {
		file = filepath.Join(t.TempDir(), "exceptions.txt")
		if err := os.WriteFile(file, []byte(exceptions), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	c := check{out: &text, database: database, exceptions: file, now: today}
	err = c.run(t.Context(), []string{"testdata/called=./..."})
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	return text.String(), lines[len(lines)-1], err
}

func TestVulncheck_fails_on_what_is_called_and_on_nothing_else(t *testing.T) {
	out, _, err := look(t, "testdata/db", "")
	if err == nil || err.Error() != "1 vulnerabilities are called and not excepted" {
		t.Errorf("what is called gives %v", err)
	}
	for _, want := range []string{
		"GO-2026-0001 in stdlib@", "is CALLED: Something in path", "path.Clean\n  from example.com/called.clean\n  from example.com/called.main\n  raise it to",
		"GO-2026-0002 in stdlib@", "is not called",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestVulncheck_an_exception_counts_until_its_day(t *testing.T) {
	called := findings{"GO-2026-0001": {module: "stdlib@v1.26.8", called: []string{"path.Clean"}}, "GO-2026-0002": {module: "stdlib@v1.26.8"}}
	for name, c := range map[string]struct {
		id, until, want string
		passes          bool
	}{
		"the day before it ends": {"GO-2026-0001", "2026-11-23", "let through until 2026-11-23: the name comes from us\n", true},
		"the day it ends":        {"GO-2026-0001", "2026-11-22", "its exception ended on 2026-11-22", false},
		"one of what is unknown": {"GO-2026-0002", "2027-01-01", "GO-2026-0002 is not needed", false},
	} {
		file := filepath.Join(t.TempDir(), "exceptions.txt")
		if err := os.WriteFile(file, []byte("# why\n\n"+c.id+" "+c.until+" the name comes from us\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		allowed, err := readExceptions(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := judge(&out, called, allowed, today); (err == nil) != c.passes || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s gives %v and\n%s", name, err, &out)
		}
	}
}

func TestVulncheck_refuses_exceptions_without_day_or_reason(t *testing.T) {
	for _, line := range []string{"GO-2026-0001", "GO-2026-0001 2026-11-23", "GO-2026-0001 soon it is fixed", "all 2026-11-23 no", "GO-2026-0001 2026-11-23 a\nGO-2026-0001 2026-11-23 b"} {
		if _, _, err := look(t, "testdata/db", line); err == nil || !strings.Contains(err.Error(), "exceptions.txt:") {
			t.Errorf("%q gives %v", line, err)
		}
	}
}

func TestVulncheck_without_a_database_says_not_checked(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	for name, database := range map[string]string{"one that has no index": gone.URL, "one out of reach": "http://127.0.0.1:1"} {
		if _, last, err := look(t, database, ""); err != nil || !strings.HasPrefix(last, "not checked: ") {
			t.Errorf("%s gives %q and %v", name, last, err)
		}
	}
}

func TestVulncheck_a_folder_that_is_named_must_have_a_database(t *testing.T) {
	if _, _, err := look(t, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "has no OSV files") {
		t.Errorf("an empty folder gives %v", err)
	}
}

func TestVulncheck_the_exceptions_of_this_tree_can_be_read(t *testing.T) {
	if _, err := readExceptions("exceptions.txt"); err != nil {
		t.Error(err)
	}
}
