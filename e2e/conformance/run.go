package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// mostAgain is how many specs may be run a second time: more have a cause that is in no spec.
	mostAgain = 40
	// tries is how often a suite is begun.
	tries = 3
)

// runner runs suites.
type runner struct {
	// bin is the folder of binaries, and logs that of the logs, which are kept.
	bin, logs string
	started   time.Time
}

// compare runs a suite on both sides, one after the other, and once more by the proxy what was lost there.
func (r *runner) compare(ctx context.Context, s suite) (result, error) {
	begun := time.Now()
	one := result{suite: s.name}
	var err error
	if one.direct, err = r.run(ctx, s, "direct", nil, nil); err != nil {
		return one, err
	}
	if one.proxied, err = r.run(ctx, s, "proxy", nil, &one); err != nil {
		return one, err
	}
	if lost := one.lost(); len(lost) > 0 && len(lost) <= mostAgain {
		r.say(s, "%d passed direct and not by the proxy; they are run again, alone", len(lost))
		if one.again, err = r.run(ctx, s, "again", s.only(lost), &one); err != nil {
			return one, err
		}
	}
	one.took = time.Since(begun)
	return one, nil
}

// run is one run of a suite, named in its logs. Where it counts what the proxy was asked, it is by the proxy. Suites give a server
// seconds to take in their definitions, which on a busy machine is not always enough: one that ends before its first spec has ended is
// begun anew.
func (r *runner) run(ctx context.Context, s suite, name string, more []string, counted *result) (found outcomes, err error) {
	for range tries {
		if found, err = r.once(ctx, s, name, more, counted); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return found, nil
}

func (r *runner) once(ctx context.Context, s suite, name string, more []string, counted *result) (outcomes, error) {
	logs := filepath.Join(r.logs, s.name+"-"+name+"-")
	p, err := newPlace(ctx, r.bin, s, counted != nil, logs)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", s.name, name, err)
	}
	defer func() {
		// What has to be killed on a busy machine takes nothing from what was seen.
		if err := p.stop(); err != nil {
			r.say(s, "%s: %v", name, err)
		}
	}()
	command, report, err := r.command(ctx, s, p, logs, more)
	if err != nil {
		return nil, err
	}
	output := logs + "suite.log"
	process, err := p.plane.Spawn(s.name, output, command...)
	if err != nil {
		return nil, err
	}
	r.say(s, "%s: running; see %s", name, output)
	select {
	case <-process.Exited():
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), process.Stop(grace))
	case <-time.After(s.timeout + time.Minute):
		process.Kill()
	}
	found, err := read(s, output, report)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", s.name, name, errors.Join(err, process.Failure()))
	}
	r.say(s, "%s: %d passed, %d failed, %d skipped", name, found.count(passed), found.count(failed), found.count(skipped))
	if counted == nil {
		return found, nil
	}
	return found, counted.count(ctx, p.proxy.Health)
}

// command is how a suite is run in a place, and where its report will be. What is run of it is said by more, or by the suite.
func (r *runner) command(ctx context.Context, s suite, p *place, logs string, more []string) (command []string, report string, err error) {
	folder, err := r.folder(ctx, s, p)
	if err != nil {
		return nil, "", err
	}
	put := strings.NewReplacer("{kubeconfig}", p.kubeconfig, "{kubectl}", filepath.Join(r.bin, "kubectl"))
	command = []string{
		"env", "-C", folder, "KUBECONFIG=" + p.kubeconfig, "USE_EXISTING_CLUSTER=true",
		filepath.Join(r.bin, "conformance", s.name), "-test.timeout=" + s.timeout.String(),
	}
	if s.ginkgo {
		report = logs + "report.json"
		command = append(command, "--ginkgo.json-report="+report, "--ginkgo.no-color", "--ginkgo.v", "--ginkgo.timeout="+s.timeout.String())
	} else {
		command = append(command, "-test.v=test2json")
	}
	for _, argument := range s.arguments {
		command = append(command, put.Replace(argument))
	}
	if len(more) == 0 && s.focus != "" {
		more = []string{"--ginkgo.focus=" + s.focus} // with another one, ginkgo would run the specs of both
	}
	return append(command, more...), report, nil
}

// folder is where go test would run the suite's package, in a copy of its module for this place: some suites write there, and what go keeps
// of modules must stay what their sums say.
func (r *runner) folder(ctx context.Context, s suite, p *place) (string, error) {
	if s.pkg == "" {
		return r.logs, nil
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-C", filepath.Join(filepath.Dir(r.bin), "e2e", "conformance", "suites", s.module), "-f", "{{.Module.Dir}}\n{{.Dir}}", s.pkg)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("finding the folder of %s: %w", s.pkg, err)
	}
	module, folder, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	below, err := filepath.Rel(module, folder)
	if err != nil {
		return "", fmt.Errorf("finding the folder of %s: %w", s.pkg, err)
	}
	own := filepath.Join(p.plane.Dir(), "module")
	if err := os.CopyFS(own, os.DirFS(module)); err != nil {
		return "", fmt.Errorf("copying the module of %s: %w", s.pkg, err)
	}
	return filepath.Join(own, below), nil
}

// read reads what a suite said.
func read(s suite, output, report string) (outcomes, error) {
	name, parse := output, readTesting
	if s.ginkgo {
		name, parse = report, readGinkgo
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parse(file)
}

// count asks the proxy what it was asked.
func (r *result) count(ctx context.Context, health string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, health+"/metrics", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the proxy for its metrics: %w", err)
	}
	defer answer.Body.Close()
	return r.read(answer.Body)
}

// read adds up the proxy's metrics.
func (r *result) read(metrics io.Reader) error {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		name, value, is := cutLast(lines.Text(), " ")
		if !is || !strings.HasPrefix(name, "hypershift_api_proxy_requests_total{") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("reading the proxy's metrics: %w", err)
		}
		r.requests += int(n)
		if strings.Contains(name, `class="mapped"`) {
			r.translated += int(n)
		}
	}
	return lines.Err()
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// say prints a line of progress, never onto standard output.
func (r *runner) say(s suite, format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%4.0fs %s %s\n", time.Since(r.started).Seconds(), s.name, fmt.Sprintf(format, values...))
}
