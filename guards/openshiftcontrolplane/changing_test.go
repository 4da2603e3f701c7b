package openshiftcontrolplane

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNextStep(t *testing.T) {
	for name, row := range map[string]struct {
		of   Control
		want Step
	}{
		"one more":                               {Control{Wanted: 5, All: 3, Active: 3, Fresh: true}, MakeAnother},
		"one less":                               {Control{Wanted: 3, All: 5, Active: 5, Fresh: true}, RemoveSurplus},
		"as many as asked for":                   {Control{Wanted: 3, All: 3, Active: 3, Fresh: true}, Wait},
		"the guest is known by old news":         {Control{Wanted: 5, All: 3, Active: 3}, Wait},
		"a member is not healthy":                {Control{Wanted: 5, All: 3, Active: 3, Fresh: true, Refused: "etcd"}, Wait},
		"one is going":                           {Control{Wanted: 3, All: 4, Active: 3, Fresh: true, Refused: "is being deleted"}, Wait},
		"one was begun":                          {Control{Wanted: 5, All: 3, Active: 3, HalfMade: true}, MakeWhole},
		"one was begun, and is not asked for":    {Control{Wanted: 3, All: 3, Active: 3, HalfMade: true}, TakeBack},
		"one is coming":                          {Control{Wanted: 5, All: 4, Active: 4, Coming: "m", Fresh: true}, MendComing},
		"one that comes is not asked for":        {Control{Wanted: 3, All: 4, Active: 4, Coming: "m", ComingIsOut: true, Fresh: true, Refused: "etcd"}, RemoveComing},
		"nobody knows whether it is a member":    {Control{Wanted: 3, All: 4, Active: 4, Coming: "m", Fresh: true, Refused: "etcd"}, Wait},
		"it may be one, and all are healthy":     {Control{Wanted: 3, All: 4, Active: 4, Coming: "m", Fresh: true}, RemoveSurplus},
		"an unhealthy one":                       {Control{Replaces: true, Wanted: 3, All: 3, Active: 3, Unhealthy: "m", Fresh: true}, RemoveUnhealthy},
		"an unhealthy one without a Node":        {Control{Replaces: true, Wanted: 3, All: 3, Active: 3, Unhealthy: "m", Coming: "m", Fresh: true}, RemoveUnhealthy},
		"another one is coming":                  {Control{Replaces: true, Wanted: 3, All: 3, Active: 3, Unhealthy: "m", Coming: "n", Fresh: true}, MendComing},
		"the unhealthy one is gone":              {Control{Replaces: true, Wanted: 3, All: 2, Active: 2, Fresh: true}, MakeAnother},
		"too many while one is replaced":         {Control{Replaces: true, Wanted: 3, All: 5, Active: 5, Fresh: true}, Wait},
		"there is no quorum without it":          {Control{Replaces: true, Wanted: 1, All: 1, Active: 1, Unhealthy: "m", Fresh: true, Refused: "no quorum"}, Wait},
		"one of too many comes while one is bad": {Control{Replaces: true, Wanted: 3, All: 4, Active: 4, Unhealthy: "m", Coming: "n", Fresh: true}, MendComing},
	} {
		if got := NextStep(row.of); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestNextStep_never_changes_the_number_by_old_news_or_against_a_refusal_but_for_one_that_is_no_member(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Control{
			Replaces: rapid.Bool().Draw(t, "replaces"), Wanted: rapid.SampledFrom([]int{1, 3, 5}).Draw(t, "wanted"), All: rapid.IntRange(0, 7).Draw(t, "all"),
			HalfMade: rapid.Bool().Draw(t, "half"), Coming: rapid.SampledFrom([]string{"", "m", "n"}).Draw(t, "coming"), ComingIsOut: rapid.Bool().Draw(t, "out"),
			Unhealthy: rapid.SampledFrom([]string{"", "m"}).Draw(t, "unhealthy"), Fresh: rapid.Bool().Draw(t, "fresh"), Refused: rapid.SampledFrom([]string{"", "no"}).Draw(t, "refused"),
		}
		c.Active = rapid.IntRange(0, c.All).Draw(t, "active")
		switch step := NextStep(c); step {
		case MakeAnother, RemoveSurplus, RemoveUnhealthy:
			if !c.Fresh || c.Refused != "" || c.HalfMade || step == MakeAnother && c.All >= c.Wanted || step == RemoveSurplus && (c.Replaces || c.All <= c.Wanted) ||
				step == RemoveUnhealthy && (!c.Replaces || c.Unhealthy == "") {
				t.Fatalf("%s of %+v", step, c)
			}
		case RemoveComing:
			if !c.Fresh || !c.ComingIsOut || c.Replaces || c.Active <= c.Wanted {
				t.Fatalf("%s of %+v", step, c)
			}
		}
	})
}
