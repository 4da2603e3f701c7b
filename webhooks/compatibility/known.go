package compatibility

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/singleflight"
)

// known keeps what was compiled, and forgets what was not used for longest when it weighs more than its limit. Whoever asks
// for the same at the same time waits for one compilation. Lost with the process, it is compiled again.
type known[T any] struct {
	limit  int
	flight singleflight.Group

	mu     sync.Mutex
	weight int
	order  *list.List // of entry[T], used last in front
	byKey  map[string]*list.Element
}

type entry[T any] struct {
	key    string
	value  T
	weight int
}

func newKnown[T any](limit int) *known[T] {
	return &known[T]{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

// panicError is a panic on its way to who asked, and would have met it.
type panicError struct{ what any }

func (e *panicError) Error() string { return errPanic.Error() }

// get returns what is kept under a key, or makes it. An error is not kept. What is made outlives who asked for it first.
func (k *known[T]) get(ctx context.Context, key string, compile func(context.Context) (value T, weight int, err error)) (T, error) {
	if value, is := k.find(key); is {
		return value, nil
	}
	made := k.flight.DoChan(key, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
		defer cancel()
		defer func() {
			if what := recover(); what != nil { // nobody above recovers here: the process would end
				err = &panicError{what}
			}
		}()
		value, weight, err := compile(ctx)
		if err != nil {
			return nil, err
		}
		k.keep(entry[T]{key, value, weight})
		return value, nil
	})
	var none T
	select {
	case result := <-made:
		var panicked *panicError
		if errors.As(result.Err, &panicked) {
			panic(panicked.what)
		}
		value, is := result.Val.(T)
		if result.Err != nil || !is {
			return none, result.Err
		}
		return value, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func (k *known[T]) find(key string) (value T, is bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	element, is := k.byKey[key]
	if !is {
		return value, false
	}
	k.order.MoveToFront(element)
	found, _ := element.Value.(entry[T])
	return found.value, true
}

func (k *known[T]) keep(e entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, is := k.byKey[e.key]; is {
		return
	}
	k.byKey[e.key] = k.order.PushFront(e)
	k.weight += e.weight
	for k.weight > k.limit && k.order.Len() > 1 {
		eldest := k.order.Back()
		gone, _ := k.order.Remove(eldest).(entry[T])
		delete(k.byKey, gone.key)
		k.weight -= gone.weight
	}
}
