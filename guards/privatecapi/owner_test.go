package privatecapi

import (
	"testing"
	"time"
)

func TestOwnerOf(t *testing.T) {
	const legacy, private, migrating, failed = 1, 2, 4, 8
	const ours = `{"id":"here/1/private","direction":"private","stage":"moving"}`
	all := map[string]string{}
	for name, row := range map[string]struct {
		marks     int
		companion string
		want      Owner
	}{
		"nothing is said":                                 {0, "", Owner{By: Nobody}},
		"the old operator's mark":                         {legacy, "", Owner{By: Legacy}},
		"the new operator's mark":                         {private, "", Owner{By: New}},
		"both marks are nobody's":                         {legacy | private, "", Owner{By: Nobody}},
		"a failed move leaves it to the old operator":     {failed, "", Owner{By: Legacy}},
		"a failed move beside the old operator's mark":    {legacy | failed, "", Owner{By: Legacy}},
		"a failed move back leaves it to the new one":     {private | failed, "", Owner{By: New}},
		"both marks and a failed move are nobody's":       {legacy | private | failed, "", Owner{By: Nobody}},
		"the lock goes before every mark":                 {legacy | private | failed | migrating, ours, Owner{By: Machine, ID: "here/1/private"}},
		"the lock alone is of no migration that is known": {migrating, "", Owner{By: Machine}},
		"a lock beside what cannot be read is nobody's":   {legacy | migrating, "{", Owner{By: Machine}},
		"what stands beside the lock locks no operator":   {legacy, ours, Owner{By: Legacy}},
	} {
		t.Run(name, func(t *testing.T) {
			clear(all)
			for mark, annotation := range map[int][2]string{
				legacy: {ScopeAnnotation, ScopeLegacy}, private: {PrivateTypesAnnotation, MarkTrue},
				migrating: {MigrationAnnotation, MarkTrue}, failed: {FailedAnnotation, string(ScaleUpTimeout)},
			} {
				if row.marks&mark != 0 {
					all[annotation[0]] = annotation[1]
				}
			}
			if row.companion != "" {
				all[CompanionAnnotation] = row.companion
			}
			if got := OwnerOf(all); got != row.want {
				t.Errorf("%v is of %+v, want %+v", all, got, row.want)
			}
		})
	}
	t.Run("another's scope is not the old operator's, and a false mark none", func(t *testing.T) {
		got := OwnerOf(map[string]string{ScopeAnnotation: "team-a", PrivateTypesAnnotation: "false"})
		if got != (Owner{By: Nobody}) {
			t.Errorf("it is of %+v", got)
		}
	})
	t.Run("a lock counts whatever its value is", func(t *testing.T) {
		got := OwnerOf(map[string]string{PrivateTypesAnnotation: MarkTrue, MigrationAnnotation: "yes"})
		if got.By != Machine {
			t.Errorf("it is of %+v", got)
		}
	})
}

func TestNotNewAlone(t *testing.T) {
	enabled := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	later := enabled.Add(time.Second)
	for name, row := range map[string]struct {
		marks            Marks
		created, enabled time.Time
		want             string
	}{
		"one with private types":                  {Marks{Private: true}, enabled, enabled, ""},
		"a locked one":                            {Marks{Private: true, Companion: Companion{Present: true}}, enabled, enabled, "is locked"},
		"one of the old operator":                 {Marks{Legacy: true}, later, enabled, "is reconciled by the old operator"},
		"one whose move failed":                   {Marks{Private: true, Failed: Reverted}, later, enabled, "has a failed move: reverted"},
		"an old one without a mark":               {Marks{}, enabled, enabled, "is reconciled by nobody"},
		"a new one that will have a mark":         {Marks{}, later, enabled, ""},
		"a new one with both marks":               {Marks{Legacy: true, Private: true}, later, enabled, "is reconciled by nobody"},
		"one without a mark and no programme":     {Marks{}, later, time.Time{}, "is reconciled by nobody"},
		"one with private types and no programme": {Marks{Private: true}, later, time.Time{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NotNewAlone(row.marks, row.created, row.enabled); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
