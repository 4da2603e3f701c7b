package machine

import "testing"

func fixed(name string, truth Truth) Guard[int] {
	return Guard[int]{Name: name, Doc: "A fixed answer.", Ask: func(int) Answer { return Answer{truth, name} }}
}

func TestGuard_combinations_follow_the_three_valued_truth_tables(t *testing.T) {
	for _, row := range []struct{ a, b, all, any Truth }{
		{Yes, Yes, Yes, Yes},
		{Yes, No, No, Yes},
		{Yes, Unknown, Unknown, Yes},
		{No, No, No, No},
		{No, Unknown, No, Unknown},
		{Unknown, Unknown, Unknown, Unknown},
	} {
		for _, parts := range [][]Guard[int]{
			{fixed("a", row.a), fixed("b", row.b)},
			{fixed("b", row.b), fixed("a", row.a)},
		} {
			if got := All(parts...).Answer(0).Truth; got != row.all {
				t.Errorf("All(%s, %s) is %s, not %s", row.a, row.b, got, row.all)
			}
			if got := Any(parts...).Answer(0).Truth; got != row.any {
				t.Errorf("Any(%s, %s) is %s, not %s", row.a, row.b, got, row.any)
			}
		}
	}
	for truth, want := range map[Truth]Truth{Yes: No, No: Yes, Unknown: Unknown} {
		if got := Not(fixed("a", truth)).Answer(0).Truth; got != want {
			t.Errorf("Not(%s) is %s, not %s", truth, got, want)
		}
	}
}

func TestGuard_the_reason_is_that_of_the_part_that_decided(t *testing.T) {
	guard := All(fixed("platform", Yes), fixed("room", No))
	if got := guard.Answer(0).Reason; got != "room" {
		t.Errorf("reason is %q", got)
	}
	if got := All(fixed("images", Unknown), fixed("room", No)).Answer(0); got != SayNo("images") {
		t.Errorf("what is waited for first is lost: %+v", got)
	}
	if got := Any(fixed("images", Unknown), fixed("room", Yes)).Answer(0); got != SayYes("room") {
		t.Errorf("the reason is not that of the Yes: %+v", got)
	}
	if got := Not(fixed("applied", No)).Answer(0).Reason; got != "applied" {
		t.Errorf("the reason why not is lost: %q", got)
	}
	if got := Not(fixed("wanted", Yes)).Answer(0).Reason; got != "" {
		t.Errorf("a reason why yes is no reason why not: %q", got)
	}
	if got := Not(All(fixed("wanted", Yes), fixed("current", Yes))).reasons(0); got != "wanted; current" {
		t.Errorf("what was seen is %q", got)
	}
}

func TestGuard_what_explains_an_answer_is_not_what_speaks_against_it(t *testing.T) {
	silent := Guard[int]{Name: "silent", Ask: func(int) Answer { return SayNo("") }}
	for name, row := range map[string]struct {
		guard Guard[int]
		says  string
	}{
		"a Yes beside the No":             {All(silent, fixed("progress", Yes)), ""},
		"a Yes below the No":              {All(Not(All(fixed("wanted", Yes), fixed("current", Yes))), fixed("progress", Yes)), "wanted; current"},
		"a No below a negation":           {Not(Any(fixed("room", No), fixed("match", Yes))), "match"},
		"what two parts say is said once": {Any(silent, All(silent, fixed("room", Yes)), Not(fixed("match", Yes)), Not(fixed("match", Yes))), "match"},
	} {
		if got := row.guard.Answer(0); got.Truth != No {
			t.Errorf("%s: the guard is %s", name, got.Truth)
		}
		if got := row.guard.reasons(0); got != row.says {
			t.Errorf("%s: what explains it is %q, not %q", name, got, row.says)
		}
	}
}

func TestGuard_atoms_are_listed_once_and_can_be_given_answers(t *testing.T) {
	a, b := fixed("a", Unknown), fixed("b", Unknown)
	guard := Any(All(a, b), Not(a))
	atoms := guard.Atoms()
	if len(atoms) != 2 || atoms[0].Name != "a" || atoms[1].Name != "b" {
		t.Errorf("atoms are %v", atoms)
	}
	if got := guard.WithAnswers(map[string]Truth{"a": Yes, "b": Yes}).Answer(0).Truth; got != Yes {
		t.Errorf("given a and b it is %s", got)
	}
	if got := guard.WithAnswers(map[string]Truth{"a": No}).Answer(0).Truth; got != Yes {
		t.Errorf("given not a it is %s", got)
	}
	if got := guard.Name; got != "(a and b) or not a" {
		t.Errorf("its name is %q", got)
	}
}
