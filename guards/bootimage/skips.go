package bootimage

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// Skip names why the image of a target is not changed.
type Skip string

// The skips, by the names that users see.
const (
	NoImageID    Skip = "NoImageID"
	NoImageHere  Skip = "NoImageHere"
	Foreign      Skip = "Foreign"
	NeedsVCenter Skip = "NeedsVCenter"
	EKSLookup    Skip = "EKSLookup"
	ImageFamily  Skip = "ImageFamily"
	SecurityType Skip = "SecurityType"
	Unsupported  Skip = "Unsupported"
	ArchUnknown  Skip = "ArchUnknown"
	WouldRollOut Skip = "WouldRollOut"
)

// byHand ends what is told of images that nobody but the administrator can move.
const byHand = "move it by hand, and record that in spec.bootImageSkewEnforcement of MachineConfiguration cluster"

// commands are those that take away the reason of a skip, where there is one.
var commands = map[Skip]func(Facts) string{
	Foreign:      func(f Facts) string { return f.annotate(AdoptImageAnnotation, f.Target.Image) },
	WouldRollOut: func(f Facts) string { return f.annotate(AllowRolloutAnnotation, "true") },
	ArchUnknown: func(f Facts) string {
		return f.annotate("capacity.cluster-autoscaler.kubernetes.io/labels", "kubernetes.io/arch=ARCHITECTURE")
	},
}

func retry(f Facts) string { return f.annotate(RetryAnnotation, "1") }

// Command is the one that takes away what holds the target, empty where there is none.
func Command(f Facts) string {
	if IsAsWanted.Answer(f).Truth == machine.Yes {
		return ""
	}
	if command, is := commands[f.Verdict.Skip]; is && MayBeWritten.Answer(f).Truth == machine.No {
		return command(f)
	}
	if AttemptsLeft.Answer(f).Truth == machine.No && !f.Attempts.RetriesUsed {
		return retry(f)
	}
	return ""
}

// texts are what people are told of skips, with the remedy.
var texts = map[Skip]func(Facts) string{
	NoImageID: func(f Facts) string {
		return "its image has no ID: name it by its ID, not by an ARN or by filters" + about(f)
	},
	NoImageHere: func(f Facts) string {
		return "the release has no image for it" + about(f) + ": " + byHand
	},
	Foreign: func(f Facts) string {
		return fmt.Sprintf("image %s is not known to be a release's own%s; to have it replaced all the same: %s",
			short(f.Target.Image), about(f), commands[Foreign](f))
	},
	NeedsVCenter: func(f Facts) string {
		return "its image is a template in vCenter" + about(f) + ": " + byHand
	},
	EKSLookup: func(f Facts) string {
		return "its image is looked up as one of EKS: set spec.template.spec.ami.id of its template" + about(f)
	},
	ImageFamily: func(f Facts) string {
		return "its image is named by a family only: set spec.template.spec.image of its template" + about(f)
	},
	SecurityType: func(f Facts) string {
		return "its securityType asks for an image that the release does not have" + about(f) + ": " + byHand
	},
	Unsupported: func(f Facts) string {
		return "images of its kind of template are not moved" + about(f) + ": " + byHand
	},
	ArchUnknown: func(f Facts) string {
		return "its architecture is not known" + about(f) + ": " + commands[ArchUnknown](f)
	},
	WouldRollOut: func(f Facts) string {
		return "a new image would replace its machines at once" + about(f) + "; to have that: " + commands[WouldRollOut](f)
	},
}

// Skipped is why the target's image is not changed, with the text for people; empty if it may be. Counted says that somebody
// may expect it to be.
func Skipped(f Facts) (why Skip, text string, counted bool) {
	why = f.Verdict.Skip
	if why == "" {
		return "", "", false
	}
	say, known := texts[why]
	if !known {
		say = func(f Facts) string { return "its image is not moved" + about(f) + ": " + byHand }
	}
	return why, string(why) + ": " + say(f), !f.Verdict.Uncounted
}

func about(f Facts) string {
	if f.Verdict.Detail == "" {
		return ""
	}
	return " (" + f.Verdict.Detail + ")"
}

// annotate is the command that annotates the target.
func (f Facts) annotate(annotation, value string) string {
	return fmt.Sprintf("kubectl annotate %s -n %s %s --overwrite %s=%s", f.Object.Resource, f.Object.Namespace, f.Object.Name, annotation, quoted(value))
}

// quoted is a word for a shell, whatever is in it: fields of targets are anybody's. One that nobody could copy is left to be
// filled in.
func quoted(word string) string {
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(word) > maxQuoted || strings.ContainsFunc(word, unprintable) {
		return "PRESENT-IMAGE"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
