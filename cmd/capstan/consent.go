package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/losses"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
)

type consentFlags struct {
	askFlags
	reason, digest string
	all, uninstall bool
	look           planFlags // of what an uninstallation would end
}

func consentCommand() *cobra.Command {
	f := &consentFlags{}
	cmd := &cobra.Command{
		Use:   "consent [OBJECT... | --uninstall]",
		Short: "Shows what is retained for the data in it, and consents to lose that, or to an uninstallation",
		Long: `Shows the objects that no revision has any more and that the operator retains for the data in them, and what would be
lost with each: how many objects it holds, their names, ages and pending finalizers, and a digest, which tells these
very objects, by their UIDs, from all others. It names 20 of each; --all names all.

With objects, written as Kind.group/namespace/name without what they do not have, it asks whether they may go with
all that they hold. The consent is for the revision that is installed, for these very objects by their UIDs, and for
exactly what they hold now. The operator lists that anew right before it deletes one: if anything has come or gone
meanwhile, the object stays, and the operator says so. What is consented to already, and not used, stays consented
to, from then on in your name.

On a terminal it asks before it does so; without one it wants --yes and, with that, --digest with the digest that it
has shown: it writes nothing if what would be lost is something else by then. The digest of one object is SHA-256
over the sorted UIDs of what it holds, a line each. That of several is SHA-256 over their lines in the act, sorted,
and the lines of what is consented to already and stays consented to are among them. --dry-run shows what it would
do, the digest too, and whether the API server would take it.

With --uninstall it asks whether the revision may be listed that would end what runs, which the operator does not do
by itself. It plans that as capstan plan does, and shows what would be removed, what stays for its data or otherwise,
with ages, and a digest: SHA-256 over the name of the revision and a sorted line for each object, with its verdict and
UID. Nobody can consent to what he may not see all of. The consent is for that one revision by its name, of release,
content and number, and is spent by its use; it lets no data go. It writes the annotation
capi-operator.openshift.io/consent-to-uninstall, by the same verb, and waits until the revision is listed.

It lists with your rights, and to consent you need the right to list what would be lost. It writes the annotation
capi-operator.openshift.io/consent-to-delete on ClusterAPI cluster, in your name and by the time of the API server.
That takes the rights to get and patch it and the verb consent on it, which ClusterRole capstan-admin has, and to get
ClusterOperator cluster-api. It waits until the operator has begun to delete the objects, or says why it does not. Until
then the annotation can be removed; what is deleted does not come back.

Exit codes: 0 if it was shown, if the objects go, if the revision is listed, or the API server would take it; 1 if not, if the digest is another
one, or if nobody answers within --timeout: then the act stands all the same.`,
		Example: `  capstan consent
  capstan consent CustomResourceDefinition.apiextensions.k8s.io/foos.example.com --reason "nobody uses them"
  capstan consent --uninstall --reason "the cluster is to be without Cluster API"`,
		RunE: func(cmd *cobra.Command, objects []string) error {
			switch {
			case f.uninstall && len(objects) > 0:
				return errors.New("say either --uninstall, or the objects that may go")
			case f.uninstall:
				return f.consentToUninstall(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			case len(objects) == 0:
				return f.show(cmd.Context(), cmd.OutOrStdout())
			}
			return f.consent(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), objects)
		},
	}
	f.add(cmd.Flags())
	f.Access.Timeout = dryRunTimeout
	cmd.Flags().Lookup("request-timeout").DefValue = dryRunTimeout.String()
	f.look.lookFlags(cmd.Flags())
	cmd.Flags().BoolVar(&f.uninstall, "uninstall", false, "consent to the uninstallation that the operator asks about")
	cmd.Flags().StringVar(&f.reason, "reason", "", "`text` that says why, in one line")
	cmd.Flags().StringVar(&f.digest, "digest", "", "`digest` of what may be lost, as it was shown")
	cmd.Flags().BoolVar(&f.all, "all", false, "name all that would be lost or removed")
	return cmd
}

// named is how much of what an object holds is named.
func (f *consentFlags) named() int {
	if f.all {
		return math.MaxInt
	}
	return losses.Named
}

func (f *consentFlags) lister() (*losses.Lister, error) {
	config, err := f.Config()
	if err != nil {
		return nil, err
	}
	return losses.NewLister(config, f.namespace)
}

// check refuses what no act could say, and what nobody has seen.
func (f *consentFlags) check() error {
	switch {
	case f.reason == "":
		return errors.New("--reason is missing: say why, for those who miss it")
	case f.yes && f.digest == "":
		return errors.New("--digest is missing, without which --yes would consent to what nobody has seen: --dry-run shows it")
	}
	return f.validate()
}

// consent asks to lose objects with what they hold.
func (f *consentFlags) consent(ctx context.Context, in io.Reader, out io.Writer, objects []string) error {
	objects, err := named(objects)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	cluster, looked, err := f.askFlags.look(ctx, acts.ConsentToDelete)
	if err != nil {
		return err
	}
	lister, err := f.lister()
	if err != nil {
		return err
	}
	asks, err := f.find(ctx, cluster, lister, looked, objects)
	if err != nil {
		return err
	}
	digest := asks.digest()
	if f.digest != "" && f.digest != digest {
		return changed(f.digest, digest, objects)
	}
	r, err := f.request(looked, objects, asks)
	if err != nil {
		return err
	}
	r.still = func() error {
		asks, err := f.find(ctx, cluster, lister, looked, objects)
		if err != nil {
			return err
		}
		if now := asks.digest(); now != digest {
			return changed(digest, now, objects)
		}
		return nil
	}
	return f.do(ctx, in, out, cluster, looked, r)
}

