package images

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

// admission is what an access says of one image that it does not refuse.
type admission struct {
	rule           *trust.Rule // nil: nothing is asked of it
	places         []Ref       // that may be asked for it, in their order
	sourceExcluded bool
}

func (a Access) admission(ref Ref) (admission, *Error) {
	var now admission
	var refusal *Error
	if now.places, now.sourceExcluded, refusal = a.allowed(ref); refusal != nil {
		return now, refusal
	}
	var err error
	if now.rule, err = a.Policies.Of(string(ref)); err != nil {
		return now, fail(KindPolicy, "%w", err)
	}
	return now, nil
}

// admits says that an image was judged by the same rule, or needs not be.
func (a admission) admits(image *Image) bool { return a.rule == nil || a.rule.ID == image.proof }

func (p *Puller) admitted(image *Image) bool {
	if image.mounted {
		return true
	}
	asks, refusal := p.access.given().admission(image.Ref)
	return refusal == nil && asks.admits(image)
}

// proven returns an image whose content is there if the policies admit it, by what is kept of its signatures, and nil if
// they refuse it or more has to be fetched for that.
func (p *Puller) proven(ctx context.Context, image *Image) *Image {
	if image.mounted {
		return image
	}
	asks, refusal := p.access.given().admission(image.Ref)
	if refusal != nil {
		return nil
	}
	if asks.admits(image) {
		return image
	}
	if image.evidence == nil || p.judge(ctx, asks.rule, image.evidence) != nil {
		return nil
	}
	judged := *image
	judged.proof = asks.rule.ID
	return &judged
}

// judge needs a folder for a moment, as layers do.
func (p *Puller) judge(ctx context.Context, rule *trust.Rule, evidence *trust.Evidence) *Error {
	var failed error
	for _, folder := range slices.Compact(p.cache.spools()) {
		err := judgeIn(ctx, folder, rule, evidence)
		if err == nil {
			return nil
		}
		if _, refused := errors.AsType[*trust.RefusedError](err); refused {
			return fail(KindPolicy, "%w", err)
		}
		failed = errors.Join(failed, err)
	}
	return fail(KindDisk, "its signatures cannot be judged: %w; free or enlarge the volume of the cache folder, or make it writable, "+
		"and it is tried again by itself", failed)
}

func judgeIn(ctx context.Context, within string, rule *trust.Rule, evidence *trust.Evidence) (err error) {
	folder, err := judgeFolder(within)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return rule.Judge(ctx, folder, *evidence)
}

// judgeFolder is named like what a killed process leaves in the cache, so that the next one removes it.
func judgeFolder(within string) (string, error) {
	if err := os.MkdirAll(within, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(within, cacheTemp+"judge-")
}
