// Command rights compares what operator and checker did in a run of the end-to-end suites with what deploy lets them do. It
// fails on a right that nothing used, and on a request that was refused for want of a right unless the suite asks for that. Its
// argument is a folder with one folder for each suite, by its name, in which that left what it saw.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/harness"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rights FOLDER")
		os.Exit(2)
	}
	problems, err := compare(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stdout, problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "operator and checker used every right that deploy gives them, and lacked none")
}

// compare is all that is wrong with the rights of deploy, after what is in a folder.
func compare(folder string) ([]string, error) {
	uses, err := read(folder)
	if err != nil {
		return nil, err
	}
	objects, err := deploy.Objects()
	if err != nil {
		return nil, err
	}
	var all []right
	for _, account := range []string{harness.ServiceAccount, harness.WebhooksAccount} {
		rights, err := rightsOf(objects, account)
		if err != nil {
			return nil, err
		}
		all = append(all, rights...)
	}
	return problems(all, uses), nil
}

// read reads what the suites left.
func read(folder string) ([]use, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("looking for what the suites left: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("no suite left anything in " + folder)
	}
	var all []use
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading what a suite left: %w", err)
		}
		var uses []harness.Use
		if err := json.Unmarshal(text, &uses); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, u := range uses {
			all = append(all, use{u, filepath.Base(filepath.Dir(file))})
		}
	}
	return all, nil
}
