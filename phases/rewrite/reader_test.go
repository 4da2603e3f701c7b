package rewrite_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// told gives one text for each read, and then what is nil.
type told struct {
	texts []string
	asked int
	err   error
}

func (s *told) Read(p []byte) (int, error) {
	if s.asked == len(s.texts) {
		return 0, s.err
	}
	s.asked++
	return copy(p, s.texts[s.asked-1]), nil
}

func TestAWatchPassesWholeEventsOnAtOnce(t *testing.T) {
	t.Parallel()
	source := &told{texts: []string{
		`{"type":"ADDED","object":{"apiVersion":"cluster.hypersh`, `ift.openshift.io/v1"}}` + "\n",
		"{\"type\":\"DELETED\",\"object\":{}}\n{\"type\":\"ADDED\",\"object\":{}}\n", "{\"type\":\"ADDED\"}\n{\"type\":", "\"DELETED\"}\n",
	}, err: io.EOF}
	reader := rewrite.NewReader(source, rewrite.ToClient, rewrite.MappedKinds, "watch")
	buffer := make([]byte, 4096)
	for _, want := range []struct {
		text  string
		asked int
	}{
		{`{"type":"ADDED","object":{"apiVersion":"cluster.x-k8s.io/v1"}}` + "\n", 2},
		{"{\"type\":\"DELETED\",\"object\":{}}\n{\"type\":\"ADDED\",\"object\":{}}\n", 3},
		{"{\"type\":\"ADDED\"}\n", 4},
		{"{\"type\":\"DELETED\"}\n", 5},
	} {
		n, err := reader.Read(buffer)
		if err != nil || string(buffer[:n]) != want.text || source.asked != want.asked {
			t.Errorf("%q after %d reads, %v", buffer[:n], source.asked, err)
		}
	}
	if _, err := reader.Read(buffer); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// pieces keeps what each write was.
type pieces struct {
	all  []string
	fail error
}

func (p *pieces) Write(b []byte) (int, error) {
	p.all = append(p.all, string(b))
	return len(b), p.fail
}

func TestAWatchIsWrittenByWholeEvents(t *testing.T) {
	t.Parallel()
	first := `{"type":"ADDED","object":{"apiVersion":"cluster.x-k8s.io/v1"}}` + "\n"
	texts := []string{strings.Replace(first[:40], "cluster.x-k8s", "cluster.hypershift.openshift", 1), strings.Replace(first[40:], "x-k8s", "hypershift.openshift", 1), first[:9], first[9:]}
	gone := errors.New("gone")
	for name, row := range map[string]struct {
		end, fail, want error
		pieces          int
	}{
		"to its end":                   {io.EOF, nil, nil, 2},
		"until it breaks":              {gone, nil, gone, 2},
		"until nobody takes it":        {io.EOF, gone, gone, 1},
		"until both, the writer first": {errors.New("later"), gone, gone, 1},
	} {
		reader := rewrite.NewReader(&told{texts: texts, err: row.end}, rewrite.ToClient, rewrite.MappedKinds, "watch")
		to := &pieces{fail: row.fail}
		written, err := reader.WriteTo(to)
		if !errors.Is(err, row.want) || len(to.all) != row.pieces || written != int64(len(strings.Join(to.all, ""))) {
			t.Errorf("%s: %q, %d, %v", name, to.all, written, err)
		}
		if to.all[0] != first {
			t.Errorf("%s: the first event is %q", name, to.all[0])
		}
	}
}

func TestALongEventIsNotHeld(t *testing.T) {
	t.Parallel()
	source := &told{texts: []string{`{"type":"ADDED","object":{"a":"`}, err: errors.New("gone")}
	for range 20 {
		source.texts = append(source.texts, strings.Repeat("x", 4096))
	}
	reader := rewrite.NewReader(source, rewrite.ToClient, rewrite.MappedKinds, "watch")
	buffer := make([]byte, 128<<10)
	n, err := reader.Read(buffer)
	if err != nil || n < 32<<10 || n > 64<<10 || source.asked == len(source.texts) {
		t.Errorf("%d bytes after %d reads, %v", n, source.asked, err)
	}
}

func TestWhatIsCutOffNeverEndsCleanly(t *testing.T) {
	t.Parallel()
	event := `{"type":"ADDED","object":{"apiVersion":"cluster.hypershift.openshift.io/v1","n":[1,true]}}`
	for _, shape := range []string{"object", "watch"} {
		for end := 1; end < len(event); end++ {
			_, err := turn(rewrite.ToClient, rewrite.MappedKinds, shape, event[:end])
			var broken *rewrite.Error
			if !errors.As(err, &broken) || broken.Code != http.StatusBadGateway {
				t.Fatalf("%s %q: %v", shape, event[:end], err)
			}
		}
	}
	if _, err := turn(rewrite.ToClient, rewrite.MappedKinds, "watch", ""); err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfTheSourceIsPassedOn(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	out, err := io.ReadAll(rewrite.NewReader(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(gone)), rewrite.ToServer, rewrite.OtherKinds, "object"))
	if !errors.Is(err, gone) || string(out) != `{"a":` {
		t.Errorf("%q %v", out, err)
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	for direction, bound := range map[rewrite.Direction]struct {
		depth, code int
		says        string
	}{
		rewrite.ToServer: {1000, http.StatusBadRequest, "deeper than 1000"},
		// One object that came in another way must not cut off every list that it is in.
		rewrite.ToClient: {10_000, http.StatusBadGateway, "deeper than 10000"},
	} {
		for _, brackets := range []string{"[]", "{}"} {
			open := brackets[:1]
			if open == "{" {
				open = `{"apiVersion":`
			}
			document := func(depth int) string {
				return strings.Repeat(open, depth-1) + brackets + strings.Repeat(brackets[1:], depth-1)
			}
			if _, err := turn(direction, rewrite.MappedKinds, "object", document(bound.depth)); err != nil {
				t.Error(err)
			}
			_, err := turn(direction, rewrite.MappedKinds, "object", document(bound.depth+1))
			var refused *rewrite.Error
			if !errors.As(err, &refused) || refused.Code != bound.code || !strings.Contains(refused.Text, bound.says) {
				t.Error(err)
			}
		}
	}
}

func TestAGroupBehindAnEscapeIsRewrittenWhereItIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`\u00e9.`, `\u00e9\u00e9.`, `é\u0061.`, `\ud83d\ude00.`, `\ud83d.`, `\u00e9é\u002e`, `\"\n.`} {
		for _, rest := range []string{"", strings.Repeat("x", 100<<10)} {
			text := `{"metadata":{"name":"` + name + rewrite.Private + `"},"rest":"` + rest + `"}`
			got, err := turn(rewrite.ToClient, rewrite.Definitions, "object", text)
			if want := strings.Replace(text, rewrite.Private, rewrite.Standard, 1); err != nil || got != want {
				t.Errorf("%s becomes %.200s, %v", name, got, err)
			}
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("out of range") }

func TestAPanicIsAnErrorOfTheBody(t *testing.T) {
	t.Parallel()
	for direction, code := range map[rewrite.Direction]int{rewrite.ToServer: http.StatusBadRequest, rewrite.ToClient: http.StatusBadGateway} {
		source := io.MultiReader(strings.NewReader(`{"a":`), panicking{})
		_, err := io.ReadAll(rewrite.NewReader(source, direction, rewrite.OtherKinds, "object"))
		var broken *rewrite.Error
		if !errors.As(err, &broken) || broken.Code != code || !strings.Contains(broken.Text, "out of range") {
			t.Error(err)
		}
	}
}

func TestARootOfThePlatformIsRefusedByItsRightName(t *testing.T) {
	t.Parallel()
	for _, group := range []string{rewrite.Private, rewrite.Native} {
		for shape, text := range map[string]string{
			"object": `{"apiVersion":"infrastructure.` + group + `/v1"}`,
			"patch":  `[{"op":"replace","path":"/apiVersion","value":"infrastructure.` + group + `/v1"}]`,
		} {
			_, err := turn(rewrite.ToServer, rewrite.MappedKinds, shape, text)
			var refused *rewrite.Error
			if !errors.As(err, &refused) || refused.Code != http.StatusBadRequest || !strings.HasSuffix(refused.Text, "use group infrastructure."+rewrite.Standard) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestGroupsWithAnotherPrefixAreCounted(t *testing.T) {
	t.Parallel()
	text := `{"a":{"apiVersion":"operator.cluster.x-k8s.io/v1"},"b":{"apiGroup":"cluster.x-k8s.io"}}`
	reader := rewrite.NewReader(strings.NewReader(text), rewrite.ToServer, rewrite.MappedKinds, "object")
	out, err := io.ReadAll(reader)
	if err != nil || reader.OtherPrefixes() != 1 || !bytes.Contains(out, []byte(`"operator.cluster.x-k8s.io/v1"`)) {
		t.Error(string(out), reader.OtherPrefixes(), err)
	}
}

func TestALongStringIsNoGroup(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10)
	text := `{"apiVersion":"` + long + `","` + long + `":{"apiVersion":"cluster.x-k8s.io"},"n":` + strings.Repeat("1", 100<<10) + `}`
	want := strings.Replace(text, `"cluster.x-k8s.io"`, `"cluster.hypershift.openshift.io"`, 1)
	if got, err := turn(rewrite.ToServer, rewrite.MappedKinds, "object", text); err != nil || got != want {
		t.Error(len(got), err)
	}
}

func TestALongMessageIsRewrittenWithoutHoldingIt(t *testing.T) {
	t.Parallel()
	run := strings.Repeat("x", 100<<10) + ".cluster.hypershift.openshift.io"
	status := `{"kind":"Status","apiVersion":"v1","message":"` + strings.Repeat("machines.cluster.hypershift.openshift.io ", 5000) + run + `"}`
	want := strings.ReplaceAll(status, "machines.cluster.hypershift", "machines.cluster.x-k8s.io#")
	want = strings.ReplaceAll(want, "#.openshift.io", "")
	if got, err := turn(rewrite.ToClient, rewrite.OtherKinds, "object", status); err != nil || got != want {
		t.Error(len(got), len(want), err)
	}
}

func TestAWatchAtRestHoldsLittle(t *testing.T) {
	t.Parallel()
	event := `{"type":"ADDED","object":{"a":"` + strings.Repeat("x", 40<<10) + `"}}` + "\n"
	reader := rewrite.NewReader(&endless{text: []byte(event)}, rewrite.ToClient, rewrite.MappedKinds, "watch")
	if _, err := io.ReadFull(reader, make([]byte, 3*len(event))); err != nil {
		t.Fatal(err)
	}
	if held := reader.Held(); held > 2<<10 {
		t.Errorf("%d bytes are held between events", held)
	}
}

func TestABodyThatWasReadHoldsNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a document":            machine("m"),
		"a long one":            `{"a":"` + strings.Repeat("x", 300<<10) + `"}`,
		"one that is none":      `{"a":"` + strings.Repeat("x", 80<<10) + "\n",
		"one that is not there": "",
	} {
		for shape, end := range map[string]error{"object": io.EOF, "watch": errors.New("gone")} {
			source := io.MultiReader(strings.NewReader(text), iotest.ErrReader(end))
			reader := rewrite.NewReader(source, rewrite.ToClient, rewrite.MappedKinds, shape)
			_, _ = io.ReadAll(reader)
			if held := reader.Held(); held > 0 {
				t.Errorf("%s, as %s: %d bytes are held", name, shape, held)
			}
		}
	}
}

// It is not parallel, since it counts what the process allocates. Buffers are used again, but for some that the race detector has
// thrown away: fewer than there are events.
func TestAnEventAllocatesNothing(t *testing.T) {
	const events = 10
	for _, class := range []rewrite.Class{rewrite.MappedKinds, rewrite.OtherKinds} {
		text := []byte(strings.Repeat(`{"type":"MODIFIED","object":`+machine("m")+"}\n", events))
		reader := rewrite.NewReader(&endless{text: text}, rewrite.ToClient, class, "watch")
		piece := make([]byte, 64<<10)
		allocated := testing.AllocsPerRun(50, func() {
			for seen := 0; seen < events; {
				n, err := reader.Read(piece)
				if err != nil {
					t.Fatal(err)
				}
				seen += bytes.Count(piece[:n], []byte("\n"))
			}
		})
		if allocated >= events {
			t.Errorf("%s: %d events allocate %v times", class, events, allocated)
		}
	}
}

func TestAListIsReadInBoundedMemory(t *testing.T) {
	t.Parallel()
	item := `,` + machine("m")
	list := io.MultiReader(
		strings.NewReader(`{"kind":"MachineList","items":[`+machine("m")),
		io.LimitReader(&endless{text: []byte(item)}, int64(2000*len(item))),
		strings.NewReader(`]}`),
	)
	reader := rewrite.NewReader(list, rewrite.ToClient, rewrite.MappedKinds, "list")
	buffer := make([]byte, 32<<10)
	for {
		_, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if held := reader.Held(); held > 200<<10 {
			t.Fatalf("%d bytes are held", held)
		}
	}
}
