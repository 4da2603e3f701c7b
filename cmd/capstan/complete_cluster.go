package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/history"
)

// maxKeys is how many objects with an instance of a machine are named.
const maxKeys = 500

// contexts are those of the kubeconfig.
func contexts(_ context.Context, cmd *cobra.Command) []cobra.Completion {
	names, err := accessOf(cmd).Contexts()
	if err != nil {
		return nil
	}
	return names
}

// keys are those of the machine that is named.
func keys(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	target := inspect.Target{Views: controllers.Views(), Machine: typedFlag(cmd, "machine")}
	of, err := target.View()
	if err != nil || of.Instances == nil {
		return nil
	}
	reader, err := accessOf(cmd).Reader()
	if err != nil {
		return nil
	}
	names, _, err := reader.Names(ctx, *of.Instances, maxKeys)
	if err != nil {
		return nil
	}
	return names
}

// statusNow is the status of the machine clusterapi; the zero one where there is none to be had.
func statusNow(ctx context.Context, cmd *cobra.Command) clusterapi.Status {
	target := inspect.Target{Access: *accessOf(cmd), Views: controllers.Views(), Machine: controllers.Views()[0].Table.Name}
	seen, err := target.Look(ctx)
	if err != nil {
		return clusterapi.Status{}
	}
	status, _ := seen.Status.(clusterapi.Status)
	return status
}

// typedObject is an object as it is typed: an item of an act has a space where a word of a shell has a slash.
func typedObject(item, about string) cobra.Completion {
	return cobra.CompletionWithDesc(message.Line(strings.Replace(item, " ", "/", 1)), message.Line(about))
}

// objectsLeftAlone are those that people ask to leave as they are.
func objectsLeftAlone(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	var names []cobra.Completion
	for _, o := range statusNow(ctx, cmd).LeftAlone {
		names = append(names, typedObject(o.Object, "left alone"))
	}
	return names
}

// objectsInTheWay are those that may be adopted.
func objectsInTheWay(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	var names []cobra.Completion
	for _, c := range statusNow(ctx, cmd).Collisions {
		if c.Adoptable {
			names = append(names, typedObject(c.Named(), "belongs to "+c.Holder))
		}
	}
	return names
}

// objectsRetained are those that are retained for the data in them.
func objectsRetained(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	var names []cobra.Completion
	for _, r := range statusNow(ctx, cmd).Retained {
		names = append(names, typedObject(r.Named(), r.Why))
	}
	return names
}

// managedObjects are those of the newest revision and of the one that is installed, by their inventories, which take the right to
// get ConfigMaps in the operator's namespace.
func managedObjects(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	reader, err := accessOf(cmd).Reader()
	if err != nil {
		return nil
	}
	namespace := typedFlag(cmd, "operator-namespace")
	found := map[cobra.Completion]bool{}
	for _, r := range statusNow(ctx, cmd).Revisions {
		if !r.Desired && !r.Current {
			continue
		}
		for _, o := range inventoryOf(ctx, reader, namespace, r.Number) {
			found[typedObject(o.String(), "")] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// inventoryOf are the objects of a revision.
func inventoryOf(ctx context.Context, reader *inspect.Reader, namespace string, number int64) []acts.Object {
	place := phases.Inventories(namespace)
	stored := &corev1.ConfigMap{}
	found, err := reader.Get(ctx, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", namespace, place.Name(number), stored)
	if err != nil || !found {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	if err != nil {
		return nil
	}
	listed, err := place.ReadListed(&unstructured.Unstructured{Object: fields})
	if err != nil {
		return nil
	}
	var objects []acts.Object
	for _, key := range listed.Objects {
		objects = append(objects, acts.Object{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name})
	}
	return objects
}

// revisionsRemembered are those of the history, the newest first.
func revisionsRemembered(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	return revisionsWhere(ctx, cmd, func(history.Revision) bool { return true })
}

// revisionsToGoBackTo are those that were installed as a whole.
func revisionsToGoBackTo(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	return revisionsWhere(ctx, cmd, func(r history.Revision) bool { return r.Result == history.Installed })
}

func revisionsWhere(ctx context.Context, cmd *cobra.Command, is func(history.Revision) bool) []cobra.Completion {
	reader, err := accessOf(cmd).Reader()
	if err != nil {
		return nil
	}
	known, err := reader.History(ctx, typedFlag(cmd, "operator-namespace"))
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, r := range slices.Backward(known.Revisions) {
		if is(r) {
			about := "release " + r.Release + ", " + string(r.Result)
			names = append(names, cobra.CompletionWithDesc(strconv.FormatInt(r.Number, 10), message.Line(about)))
		}
	}
	return names
}

// bootImageTargets are those whose boot images the operator looks after.
func bootImageTargets(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	f := bootImagesFlags{
		Access: *accessOf(cmd), operatorNamespace: typedFlag(cmd, "operator-namespace"), capiNamespace: typedFlag(cmd, "capi-namespace"), output: "text",
	}
	look, _, err := f.look(ctx, nil)
	if err != nil {
		return nil
	}
	return look.Keys()
}

// hostedClusters are those that have a machine of their own.
func hostedClusters(ctx context.Context, cmd *cobra.Command) []cobra.Completion {
	f := hostedFlags{Access: *accessOf(cmd), namespace: typedFlag(cmd, "operator-namespace")}
	cluster, err := f.cluster()
	if err != nil {
		return nil
	}
	names, err := cluster.Names(ctx)
	if err != nil {
		return nil
	}
	return names
}
