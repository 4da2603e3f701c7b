package acts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// Read reads the text of an act's annotation. The error says what is wrong with its form; whether it counts now says
// [Act.Void].
func Read(name, text string) (Act, error) {
	form, known := FormOf(name)
	if !known {
		return Act{}, fmt.Errorf("there is no act %s", message.Shorten(name, MaxLine))
	}
	if len(text) > MaxBytes {
		return Act{}, fmt.Errorf("it has %d bytes, and may have %d", len(text), MaxBytes)
	}
	r := &reader{act: Act{Name: name}}
	for i, line := range strings.Split(text, "\n") {
		if err := r.take(form, line); err != nil {
			return Act{}, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := r.whole(form); err != nil {
		return Act{}, err
	}
	return r.act, nil
}

// reader is an act of which some lines were read; heads counts those before the items.
type reader struct {
	act   Act
	heads int
}

// heads are the keys before the items, in their order. That of the end is left out where something else ends the act.
var heads = []string{"by", "at", "until", "reason"}

// take reads one more line.
func (r *reader) take(form Form, line string) error {
	key, value, is := strings.Cut(line, ": ")
	switch {
	case len(line) > MaxLine:
		return fmt.Errorf("it has %d bytes, and may have %d", len(line), MaxLine)
	case message.Line(line) != line:
		return errors.New("it has what cannot be printed")
	case !is:
		return errors.New(`it is not as "key: value" is`)
	case strings.TrimSpace(value) != value || value == "":
		return fmt.Errorf("%s says nothing, or begins or ends with a space", message.Shorten(key, MaxLine))
	case r.heads == len(heads):
		return r.item(form, Said{key, value})
	}
	if heads[r.heads] == "until" && key != "until" {
		r.heads++
	}
	if heads[r.heads] != key {
		return fmt.Errorf("it says %s, where %s stands", message.Shorten(key, MaxLine), heads[r.heads])
	}
	r.heads++
	return r.head(key, value)
}

func (r *reader) head(key, value string) (err error) {
	switch key {
	case "by":
		r.act.By = value
	case "at":
		r.act.At, err = readTime(value)
	case "until":
		r.act.Until, err = readTime(value)
	case "reason":
		r.act.Reason = value
	}
	return err
}

// readTime reads a moment as it is written: in UTC and in whole seconds.
func readTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UTC().Format(time.RFC3339) != text {
		return time.Time{}, fmt.Errorf("%s is no time such as 2026-01-31T12:00:00Z", message.Shorten(text, MaxLine))
	}
	return at.UTC(), nil
}

// item reads an item, which has to stand in its place.
func (r *reader) item(form Form, said Said) error {
	if len(r.act.Items) == MaxItems {
		return fmt.Errorf("there are more than %d items", MaxItems)
	}
	at := slices.IndexFunc(form.Items, func(i Item) bool { return i.Key == said.Key })
	if at < 0 {
		return fmt.Errorf("act %s has no item %s", form.Name, message.Shorten(said.Key, MaxLine))
	}
	item := form.Items[at]
	if !compiled[item.Pattern].MatchString(said.Value) {
		return fmt.Errorf("it does not say what %s is said of in the form that it needs", said.Key)
	}
	for _, before := range r.act.Items {
		place := slices.IndexFunc(form.Items, func(i Item) bool { return i.Key == before.Key })
		if place > at || place == at && item.Once || before == said {
			return fmt.Errorf("%s does not stand in its place, or stands there twice", said.Key)
		}
	}
	r.act.Items = append(r.act.Items, said)
	return nil
}

// whole says what is missing, or stands beside what it excludes.
func (r *reader) whole(form Form) error {
	if r.heads < len(heads) {
		missing := heads[r.heads]
		if missing == "until" && form.Longest == 0 {
			missing = "reason"
		}
		return fmt.Errorf("it does not say %s", missing)
	}
	ends := !r.act.Until.IsZero()
	for _, item := range form.Items {
		said := slices.ContainsFunc(r.act.Items, func(s Said) bool { return s.Key == item.Key })
		switch {
		case item.Instead && said && ends:
			return fmt.Errorf("it says both until and %s, of which one ends it", item.Key)
		case item.Instead && said:
			return nil
		case !item.Instead && !said:
			return fmt.Errorf("it does not say %s", item.Key)
		}
	}
	lasts := r.act.Until.Sub(r.act.At)
	switch {
	case form.Longest == 0 && ends:
		return errors.New("it says until, and no time ends it")
	case form.Longest > 0 && !ends:
		return errors.New("it does not say until")
	case ends && (lasts <= 0 || lasts > form.Longest):
		return fmt.Errorf("it lasts for %s, and may for %s", message.Duration(lasts), message.Duration(form.Longest))
	}
	return nil
}
