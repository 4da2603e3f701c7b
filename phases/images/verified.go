package images

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"
)

const (
	sizeUnknown   = -1
	manifestBytes = 4 << 20
	repair        = "repair or purge that copy in the registry, or in the mirror or proxy before it; it is tried again by itself"
)

// verified reads the body of an answer. It ends with io.EOF only if all that was read had the wanted digest and size;
// any other end is an *Error, which every later Read returns too.
type verified struct {
	body   io.Reader
	what   string
	host   string
	other  string // the host that answers where the registry sends on to one; else empty
	want   v1.Hash
	size   int64
	most   int64
	broken func(error) error

	activity *activity
	read     int64
	hash     hash.Hash
	err      error
}

func (r *repository) verified(ctx context.Context, answer *http.Response, kind string, want v1.Hash, size int64) *verified {
	v := &verified{body: answer.Body, what: fmt.Sprintf("%s %s", kind, want), host: r.host, want: want, size: size, most: size, activity: r.activity}
	if size == sizeUnknown {
		v.most = manifestBytes
	}
	if from := answer.Request.URL.Host; !strings.EqualFold(from, r.base.Host) {
		v.other = from
	}
	v.broken = func(err error) error {
		return failure(ctx, r.host, fmt.Sprintf("%s, after %d of its bytes", v.what, v.read), &sentError{err})
	}
	var err error
	if v.hash, err = v1.Hasher(want.Algorithm); err == nil && size < 0 && size != sizeUnknown {
		err = fmt.Errorf("its manifest gives %d bytes to it", size)
	}
	if err != nil {
		v.err = fail(KindContent, "%s: %w; publish it by sha256 and with its size", v.what, err)
	}
	return v
}

func (v *verified) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	// One byte more than expected shows whether there are more.
	p = p[:min(int64(len(p)), v.most-v.read+1)]
	n, err := v.body.Read(p)
	v.activity.seen(n)
	v.read += int64(n)
	v.hash.Write(p[:n])
	switch {
	case v.read > v.most:
		n, v.err = 0, v.wrong(fmt.Sprintf("more than %d bytes as %s, so they are not the right ones", v.most, v.what))
	case errors.Is(err, io.EOF):
		v.err = v.verdict()
	case err != nil:
		v.err = v.broken(err)
	}
	return n, v.err
}

func (v *verified) verdict() error {
	got := v1.Hash{Algorithm: v.want.Algorithm, Hex: hex.EncodeToString(v.hash.Sum(nil))}
	if got == v.want && v.size != sizeUnknown && v.read != v.size {
		return fail(KindContent, "its manifest gives %d bytes to %s, which has %d; rebuild the image", v.size, v.what, v.read)
	}
	if got != v.want {
		return v.wrong(fmt.Sprintf("%d bytes with the digest %s as %s", v.read, got, v.what))
	}
	return io.EOF
}

// wrong says what is served instead, unless another host serves it: a registry may send on to a host that it cannot ask
// itself, and whoever runs it may read the message.
func (v *verified) wrong(served string) error {
	if v.other != "" {
		return fail(KindDigest, "registry %s sends on to %s, and what that serves as %s are not the right bytes; %s", v.host, v.other, v.what, repair)
	}
	return fail(KindDigest, "registry %s serves %s; %s", v.host, served, repair)
}
