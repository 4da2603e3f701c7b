package bootboard

import "github.com/capstan-capi/capstan/machine"

// OnRoster has a function asked which targets there are. It says that nobody knows until all of them were listed.
func (b *Board) OnRoster(roster func() (keys []machine.Key, known bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roster = roster
}

// Complete says that every target there is stands on the board, and that each was judged by the verdict of these news.
func (b *Board) Complete(news string) (all, judged bool) {
	b.mu.Lock()
	roster := b.roster
	b.mu.Unlock()
	if roster == nil {
		return false, false
	}
	keys, known := roster()
	if !known {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	judged = true
	for _, key := range keys {
		s, stands := b.standing[key]
		if !stands {
			return false, false
		}
		judged = judged && s.News == news
	}
	return true, judged
}

// OnBlind has a function asked why targets cannot be looked at yet.
func (b *Board) OnBlind(why func() string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blind = why
}

// Blind is why targets cannot be looked at yet, empty if they can.
func (b *Board) Blind() string {
	b.mu.Lock()
	why := b.blind
	b.mu.Unlock()
	if why == nil {
		return ""
	}
	return why()
}
