package machine

// foresee notes what a state that was just entered waits for, and until when, as a pass would that sees the same. It says whether
// the machine only passes through the state: the same facts lead on from it, and there is nothing in it that anybody has to do.
func (p *pass[F, E]) foresee(entered State) (passing bool) {
	table := &p.machine.Table
	facts := table.Recalled(p.facts, p.record)
	at := moment{now: p.machine.Now(), settled: p.at.settled}
	done, known := p.machine.progress(facts)
	p.record.progressed(done, known, at.now)
	next, err := table.choose(p.record, facts, at)
	if err != nil {
		return false // the next pass says so
	}
	p.record.Lasting, p.record.Deadline, p.record.Reason = next.lasting, next.next, next.waits
	row, _ := table.State(entered)
	idles := row.Work.Run == nil && !row.Work.resumes
	return next.move != nil && idles && !row.Alarm && !row.Quiet && row.Alert.Name == ""
}
