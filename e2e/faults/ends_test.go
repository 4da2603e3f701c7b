package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// differ is nil when the objects and what they say are the same.
func differ(state, want harness.State) error {
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(state)) {
		switch wanted, known := want[key]; {
		case !known:
			problems = append(problems, fmt.Errorf("%s is left behind", key))
		case wanted.Digest != state[key].Digest:
			problems = append(problems, fmt.Errorf("%s is not as it should be", key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, there := state[key]; !there {
			problems = append(problems, fmt.Errorf("%s is missing", key))
		}
	}
	return errors.Join(problems...)
}

// lost is nil when no object was made anew.
func lost(state, before harness.State) error {
	var problems []error
	for key, now := range state {
		if then, was := before[key]; was && then.UID != now.UID {
			problems = append(problems, fmt.Errorf("%s was made anew", key))
		}
	}
	return errors.Join(problems...)
}

// marked is nil when every object says that the revision has applied it.
func marked(state harness.State, number int64) error {
	var problems []error
	for key, now := range state {
		if now.Revision != fmt.Sprint(number) {
			problems = append(problems, fmt.Errorf("%s says that revision %q has applied it", key, now.Revision))
		}
	}
	return errors.Join(problems...)
}

// inventories is nil when there is exactly that of one revision.
func inventories(ctx context.Context, number int64) error {
	list := &corev1.ConfigMapList{}
	if err := env.Client.List(ctx, list, client.InNamespace(harness.OperatorNamespace)); err != nil {
		return err
	}
	var names []string
	for _, found := range list.Items {
		if strings.HasPrefix(found.Name, "capstan-inventory-") {
			names = append(names, found.Name)
		}
	}
	if want := fmt.Sprintf("capstan-inventory-%d", number); len(names) != 1 || names[0] != want {
		return fmt.Errorf("the inventories are %v, want %s alone", names, want)
	}
	return nil
}
