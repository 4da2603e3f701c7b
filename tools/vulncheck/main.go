// Command vulncheck fails when code of a module calls something that a database of vulnerabilities knows, and nobody has
// said why that may be. Where there is no database it says so, and is content: its last line tells the two apart.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/vuln/scan"
)

// patience is how long the database may take to answer.
const patience = 15 * time.Second

func main() {
	database := flag.String("db", "https://vuln.go.dev", "database: a URL, or a `folder` of OSV files")
	exceptions := flag.String("exceptions", "", "`file` with what is let through")
	tags := flag.String("tags", "", "build tags")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "vulncheck [flags] FOLDER=PATTERN...: the packages of each module's folder are looked at")
		flag.PrintDefaults()
	}
	flag.Parse()
	c := check{out: os.Stdout, database: *database, exceptions: *exceptions, tags: *tags, now: time.Now()}
	if err := c.run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

type check struct {
	out                        io.Writer
	database, exceptions, tags string
	now                        time.Time
}

func (c *check) run(ctx context.Context, targets []string) error {
	allowed, err := readExceptions(c.exceptions)
	if err != nil {
		return err
	}
	database, err := find(ctx, c.database)
	var absent *absentError
	if errors.As(err, &absent) {
		fmt.Fprintf(c.out, "not checked: %v; VULNDB names another one, or a folder of OSV files\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("name at least one FOLDER=PATTERN")
	}
	found := findings{}
	for _, target := range targets {
		folder, pattern, ok := strings.Cut(target, "=")
		if !ok {
			return fmt.Errorf("%q is not of the form FOLDER=PATTERN", target)
		}
		if err := c.scan(ctx, database, folder, pattern, found); err != nil {
			return fmt.Errorf("looking at %s in %s: %w", pattern, folder, err)
		}
	}
	return judge(c.out, found, allowed, c.now)
}

// scan adds what it finds.
func (c *check) scan(ctx context.Context, database, folder, pattern string, found findings) error {
	cmd := scan.Command(ctx, "-C", folder, "-db", database, "-format", "json", "-tags", c.tags, pattern)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &problems, os.Environ()
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(problems.String())))
	}
	return found.read(&out)
}

// absentError is a public database that cannot be reached.
type absentError struct {
	database string
	cause    error
}

func (e *absentError) Error() string {
	return fmt.Sprintf("the database %s cannot be had: %v", e.database, e.cause)
}

func (e *absentError) Unwrap() error { return e.cause }

// find is the URL of a database. A folder that is named has to be there; one across the network may be out of reach.
func find(ctx context.Context, database string) (string, error) {
	if !strings.HasPrefix(database, "https://") && !strings.HasPrefix(database, "http://") {
		path, err := filepath.Abs(strings.TrimPrefix(database, "file://"))
		if err != nil {
			return "", err
		}
		known, err := filepath.Glob(filepath.Join(path, "*.json"))
		if err != nil {
			return "", err
		}
		if known == nil {
			if known, err = filepath.Glob(filepath.Join(path, "index", "db.json")); err != nil || known == nil {
				return "", fmt.Errorf("the database %s has no OSV files", path)
			}
		}
		return (&url.URL{Scheme: "file", Path: path}).String(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, database+"/index/db.json", http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", &absentError{database, err}
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		return "", &absentError{database, errors.Join(fmt.Errorf("it answers %s", answer.Status), err)}
	}
	return database, nil
}
