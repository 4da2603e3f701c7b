package collecting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/capstan-capi/capstan/phases/payload/job"
)

const (
	// look is how often it is looked whether the installer has ended.
	look = time.Second
	// assetMost is how large one file of the assets may be, in bytes: a Secret holds no larger one.
	assetMost = 1 << 20
	// volumeData is where a kubelet has the files of a volume, to which the links beside it lead.
	volumeData = "..data"
)

// Secrets are those of one namespace.
type Secrets interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.Secret, error)
	Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error)
}

// Collector stores what comes of one run of the installer.
type Collector struct {
	// Work is the folder that the installer works in, Assets what it was given.
	Work, Assets fs.FS
	// Secrets has the one of Name, which is there.
	Secrets Secrets
	Name    string
}

// Run returns once the configs are stored. Where the installer has failed it stores the end of the log, and returns an error, so that
// the Job counts the attempt as failed.
func (c Collector) Run(ctx context.Context) error {
	code, err := c.ended(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the installer: %w", err)
	}
	if code != "0" {
		failed := fmt.Errorf("the installer has ended with code %s", code)
		return errors.Join(failed, c.storeLog(ctx, failed))
	}
	found, err := job.Collect(c.Work)
	if err != nil {
		return errors.Join(err, c.storeLog(ctx, err))
	}
	data, err := job.Pack(found)
	if err != nil {
		return errors.Join(err, c.storeLog(ctx, err))
	}
	return c.store(ctx, data)
}

// ended waits until the installer has written its exit code. How long that may take the Job says.
func (c Collector) ended(ctx context.Context) (code string, err error) {
	err = wait.PollUntilContextCancel(ctx, look, true, func(context.Context) (bool, error) {
		text, err := fs.ReadFile(c.Work, job.ExitFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		}
		code = strings.TrimSpace(string(text))
		return code != "", nil // else it is being written
	})
	return code, err
}

// storeLog stores why an attempt has failed, with the end of the log, in place of configs.
func (c Collector) storeLog(ctx context.Context, why error) error {
	log, err := fs.ReadFile(c.Work, job.LogFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the installer's log: %w", err)
	}
	files, err := c.assets()
	if err != nil {
		return fmt.Errorf("reading what is secret of the assets: %w", err) // and no log is given out
	}
	return c.store(ctx, map[string][]byte{job.LogKey: []byte(job.Tail([]byte(string(log)+"\n"+why.Error()), job.Secrets(files)))})
}

// assets are the files that the installer was given.
func (c Collector) assets() (map[string][]byte, error) {
	root := c.Assets
	if _, err := fs.Stat(root, volumeData); err == nil {
		if root, err = fs.Sub(root, volumeData); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Size() > assetMost {
			return fmt.Errorf("%s has %d bytes, more than a Secret holds", path, info.Size())
		}
		files[path], err = fs.ReadFile(root, path)
		return err
	})
	return files, err
}

// store has the Secret hold data and nothing else.
func (c Collector) store(ctx context.Context, data map[string][]byte) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		secret, err := c.Secrets.Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		secret.Data = data
		_, err = c.Secrets.Update(ctx, secret, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("storing Secret %s: %w", c.Name, err)
	}
	return nil
}
