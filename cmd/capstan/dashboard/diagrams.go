package dashboard

import (
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/message"
)

// diagramsOf are the tables of machines as a page draws them.
func diagramsOf(views []view.View) Diagrams {
	all := Diagrams{Machines: []Diagram{}}
	for _, of := range views {
		d := Diagram{
			Machine: of.Table.Name, Doc: of.Table.Doc, Family: of.Instances != nil, Start: of.Table.Start,
			States: []DiagramState{}, Moves: []DiagramMove{},
		}
		if of.Instances != nil {
			d.Word = of.Instances.Word
		}
		for _, row := range of.Table.States {
			d.States = append(d.States, DiagramState{Name: row.Name, Doc: row.Doc, Work: row.Work, Rest: row.Rest, Alarm: row.Alarm})
			for _, way := range row.Ways {
				move := DiagramMove{
					From: row.Name, To: way.To, Event: way.Event, Kind: way.Kind, When: way.When, Meaning: way.Meaning, Effect: way.Effect, Questions: way.Questions,
				}
				if way.After > 0 {
					move.After = message.Duration(way.After)
				}
				d.Moves = append(d.Moves, move)
			}
		}
		all.Machines = append(all.Machines, d)
	}
	return all
}
