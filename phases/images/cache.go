package images

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	cacheHeader = "capstan provider image %s, sha256 of the tar that follows: %x\n"
	cacheEnding = ".image"
	// cacheFileMost is more than the files of an image, their names and the tar around them have.
	cacheFileMost = 256 << 20
	cacheTemp     = "capstan-new-"
	// evidenceFile is the file of an image with what it was judged by. No profile has such a name.
	evidenceFile = "signatures.json"
)

// cache keeps the profiles of images on disk, a file per digest and architecture: a line with a checksum, then a tar
// with the files of the profiles and the signatures that the image was judged by. The checksum detects damage. Against forgery it helps that the folder and the files must
// be of the user who runs this process; see owned.
type cache struct {
	dir  string // empty: no cache
	arch string
	most int64

	mu      sync.Mutex
	wanted  map[string]bool
	spared  map[string]bool
	unsaved map[string]error // by file name
}

func (c *cache) name(ref Ref) string {
	return strings.ReplaceAll(ref.Digest(), ":", "-") + "-linux-" + c.arch + cacheEnding
}

// open removes files that a killed process left half written.
func (c *cache) open() {
	if !c.usable() {
		return
	}
	leftovers, _ := filepath.Glob(filepath.Join(c.dir, cacheTemp+"*"))
	for _, leftover := range leftovers {
		_ = os.RemoveAll(leftover)
	}
}

// usable is false for a folder in which others could have put something; storing an image reports it.
func (c *cache) usable() bool { return c.dir != "" && ownFolder(c.dir) == nil }

// want names the images that must stay.
func (c *cache) want(refs []Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = c.names(refs)
	for name := range c.unsaved {
		if !c.wanted[name] {
			delete(c.unsaved, name)
		}
	}
}

// spare names further images that must stay if they are there.
func (c *cache) spare(refs []Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spared = c.names(refs)
}

func (c *cache) names(refs []Ref) map[string]bool {
	names := make(map[string]bool, len(refs))
	for _, ref := range refs {
		names[c.name(ref)] = true
	}
	return names
}

// spools are the folders for layers that are not verified yet. Where the cache cannot be used, which warning tells,
// images are pulled all the same.
func (c *cache) spools() []string {
	if !c.usable() {
		return []string{os.TempDir()}
	}
	return []string{c.dir, os.TempDir()}
}

// load returns nil for an image that is not there, and an error for one that is damaged, which it removes.
func (c *cache) load(ref Ref) (*Image, error) {
	if !c.usable() {
		return nil, nil
	}
	path := filepath.Join(c.dir, c.name(ref))
	data := readable(path)
	if data == nil {
		return nil, nil
	}
	image, err := decode(c.name(ref), data)
	if err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("reading the cached image %s: %w", path, err)
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	image.Ref, image.cached = ref, true
	return image, nil
}

// readable returns nil for a file that cannot be read, or is not one that this process may have written. To load, such
// an image is not there; storing it will report what is wrong with the folder.
func readable(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || owned(info) != nil || info.Size() > cacheFileMost {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, cacheFileMost))
	if err != nil {
		return nil
	}
	return data
}

// owned says why others than the user who runs this process may have made or changed a file or a folder.
func owned(info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return nil
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to the user %d; give a folder of your own", stat.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write to it (%s); give a folder of your own", info.Mode().Perm())
	}
	return nil
}

// ownFolder is owned for a folder, if it is there. One of root's is what a volume is in a container, where only the files
// in it are of the user: these are looked at one by one, and are bound to their names.
func ownFolder(dir string) error {
	info, _ := os.Stat(dir)
	if info == nil {
		return nil // what is wrong is said by who makes it
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == 0 && os.Geteuid() != 0 && info.Mode()&os.ModeSticky == 0 {
		return nil
	}
	return owned(info)
}

// store writes an image so that it is there completely or not at all, and makes room.
func (c *cache) store(image *Image) error {
	if c.dir == "" || image.cached || image.mounted {
		return nil
	}
	name := c.name(image.Ref)
	err := c.write(name, image)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.unsaved[name] = err
		return err
	}
	delete(c.unsaved, name)
	c.evict(name)
	return nil
}

func (c *cache) write(name string, image *Image) (err error) {
	if err := errors.Join(os.MkdirAll(c.dir, 0o700), ownFolder(c.dir)); err != nil {
		return err
	}
	temp, err := os.CreateTemp(c.dir, cacheTemp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	if err := errors.Join(encode(temp, name, image), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), filepath.Join(c.dir, name))
}

// evict removes the images that were used longest ago until the rest fits, but never a wanted or spared
// one or the one just stored.
func (c *cache) evict(stored string) {
	type entry struct {
		name string
		size int64
		used time.Time
	}
	var entries []entry
	var total int64
	files, _ := os.ReadDir(c.dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(f.Name(), cacheEnding) {
			continue
		}
		total += info.Size()
		entries = append(entries, entry{f.Name(), info.Size(), info.ModTime()})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name))
	})
	for _, e := range entries {
		kept := c.wanted[e.name] || c.spared[e.name] || e.name == stored
		if total > c.most && !kept && os.Remove(filepath.Join(c.dir, e.name)) == nil {
			total -= e.size
		}
	}
}

func (c *cache) warning() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unsaved) == 0 {
		return ""
	}
	var causes []string
	for _, err := range c.unsaved {
		causes = append(causes, err.Error())
	}
	return fmt.Sprintf("%d provider images cannot be stored in the cache folder %s: %s; they are held in memory, so after a restart the "+
		"registry must be there; free or enlarge that volume, or make it writable, and it is tried again by itself within a minute",
		len(causes), c.dir, slices.Min(causes))
}
