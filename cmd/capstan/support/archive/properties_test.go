package archive

import (
	"bytes"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func aName(rt *rapid.T) string {
	return rapid.StringMatching(`[a-zA-Z0-9_-]{1,20}(/[a-zA-Z0-9_-]{1,20}){0,2}(\.[a-z]{1,5})?`).Draw(rt, "name")
}

func TestRead_gives_back_what_was_added(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := NewBuilder(noon, rapid.String().Draw(rt, "version"))
		added := map[string][]byte{}
		for range rapid.IntRange(0, 6).Draw(rt, "parts") {
			name := aName(rt)
			if _, again := added[name]; again || name == indexName {
				continue
			}
			content := rapid.SliceOf(rapid.Byte()).Draw(rt, "content")
			switch why := rapid.String().Draw(rt, "why"); rapid.IntRange(0, 2).Draw(rt, "state") {
			case 0:
				b.Add(name, content)
			case 1:
				b.AddCut(name, content, why)
			default:
				b.Miss(name, why, rapid.String().Draw(rt, "right"))
				content = nil
			}
			added[name] = content
		}
		var out bytes.Buffer
		if err := b.Write(&out); err != nil {
			rt.Fatal(err)
		}
		read, err := Read(iotest.OneByteReader(bytes.NewReader(out.Bytes())))
		if err != nil {
			rt.Fatal(err)
		}
		if len(read.Index.Parts) != len(added) {
			rt.Fatalf("%d parts were added, and %d read", len(added), len(read.Index.Parts))
		}
		for name, want := range added {
			if e, content, found := read.Of(name); !found || !bytes.Equal(content, want) || e.Bytes != len(want) {
				rt.Fatalf("part %s is read as %+v %q", name, e, content)
			}
		}
	})
}

func TestRead_notices_every_changed_byte_of_a_part(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		file := packed(t, some())
		at := rapid.IntRange(0, len(file)-1).Draw(rt, "at")
		file[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		read, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		for name, want := range map[string]string{"b/two.json": "2", "a.json": "one"} {
			if _, content, _ := read.Of(name); string(content) != want {
				rt.Fatalf("part %s is read as %q", name, content)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(packed(f, some()))
	for _, file := range hostile(f) {
		if len(file) < 4<<10 {
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		read, err := Read(bytes.NewReader(file))
		if err != nil {
			if read != nil {
				t.Fatal("an error and an archive")
			}
			return
		}
		total := 0
		for _, e := range read.Index.Parts {
			_, content, _ := read.Of(e.Name)
			total += len(content)
			if !isName(e.Name) || (content == nil) == (e.State != Missing) && len(content) > 0 || e.State != Missing && e.Bytes != len(content) {
				t.Fatalf("%+v with %d bytes", e, len(content))
			}
		}
		if total > MaxRead || len(read.Index.Parts) > MaxEntries {
			t.Fatalf("%d bytes of %d parts", total, len(read.Index.Parts))
		}
	})
}
