package dashboard

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/controllers/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	"github.com/capstan-capi/capstan/phases/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/status"
)

// targets are a family whose objects hold no records: the gate counts them, and names those that have not the wanted image as far as
// there is room; beside that, what is stored of those at work is read from a fixed number of ConfigMaps, however many targets there are.
type targets struct {
	c    *cluster
	r    *roster
	lane lane

	told   string    // what the gate told last
	asked  time.Time // when records were read last
	stored map[machine.Key]machine.Record
	unread []Unread
}

// notTold is why nothing is known of targets.
const notTold = "the operator tells of no targets: does it run with --boot-images?"

// run goes on until the context ends.
func (t *targets) run(ctx context.Context) {
	for first := true; ctx.Err() == nil; {
		news := t.c.newsNow()
		if t.c.ready(ctx) == nil && t.look(ctx, first) {
			first = false
			pause(ctx, t.c.times.records)
			continue
		}
		timer := time.NewTimer(t.c.times.round)
		select {
		case <-news:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// look takes in what the gate tells, and says whether it was worth it.
func (t *targets) look(ctx context.Context, first bool) bool {
	detail, text := t.detail()
	late := len(detail.Targets) > 0 && time.Since(t.asked) > t.c.times.round
	if text == t.told && !late && !first {
		return false
	}
	if len(detail.Targets) > 0 {
		t.read(ctx)
		t.asked = time.Now()
	}
	if ctx.Err() != nil {
		return false
	}
	t.told = text
	t.tell(detail, text != "")
	t.c.touch()
	return true
}

// detail is what the gate tells of targets, and its text, empty for nothing.
func (t *targets) detail() (bootgate.Detail, string) {
	var detail bootgate.Detail
	operator := t.c.operator()
	if operator == nil {
		return detail, ""
	}
	raw := status.Extension(operator.Status.Extension.Raw)[phases.GateDetail]
	if json.Unmarshal(raw, &detail) != nil {
		return bootgate.Detail{}, ""
	}
	return detail, string(raw)
}

// read reads what is stored of targets; what could not be read stays as it was.
func (t *targets) read(ctx context.Context) {
	all := map[machine.Key]machine.Record{}
	conn, err := t.c.connection()
	if err != nil {
		return // which is told of the objects that every view needs
	}
	for _, name := range bootimage.RecordConfigMaps() {
		stored, err := within(ctx, t.lane, t.c.times.request, func(ctx context.Context) (*corev1.ConfigMap, error) {
			into := &corev1.ConfigMap{}
			_, err := conn.reader.Get(ctx, configMaps, "ConfigMap", t.c.namespace, name, into)
			return into, err
		})
		var some map[machine.Key]machine.Record
		if err == nil {
			some, err = records.Of(stored)
		}
		if err != nil {
			why := problemOf(explain(err, conn.config, t.c.times.request, "get", "ConfigMap "+name))
			t.unread = []Unread{{What: "records of boot images", Why: why.Error, Next: why.Next}}
			return
		}
		maps.Copy(all, some)
	}
	t.stored, t.unread = all, nil
}

// tell has the roster say what is known.
func (t *targets) tell(detail bootgate.Detail, told bool) {
	if !told {
		t.r.replace(map[machine.Key]row{}, nil, notTold, nil)
		return
	}
	rows, done, problem := map[machine.Key]row{}, 0, ""
	for _, of := range detail.Sums {
		done += of.Done
	}
	named, unnamed := t.named(detail)
	for key, record := range named {
		if _, known := t.r.of.Table.State(record.State); known {
			rows[key] = t.r.rowOf(key, bootimage.SeenOf(key, record))
		}
	}
	counted := map[machine.State]int{}
	if done > 0 {
		counted[table.Current] = done
	}
	if unnamed > 0 {
		counted[""] = unnamed
		problem = "the operator does not name all that have not the wanted image; capstan status boot-images does"
	}
	t.r.replace(rows, counted, problem, t.unread)
}

// named are the targets that the gate names, and of the others as many as are stored; unnamed counts those that are left.
func (t *targets) named(detail bootgate.Detail) (named map[machine.Key]machine.Record, unnamed int) {
	named, unnamed = map[machine.Key]machine.Record{}, detail.More
	for _, target := range detail.Targets {
		record := machine.Record{State: target.State, Reason: target.Why}
		// The gate tells sooner than what is stored. Where both say the same, what is stored says since when.
		if stored, is := t.stored[machine.Key(target.Name)]; is && stored.State == target.State {
			record.Since, record.Transitions = stored.Since, stored.Transitions
		}
		named[machine.Key(target.Name)] = record
	}
	for key, stored := range t.stored {
		if _, is := named[key]; !is && unnamed > 0 {
			named[key] = stored
			unnamed--
		}
	}
	return named, unnamed
}
