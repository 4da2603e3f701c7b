package capiboard

import (
	"context"
	"testing"
)

func TestBoard_keeps_the_old_operator_unless_a_machine_says_otherwise(t *testing.T) {
	b := New()
	if !b.Kept() {
		t.Error("it is not kept where nobody judges that")
	}
	if b.Judge(); b.Kept() {
		t.Error("it is known to be kept before anybody has said so")
	}
	if b.Keep(true); !b.Kept() {
		t.Error("it is not kept")
	}
	if b.Keep(false); b.Kept() {
		t.Error("it is kept")
	}
}

func TestBoard_asks_whoever_looks_at_HostedClusters(t *testing.T) {
	b, heard := New(), 0
	if _, err := b.Others(t.Context()); err == nil {
		t.Error("somebody is known to look")
	}
	b.OnOthers(func(context.Context) ([]string, error) { return []string{"clusters/a moves"}, nil })
	if others, err := b.Others(t.Context()); err != nil || len(others) != 1 {
		t.Errorf("others are %v (%v)", others, err)
	}
	b.OnNews(func() { heard++ })
	if b.News(); heard != 1 {
		t.Errorf("news were heard %d times", heard)
	}
}
