package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// item is the part of an object that the bench ever asks for.
type item struct {
	Metadata struct {
		Name            string
		ResourceVersion string
		Generation      int64
		Annotations     map[string]string
	}
	Rules  []json.RawMessage
	Spec   json.RawMessage
	Status struct {
		ObservedGeneration        int64
		Replicas, UpdatedReplicas int64
		Conditions                []condition
		Extension                 map[string]json.RawMessage
	}
}

// watch shows every object of a collection, as it is and whenever it changes,
// until the function says that it has seen enough. When the API server ends the
// watch, which it does with readers that it finds too slow, it begins anew.
func (c *bare) watch(ctx context.Context, collection string, query url.Values, enough func(item) bool) error {
	query.Set("watch", "true")
	for {
		seen, err := c.watchOnce(ctx, collection+"?"+query.Encode(), enough)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("watching %s: %w", collection, err)
		case seen:
			return nil
		}
	}
}

// watchOnce says no when the watch ended before enough was seen.
func (c *bare) watchOnce(ctx context.Context, address string, enough func(item) bool) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+address, http.NoBody)
	if err != nil {
		return false, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, errors.New(response.Status)
	}
	decoder := json.NewDecoder(response.Body)
	for {
		var event struct {
			Type   string
			Object item
		}
		switch err := decoder.Decode(&event); {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case event.Type == "ERROR":
			return false, errors.New("the API server reports an error")
		case enough(event.Object):
			return true, nil
		}
	}
}
