package faults_test

import "slices"

// undoing is what ends a fault.
type undoing struct{ undo []func() }

// later is done when the fault is to end; the last goes first.
func (u *undoing) later(undo func()) { u.undo = append(u.undo, undo) }

// end ends the fault, once.
func (u *undoing) end() {
	for _, undo := range slices.Backward(u.undo) {
		undo()
	}
	u.undo = nil
}
