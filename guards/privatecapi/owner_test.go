package privatecapi

import "testing"

func TestOwnerOf(t *testing.T) {
	const legacy, private, migrating, failed = 1, 2, 4, 8
	const ours = `{"id":"here/1","direction":"private","stage":"moving"}`
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
		"the lock goes before every mark":                 {legacy | private | failed | migrating, ours, Owner{By: Machine, ID: "here/1"}},
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
	for want, m := range map[string]Marks{
		"": {Private: true}, "is locked": {Private: true, Companion: Companion{Present: true}}, "is reconciled by the old operator": {Legacy: true},
		"has a failed move: reverted": {Private: true, Failed: Reverted}, "is reconciled by nobody": {},
	} {
		if got := NotNewAlone(m); got != want {
			t.Errorf("%+v %q, want %q", m, got, want)
		}
	}
}
