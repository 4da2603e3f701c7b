package bootimage

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// passes is a target that was looked at: it stands with its image, and starts from a stub that was read.
func passes(p *Phases, name, uid, given, secret string) machine.Key {
	key := KeyOf(golden.CAPIMachineSets, name)
	p.memory.of(key, func(r *remembered) { r.state = "Current" })
	pass := &Pass{Phases: p, Key: key, UID: uid, attempts: attempts{UID: given}}
	pass.stood(machine.Yes)
	p.stubs.of(client.ObjectKey{Namespace: capi, Name: secret})
	p.memory.stand(hashed(string(stubKey(client.ObjectKey{Namespace: capi, Name: secret}))), true)
	before, _ := p.Board.Of(key)
	p.Board.Stand(key, bootboard.Standing{Kind: golden.CAPIMachineSets, Name: name, Stub: capi + "/" + secret})
	p.left(before)
	return key
}

func TestMemory_of_targets_that_come_and_go_is_that_of_those_that_are_there(t *testing.T) {
	p := &Phases{Board: bootboard.New()}
	for round := range 50 {
		kept := passes(p, "kept", fmt.Sprint("made anew ", round), fmt.Sprint("given ", round), fmt.Sprint("stub-", round))
		gone := passes(p, fmt.Sprint("other-", round), fmt.Sprint("uid-", round), "", fmt.Sprint("stub-", round))
		p.letGo(gone)
		if got := [3]int{len(p.memory.by), len(p.memory.stood), len(p.stubs.by)}; got != [3]int{1, 3, 1} {
			t.Fatalf("in round %d it remembers %v of one target with two UIDs and one stub", round, got)
		}
		if uid := hashed(fmt.Sprint("made anew ", round)); !p.memory.stands(uid) || !p.memory.stands(fmt.Sprint("given ", round)) {
			t.Fatalf("%s has stood", kept)
		}
	}
}

func TestMemory_of_attempts_at_what_is_gone_is_bounded(t *testing.T) {
	p := &Phases{Board: bootboard.New()}
	for round := range 3 * maxGone {
		p.memory.standGone(fmt.Sprint(round))
		p.memory.standGone(fmt.Sprint(round))
	}
	if len(p.memory.stood) != maxGone || len(p.memory.gone) != maxGone || p.memory.stands("0") || !p.memory.stands(fmt.Sprint(3*maxGone-1)) {
		t.Errorf("it remembers %d and %d", len(p.memory.stood), len(p.memory.gone))
	}
}

func TestStubs_of_a_Secret_that_another_target_starts_from_stay(t *testing.T) {
	p := &Phases{Board: bootboard.New()}
	a := passes(p, "a", "a", "", "shared")
	passes(p, "b", "b", "", "shared")
	read := p.stubs.of(client.ObjectKey{Namespace: capi, Name: "shared"})
	if p.letGo(a); p.stubs.of(client.ObjectKey{Namespace: capi, Name: "shared"}) != read {
		t.Error("it is read again")
	}
}
