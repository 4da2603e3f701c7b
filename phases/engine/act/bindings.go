package act

// inTurn has work done on jobs, on bindings last: what a binding puts into force is judged by what the revision says of it,
// so it has to be ours before. A binding of something that is not is left for a later pass.
func (r *run) inTurn(jobs []*job, work func([]*job)) {
	var free, bindings []*job
	for _, j := range jobs {
		if j.t.bound == nil {
			free = append(free, j)
		} else {
			bindings = append(bindings, j)
		}
	}
	work(free)
	var due []*job
	for _, j := range bindings {
		if r.isOurs(j.t.bound) {
			due = append(due, j)
		}
	}
	work(due)
}

// isOurs says that an object is there and is ours, when it was last looked at or by now.
func (r *run) isOurs(t *target) bool {
	if r.didWrite(t) {
		return true
	}
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return t.decision != nil && t.decision.Ours
}

func (r *run) didWrite(t *target) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, wrote := r.wrote[t.Key]
	return wrote
}