// losing is what an act is to consent to.
type losing struct {
	kept asking.Kept
	lost []losses.Loss
	// before is the act that stands, and carried what its lines say of objects that are not named now: they were not used, and stay
	// in the act.
	before  acts.Act
	carried []string
}

// digest tells all that the act would consent to from all else.
func (l losing) digest() string { return losses.DigestOf(l.lost, l.carried) }

// find finds out what an act would consent to, or why nobody can consent to that.
func (f *consentFlags) find(ctx context.Context, cluster *asking.Cluster, lister *losses.Lister, looked asking.Looked, objects []string) (losing, error) {
	kept, err := cluster.Kept(ctx)
	if err != nil {
		return losing{}, err
	}
	if err := mayConsent(kept, looked, objects); err != nil {
		return losing{}, err
	}
	lost, err := f.list(ctx, lister, kept, looked, objects)
	if err != nil {
		return losing{}, err
	}
	before, carried := carriedOver(looked, kept, objects)
	return losing{kept: kept, lost: lost, before: before, carried: carried}, nil
}

// carriedOver is what the act that stands consents to besides the objects, and has not been used for.
func carriedOver(looked asking.Looked, kept asking.Kept, objects []string) (before acts.Act, lines []string) {
	before, counts := stands(acts.ConsentToDelete, looked.Text, looked.At)
	if !counts || before.Revision() != looked.Newest {
		return before, nil
	}
	for _, item := range before.Items[1:] {
		o := acts.ObjectOf(item.Value).String()
		if told, is := kept.Of(o); is && told.Void == "" && !slices.Contains(objects, o) {
			lines = append(lines, item.Value)
		}
	}
	return before, lines
}

// mayConsent says why nobody can consent to lose some of the objects now.
func mayConsent(kept asking.Kept, looked asking.Looked, objects []string) error {
	if looked.Newest != looked.Current {
		return &inspect.Error{
			What: fmt.Sprintf("revision %d is not installed yet, and what it leaves behind is known once it is", looked.Newest), Next: "wait until capstan status says Installed, and look again",
		}
	}
	for _, o := range objects {
		if _, is := kept.Of(o); !is {
			return &inspect.Error{What: "the operator does not retain " + o + " for the data in it", Next: asking.Consent + " shows what it retains"}
		}
	}
	return nil
}

// list lists what would be lost, and refuses what nobody can tell all of.
func (f *consentFlags) list(ctx context.Context, lister *losses.Lister, kept asking.Kept, looked asking.Looked, objects []string) ([]losses.Loss, error) {
	var all []losses.Loss
	for _, name := range objects {
		object, err := acts.Named(name)
		if err != nil {
			return nil, err
		}
		told, _ := kept.Of(name)
		loss, err := lister.Of(ctx, object, f.named(), givenAt(looked, object, told.Void))
		switch {
		case err != nil:
			return nil, err
		case loss.Digest == "":
			return nil, &inspect.Error{
				What: fmt.Sprintf("nobody can consent to lose %s, since nobody can tell all that would be lost: it holds %s", name, strings.Join(append(loss.Open, loss.Holds), ", and ")),
				Next: "do what it says, or delete the object yourself",
			}
		}
		all = append(all, loss)
	}
	return all, nil
}

// changed says that what would be lost is not what somebody has seen.
func changed(seen, now string, objects []string) error {
	return &inspect.Error{
		What: fmt.Sprintf("what would be lost has changed, and nothing was written: its digest is %s, and not %s", now, seen),
		Next: "look at it again: " + asking.Command(asking.Consent, objects) + " --reason TEXT --dry-run",
	}
}

// request is the act with what people are told of it. What else is consented to, and was not used, stays in it.
func (f *consentFlags) request(looked asking.Looked, objects []string, asks losing) (request, error) {
	act := acts.Act{Name: acts.ConsentToDelete, By: looked.By, At: looked.At, Reason: f.reason, Items: []acts.Said{{Key: "revision", Value: fmt.Sprint(looked.Newest)}}}
	var shows strings.Builder
	fmt.Fprintf(&shows, "Let these go beside revision %d, with all that they hold, by %s, because: %s\n\n", looked.Newest, act.By, act.Reason)
	for _, loss := range asks.lost {
		act.Items = append(act.Items, acts.Said{Key: "object", Value: loss.Line()})
		shows.WriteString(loss.Text(looked.At))
		if told, _ := asks.kept.Of(loss.Object); told.Uncounted() {
			fmt.Fprintf(&shows, "  Operator: %s; while that is so, it deletes nothing of it, whoever consents\n", told.Why)
		}
		shows.WriteString("\n")
	}
	for _, line := range asks.carried {
		act.Items = append(act.Items, acts.Said{Key: "object", Value: line})
		fmt.Fprintf(&shows, "Consented to by %s since %s, and from now on in your name: %s\n", asks.before.By, machine.Moment(asks.before.At), line)
	}
	digest := asks.digest()
	fmt.Fprintf(&shows, "Digest: %s\n", digest)
	text, err := act.Text()
	if err != nil {
		return request{}, fmt.Errorf("what is asked for cannot be written down: %w", err)
	}
	return request{
		name: acts.ConsentToDelete, text: text, act: &act, objects: objects,
		does: asked{
			Does: "consent", By: act.By, At: act.At, Reason: act.Reason, Revision: looked.Newest, Objects: objects, Losses: asks.lost, Carried: asks.carried, Digest: digest,
			Replaces: looked.Text, Undo: asking.Unconsent,
		},
		shows: shows.String() + "Until it is used, this takes it back: " + asking.Unconsent + "\n",
		said:  "Consented: they are being deleted, or are gone, and do not come back. What they still wait for: capstan status\n",
	}, nil
}
