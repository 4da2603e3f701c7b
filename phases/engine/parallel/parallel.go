// Package parallel works on several things at the same time.
package parallel

import "golang.org/x/sync/errgroup"

// Each works on things, on at most so many of them at the same time.
func Each[T any](atOnce int, things []T, work func(i int, thing T)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, thing := range things {
		group.Go(func() error {
			work(i, thing)
			return nil
		})
	}
	_ = group.Wait() // whoever works keeps its errors
}
