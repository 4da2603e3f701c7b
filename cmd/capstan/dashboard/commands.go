package dashboard

import (
	"strings"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/controllers/clusterapi"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// shell writes commands that are about one cluster, whatever the kubeconfig's current context is when they are run.
type shell struct{ kubeconfig, context, as string }

// about is a command with the flags that name the cluster, which kubectl has as well.
func (s shell) about(command string) string {
	for _, flag := range []struct{ name, value string }{{"--kubeconfig", s.kubeconfig}, {"--context", s.context}, {"--as", s.as}} {
		if flag.value != "" {
			command += " " + flag.name + " " + message.ShellWord(flag.value)
		}
	}
	return command
}

// undo is the command that takes an act back. objects are those that are left alone.
func (s shell) undo(act guards.Act, objects []string) string {
	switch act.Name {
	case acts.Pause, acts.Pin, acts.Adopt:
		return s.about(asking.TakesBack(asking.Asked{Name: act.Name}))
	case acts.LeaveAlone:
		return s.about(asking.TakesBack(asking.Asked{Name: act.Name, Objects: objects}))
	}
	form, known := acts.FormOf(act.Name)
	if !known {
		return ""
	}
	return s.about("kubectl annotate clusterapi " + phases.Singleton + " " + form.Annotation + "-")
}

// adopt is the command that shows what adopting an object would change, and asks.
func (s shell) adopt(c guards.Collision) string {
	return s.about("capstan adopt --dry-run --reason " + message.ShellWord("why") + " " + message.ShellWord(strings.Replace(c.Named(), " ", "/", 1)))
}

// uninstall is the command that shows what the revision would end that awaits consent, and asks.
func (s shell) uninstall() string {
	return s.about(phases.ConsentToUninstall + " --dry-run --reason " + message.ShellWord("why"))
}

// commands are those to begin with, by how the cluster stands.
func (s shell) commands(status clusterapi.Status) []Command {
	all := []Command{
		{"tells all of this in a terminal", s.about("capstan status --watch")},
		{"explains what can happen next, and what it waits for", s.about("capstan explain")},
		{"tells what the operator would do next", s.about("capstan plan")},
		{"tells what became of revisions", s.about("capstan history")},
		{"collects what a bug report needs", s.about("capstan support")},
	}
	switch status.State {
	case "":
	case table.Degraded:
		all = append(all, Command{"asks for another attempt now", s.about("capstan retry")})
	case table.MaxRevisions:
		all = append(all, Command{"shows how to make room for revisions", s.about("capstan recover --dry-run")})
	case table.Paused:
		all = append(all, Command{"ends the pause", s.about(asking.Resume)})
	default:
		all = append(all, Command{"shows what a pause of an hour would do", s.about("capstan pause --for 1h --reason why --dry-run")})
	}
	return all
}
