package tutorial_test

import (
	"slices"
	"strings"
	"testing"
)

func TestRead_takes_a_page_apart(t *testing.T) {
	text := strings.NewReplacer("~~~", fence, "~bin/tutorial/a/b.yaml~", "`bin/tutorial/a/b.yaml`").Replace(`Text.
~~~console first
$ make it
it runs
~~~
Write this to ~bin/tutorial/a/b.yaml~:

~~~yaml
a: 1
~~~
~~~console
$ one
$ two \
>   more
out
~~~
~~~console first
^C
it ends
~~~`)
	steps, err := read(strings.Split(text, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		where := ""
		if s.first {
			where = "first "
		}
		got = append(got, where+s.path+s.content+s.command+"|"+strings.Join(s.shown, "/"))
	}
	want := []string{"first make it|it runs", "bin/tutorial/a/b.yamla: 1\n|", "one|", "two \\\n  more|out", "first ^C|it ends"}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %q, want %q", got, want)
	}
}

func TestRead_refuses_what_nobody_would_run(t *testing.T) {
	for name, page := range map[string]string{
		"a block of another kind":      "```sh\nmake\n```",
		"a file without a name":        "Write this:\n```yaml\na: 1\n```",
		"a file outside of the folder": "Write this to `docs/a.yaml`:\n```yaml\na: 1\n```",
		"output without a command":     "```console\nout\n```",
		"a block without an end":       "```console\n$ make",
	} {
		if steps, err := read(strings.Split(page, "\n")); err == nil {
			t.Errorf("%s is taken for %+v", name, steps)
		}
	}
}

func TestCompare(t *testing.T) {
	for name, row := range map[string]struct {
		shown, printed, diff string
	}{
		"the same":                         {"a\nb", "a\nb", ""},
		"what differs each time":           {"since … (…s)", "since 12:00 (3s)", ""},
		"gaps of another width":            {"NAME  AGE\none   …", "NAME      AGE\none-more  5s", "  NAME  AGE\n+ one-more  5s\n- one   …\n"},
		"gaps alone":                       {"a  b", "a      b  ", ""},
		"any number of lines":              {"a\n…\nz", "a\nb\nc\nz", ""},
		"none of any number":               {"a\n…\nz", "a\nz", ""},
		"a line that the page breaks":      {"a b \\\n  c", "a b c", ""},
		"one that is missing":              {"a\nb", "a", "  a\n- b\n"},
		"one more":                         {"a", "a\nb", "  a\n+ b\n"},
		"another one":                      {"a\nb\nc", "a\nx\nc", "  a\n+ x\n- b\n  c\n"},
		"signs that patterns have":         {"a.c (1)", "abc (1)", "+ abc (1)\n- a.c (1)\n"},
		"what is missing after some lines": {"…\nz", "a\nb", "  …\n- z\n"},
	} {
		c := compare(split(row.shown), split(row.printed))
		diff := ""
		if !c.alike() {
			diff = c.diff()
		}
		if diff != row.diff {
			t.Errorf("%s: the difference is\n%s\nwant\n%s", name, diff, row.diff)
		}
	}
}

func TestRenewed_keeps_what_holds(t *testing.T) {
	c := compare(split("since …\nold\n…\nend"), split("since 12:00\nnew\nx\ny\nend"))
	if got := strings.Join(c.renewed(), "\n"); got != "since …\n…\nend" && got != "since …\nnew\n…\nend" {
		t.Errorf("the page would show\n%s", got)
	}
}
