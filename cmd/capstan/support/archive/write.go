package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// What an entry takes in a tar file besides its content, and the end of the file.
const (
	block   = 512
	ending  = 2 * block
	perPart = 2 * block
	// slack is what packing may add to what cannot be packed.
	slack = 64 << 10
)

// Builder puts an archive together. What there is no room for is cut or missing, and told so.
type Builder struct {
	index   Index
	content map[string][]byte
	room    int
}

// NewBuilder begins an archive that is made at a moment by a version of capstan.
func NewBuilder(at time.Time, capstan string) *Builder {
	return &Builder{
		index:   Index{Format: Format, At: at.UTC().Truncate(time.Second), Capstan: message.Shorten(capstan, maxName), Parts: []Entry{}},
		content: map[string][]byte{}, room: MaxFile - maxIndex - ending - slack,
	}
}

// takes is the room that a part takes.
func takes(content []byte) int { return perPart + (len(content)+block-1)/block*block }

// Add adds a part. A name that was added before, or is no name of a part, is a fault of the program.
func (b *Builder) Add(name string, content []byte) {
	b.add(Entry{Name: name, State: Whole}, content)
}

// AddCut adds what is there of a part, and says what is not.
func (b *Builder) AddCut(name string, content []byte, why string) {
	b.add(Entry{Name: name, State: Cut, Why: why}, content)
}

// AddText adds a part of lines, of which the last count most: those that there is no room for are cut off in front. why says what
// was cut already, empty for nothing.
func (b *Builder) AddText(name string, content []byte, why string) {
	if most := b.room - perPart - block; len(content) > most && most > 0 {
		content = Last(content, most)
		why = cmp.Or(why, fmt.Sprintf("an archive has %d MiB at most: these are the last lines", MaxFile>>20))
	}
	if why == "" {
		b.Add(name, content)
		return
	}
	b.AddCut(name, content, why)
}

// Miss tells of a part that is not there, and of the right that was missing, empty for none.
func (b *Builder) Miss(name, why, right string) {
	b.list(Entry{Name: name, State: Missing, Why: why, Right: right})
}

func (b *Builder) add(e Entry, content []byte) {
	if takes(content) > b.room {
		b.Miss(e.Name, fmt.Sprintf("there is no room for its %d bytes: an archive has %d MiB at most", len(content), MaxFile>>20), "")
		return
	}
	b.room -= takes(content)
	e.Bytes, e.SHA256 = len(content), digest(content)
	b.list(e)
	b.content[e.Name] = content
}

func (b *Builder) list(e Entry) {
	if !isName(e.Name) || e.Name == indexName || slices.ContainsFunc(b.index.Parts, func(o Entry) bool { return o.Name == e.Name }) {
		panic("archive: " + e.Name + " is no name of a part, or was added before")
	}
	e.Why, e.Right = message.Shorten(e.Why, maxWhy), message.Shorten(e.Right, maxWhy)
	b.index.Parts = append(b.index.Parts, e)
}

// Index is what the archive says so far.
func (b *Builder) Index() Index { return b.index }

// Write writes the archive: the index first, then the parts by name.
func (b *Builder) Write(to io.Writer) error {
	index, err := json.MarshalIndent(b.index, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	if len(index) > maxIndex {
		return fmt.Errorf("the index of %d parts takes %d bytes, and may take %d", len(b.index.Parts), len(index), maxIndex)
	}
	packed := gzip.NewWriter(to) // names no file and no time
	files := tar.NewWriter(packed)
	if err := b.file(files, indexName, append(index, '\n')); err != nil {
		return err
	}
	names := make([]string, 0, len(b.content))
	for name := range b.content {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := b.file(files, name, b.content[name]); err != nil {
			return err
		}
	}
	if err := errors.Join(files.Close(), packed.Close()); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}

func (b *Builder) file(files *tar.Writer, name string, content []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o600, ModTime: b.index.At, Format: tar.FormatUSTAR}
	err := files.WriteHeader(header)
	if err == nil {
		_, err = files.Write(content)
	}
	if err != nil {
		return fmt.Errorf("writing part %s: %w", name, err)
	}
	return nil
}

// Create writes the archive to a new file that only its owner may read. A file that is there already, or a link, is an error, and
// stays as it is; of one that cannot be written whole nothing is left.
func (b *Builder) Create(name string) error {
	var packed bytes.Buffer
	if err := b.Write(&packed); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making the archive: %w", err)
	}
	_, err = file.Write(packed.Bytes())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the archive: %w", errors.Join(err, os.Remove(name)))
	}
	return nil
}

// Last are the last lines of a text, of so many bytes at most.
func Last(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	before, text := text[:len(text)-most], text[len(text)-most:]
	if end := bytes.IndexByte(text, '\n'); end >= 0 && !bytes.HasSuffix(before, []byte("\n")) {
		return text[end+1:]
	}
	return text
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
