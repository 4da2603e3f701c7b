package inspect

import (
	"net/http"
	"testing"
	"time"
)

func TestServerClock_shows_the_time_of_the_last_answer_and_how_far_that_is_ahead(t *testing.T) {
	c := &ServerClock{}
	if _, err := c.Now(); err == nil || c.Ahead() != 0 {
		t.Errorf("before an answer it is %s ahead: %v", c.Ahead(), err)
	}
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	c.hear(at.Format(http.TimeFormat))
	if now, err := c.Now(); err != nil || !now.Equal(at) {
		t.Errorf("it is %s: %v", now, err)
	}
	if ahead := c.Ahead(); ahead < 59*time.Minute || ahead > time.Hour {
		t.Errorf("it is %s ahead", ahead)
	}
}
