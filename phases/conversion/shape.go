package conversion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	// maxObjects bounds the objects of one review. API servers convert at most 10,000 at once, a page of a list that is kept.
	maxObjects = 20_000
	// maxObject bounds each: API servers take requests of 3 MiB, and what one makes of an object may be somewhat larger.
	maxObject = 4 << 20
	// maxRest bounds all else of a request together, in bytes: a user with all his groups has a few hundred KiB at most.
	maxRest = 1 << 20
	// maxEmpty bounds the response of a review that asks, in bytes: API servers send one without content.
	maxEmpty = 1 << 10
)

// checkConversion and checkAdmission refuse, before anything is decoded, what would take many times the memory of its text. An object
// is kept as it is, and takes what its text does; an element of a list of numbers or names takes twenty times as much.
func checkConversion(body []byte) error {
	return checkReview(body, []string{"uid", "desiredAPIVersion", "objects"}, func(key string, value gjson.Result) (kept bool, err error) {
		if key != "objects" || !value.IsArray() {
			return false, nil
		}
		return true, checkObjects(value)
	})
}

func checkAdmission(body []byte) error {
	known := []string{
		"uid", "kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource", "name", "namespace",
		"operation", "userInfo", "object", "oldObject", "dryRun", "options",
	}
	return checkReview(body, known, func(key string, value gjson.Result) (kept bool, err error) {
		if key != "object" && key != "oldObject" && key != "options" {
			return false, nil
		}
		if len(value.Raw) > maxObject {
			return true, fmt.Errorf("its %s has more than %d bytes, which no API server stores", key, maxObject)
		}
		return true, nil
	})
}

func checkObjects(list gjson.Result) error {
	count, large := 0, false
	list.ForEach(func(_, object gjson.Result) bool {
		count++
		large = len(object.Raw) > maxObject
		return count <= maxObjects && !large
	})
	switch {
	case large:
		return fmt.Errorf("object %d has more than %d bytes, which no API server stores", count, maxObject)
	case count > maxObjects:
		return fmt.Errorf("it has more than %d objects; list fewer at once, with a limit", maxObjects)
	}
	return nil
}

// checkReview looks at a review's request key by key. Kept says which values are bounded by themselves.
func checkReview(body []byte, known []string, kept func(key string, value gjson.Result) (bool, error)) error {
	request, err := onlyRequest(body)
	if err != nil {
		return err
	}
	return checkRest(request, "request", known, maxRest, kept)
}

// checkRest bounds together what is not bounded by itself.
func checkRest(of gjson.Result, name string, known []string, most int, kept func(key string, value gjson.Result) (bool, error)) error {
	rest := 0
	return eachKey(of, known, func(key string, value gjson.Result) error {
		bounded, err := kept(key, value)
		if bounded || err != nil {
			return err
		}
		if rest += len(value.Raw); rest > most {
			return fmt.Errorf("its %s has more than %d bytes beside its objects", name, most)
		}
		return nil
	})
}

// onlyRequest is the request of a review that has nothing else but an empty response. Nobody who asks has an answer already.
func onlyRequest(body []byte) (request gjson.Result, err error) {
	err = eachKey(gjson.ParseBytes(body), []string{"kind", "apiVersion", "request", "response"}, func(key string, value gjson.Result) error {
		switch {
		case key == "response" && len(value.Raw) > maxEmpty:
			return fmt.Errorf("it has a response, and is no question")
		case key == "request":
			request = value
		case len(value.Raw) > maxRest:
			return fmt.Errorf("its %.40q has more than %d bytes", key, maxRest)
		}
		return nil
	})
	return request, err
}

// eachKey visits the keys of an object. A known one that is there twice, or in other letters, is refused: the decoder takes it for the
// same, and may add to what it has read before.
func eachKey(object gjson.Result, known []string, visit func(key string, value gjson.Result) error) (err error) {
	if !object.IsObject() {
		return nil
	}
	var seen []string
	object.ForEach(func(name, value gjson.Result) bool {
		key := name.String()
		same := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, key) })
		switch {
		case same < 0:
		case known[same] != key:
			err = fmt.Errorf("it has %.40q, which is written %s", key, known[same])
		case slices.Contains(seen, key):
			err = fmt.Errorf("it has %s twice", key)
		default:
			seen = append(seen, key)
		}
		if err == nil {
			err = visit(key, value)
		}
		return err == nil
	})
	return err
}
