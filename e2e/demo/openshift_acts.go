package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// ask makes the objects of an install-config, says where the guest's API will be, and applies them.
func (i *installing) ask(ctx context.Context) error {
	config := filepath.Join(i.dir, "install-config.yaml")
	if err := os.WriteFile(config, []byte(capiworld.InstallConfig(guestName, guestMasters)), 0o600); err != nil {
		return fmt.Errorf("writing an install-config: %w", err)
	}
	err := i.provider(ctx, "create", "--install-config", config, "--release-image", i.release, "--infrastructure", "dev", "--namespace", i.key.Namespace,
		"--folder", i.objects)
	if err != nil {
		return err
	}
	port := i.world.Endpoint()
	if err := i.place(port); err != nil {
		return err
	}
	i.display.step("an administrator writes into its DevCluster that the guest's API will be at 127.0.0.1:%d", port)
	i.told.begun = time.Now()
	if i.told.since, err = i.world.Cluster.Mark(ctx); err != nil {
		return err
	}
	if err := i.provider(ctx, "apply", "--file", i.objects, "--kubeconfig", i.world.Cluster.Kubeconfig()); err != nil {
		return err
	}
	i.followed, err = i.follow(ctx)
	return err
}

// place says in the file of the DevCluster where the API of the guest will be, and that the guest is no one in memory.
func (i *installing) place(port int) error {
	files, err := filepath.Glob(filepath.Join(i.objects, "*-devcluster-*"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("looking for one DevCluster: %q: %w", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return fmt.Errorf("reading a DevCluster: %w", err)
	}
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &made.Object); err != nil {
		return fmt.Errorf("reading %s: %w", files[0], err)
	}
	at := map[string]any{"host": "127.0.0.1", "port": int64(port)}
	if err := unstructured.SetNestedMap(made.Object, at, "spec", "controlPlaneEndpoint"); err != nil {
		return fmt.Errorf("changing %s: %w", files[0], err)
	}
	annotations := made.GetAnnotations()
	annotations[capiworld.HoldAnnotation] = capiworld.StepAPI
	made.SetAnnotations(annotations)
	if text, err = yaml.Marshal(made.Object); err != nil {
		return fmt.Errorf("writing %s: %w", files[0], err)
	}
	return os.WriteFile(files[0], text, 0o600)
}

// killHalfWay ends the provider with SIGKILL as soon as there is a machine, and starts it again.
func (i *installing) killHalfWay(ctx context.Context) error {
	machines := func(ctx context.Context) ([]string, error) {
		objects, err := i.world.Objects(ctx, i.key.Namespace)
		return slices.DeleteFunc(objects, func(o string) bool { return !strings.HasPrefix(o, "Machine ") }), err
	}
	err := i.until(ctx, "a machine", func(ctx context.Context) error {
		there, err := machines(ctx)
		return errors.Join(err, unless(len(there) > 0, "there is none"))
	})
	if err != nil {
		return err
	}
	manager := i.world.Manager(capiworld.Provider)
	manager.Kill()
	if i.told.KilledWith, err = machines(ctx); err != nil {
		return err
	}
	i.display.step("the provider is killed: there are %s", strings.Join(i.told.KilledWith, ", "))
	if err := manager.Start(); err != nil {
		return err
	}
	i.display.step("the provider is started again; once the Lease of the killed one is over it takes up what there is")
	return nil
}

// boot has the bootstrap machine boot by its data Secret, and the others join.
func (i *installing) boot(ctx context.Context) error {
	first := capiworld.Key{Namespace: i.key.Namespace, Name: i.key.Name + "-bootstrap"}
	err := i.until(ctx, "the data of the bootstrap machine", func(ctx context.Context) error {
		_, err := i.world.UserData(ctx, first)
		return err
	})
	if err != nil {
		return err
	}
	if i.guest, err = i.world.Boot(ctx, i.key); err != nil {
		return err
	}
	i.tell()
	i.display.step("the bootstrap machine boots by its data Secret alone: another etcd and kube-apiserver, with the authorities and manifests in it")
	for number := range guestMasters {
		if err := i.join(ctx, number); err != nil {
			return err
		}
	}
	if err := i.state(ctx, "Bootstrapping"); err != nil {
		return err
	}
	if err := i.guest.Complete(ctx); err != nil {
		return err
	}
	i.display.step("the bootstrap of the guest tells its end, and etcd has no member on that machine any more")
	return nil
}

// join has the machine of a number get its configuration as a pointer, and its kubelet join the guest.
func (i *installing) join(ctx context.Context, number int) error {
	return i.until(ctx, fmt.Sprintf("machine %d", number), func(ctx context.Context) error {
		pointer, err := i.world.Join(ctx, i.guest, i.key, number)
		if err == nil {
			i.display.step("Machine %s-%d would get its configuration from %s, by the guest's own authority", i.key.Name, number, pointer)
		}
		return err
	})
}

// finish has the guest's operators settle, and waits until the cluster is Installed.
func (i *installing) finish(ctx context.Context) error {
	if err := i.state(ctx, "Settling"); err != nil {
		return err
	}
	if err := i.guest.Settle(ctx, guestVersion, i.release); err != nil {
		return err
	}
	i.display.step("the operators of the guest settle; for half a minute all of them have to be well")
	if err := i.state(ctx, "Installed"); err != nil {
		return err
	}
	if err := i.followed.wait(); err != nil {
		return err
	}
	i.told.Seconds = seconds(i.told.begun)
	all, err := i.world.Cluster.RequestsSince(ctx, i.told.since)
	if err != nil {
		return err
	}
	user := i.world.Manager(capiworld.Provider).User
	own := all.Where(func(r cluster.Request) bool { return r.User == user })
	i.told.Requests, i.told.Writes = len(own), len(own.Writes())
	i.told.Bootstraps = len(own.Where(func(r cluster.Request) bool {
		return r.Resource == "machines" && r.Verb == "create" && r.Code == http.StatusCreated && r.Name == i.key.Name+"-bootstrap"
	}))
	return unless(i.told.Bootstraps == 1, fmt.Sprintf("%d bootstrap machines were made", i.told.Bootstraps))
}

// use reads the guest's Nodes by the kubeconfig that people get.
func (i *installing) use(ctx context.Context) error {
	kept := &corev1.Secret{}
	name := capiworld.Key{Namespace: i.key.Namespace, Name: i.key.Name + "-kubeconfig"}
	if err := i.world.API.Get(ctx, name, kept); err != nil {
		return fmt.Errorf("reading Secret %s: %w", name, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kept.Data["value"])
	if err != nil {
		return fmt.Errorf("reading Secret %s: %w", name, err)
	}
	administrator, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building a client of the guest: %w", err)
	}
	nodes, err := administrator.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the guest's Nodes: %w", err)
	}
	i.display.say("\nThe Nodes of the guest, by the kubeconfig in Secret %s:", name)
	for _, node := range nodes.Items {
		i.told.Nodes = append(i.told.Nodes, node.Name)
		i.display.say("  %s  %s", node.Name, node.Spec.ProviderID)
	}
	return unless(len(i.told.Nodes) == guestMasters, fmt.Sprintf("there are %d", len(i.told.Nodes)))
}

// remove deletes the cluster, and waits until nothing is left that was made for it.
func (i *installing) remove(ctx context.Context) error {
	i.display.say("\nAn administrator deletes Cluster %s", i.key)
	if err := i.world.API.Delete(ctx, capiworld.Cluster(i.key, true)); err != nil {
		return fmt.Errorf("deleting Cluster %s: %w", i.key, err)
	}
	err := i.until(ctx, "nothing to be left", func(ctx context.Context) (err error) {
		if i.told.Left, err = i.world.Objects(ctx, i.key.Namespace); err != nil {
			return err
		}
		made := slices.ContainsFunc(i.told.Left, func(o string) bool { return o != "Secret "+i.key.Name+"-install" })
		return unless(!made, fmt.Sprintf("these are left: %q", i.told.Left))
	})
	if err != nil {
		return err
	}
	i.display.step("nothing is left of it but what was given: %s", strings.Join(i.told.Left, ", "))
	return nil
}

// state waits until the control plane is in a state, or past it.
func (i *installing) state(ctx context.Context, state string) error {
	return i.until(ctx, state, func(context.Context) error {
		return unless(slices.Contains(i.followed.states(), state), "it went "+strings.Join(i.followed.states(), " -> "))
	})
}

// until repeats an attempt, and tells meanwhile what is seen of the cluster.
func (i *installing) until(ctx context.Context, what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, guestPatience)
	defer cancel()
	return harness.Eventually(ctx, what, func(ctx context.Context) error {
		if err := i.world.Alive(); err != nil {
			return err
		}
		i.tell()
		return attempt(ctx)
	})
}
