package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// kubelet stands in for a node's, for the pods of one cluster's Jobs: it writes the files that a pod mounts, runs each container as a
// process that has the folders of this machine in place of those of its mounts, and stores how they have ended. Containers of this
// repository's own image are the program itself, with the token that the pod mounts. Nothing else of an image is there: what the
// installer's container calls is in a folder of its own.
type kubelet struct {
	client *kubernetes.Clientset
	// folder has a folder for each pod, installers the programs of the installer's image.
	folder, installers string

	mutex  sync.Mutex
	access map[types.UID]string
	failed []error
}

// Names of files that a kubelet writes into the volumes of a pod.
const (
	tokenFile = "token"
	dataLink  = "..data"
	dataOf    = "..2026"
)

// startKubelet runs the pods of a cluster's Jobs until the spec is over. No other may run them meanwhile.
func startKubelet(ctx context.Context, key capiworld.Key, installers string) *kubelet {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(world.Cluster.Config())
	Expect(err).NotTo(HaveOccurred())
	k := &kubelet{client: client, folder: GinkgoT().TempDir(), installers: installers, access: map[types.UID]string{}}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	pods, err := client.CoreV1().Pods(key.Namespace).Watch(ctx, metav1.ListOptions{LabelSelector: clusterv1.ClusterNameLabel + "=" + key.Name})
	Expect(err).NotTo(HaveOccurred())
	var running sync.WaitGroup
	running.Go(func() {
		for event := range pods.ResultChan() {
			pod, is := event.Object.(*corev1.Pod)
			if !is || !isHeld(pod) || !k.takes(pod.UID) {
				continue
			}
			running.Go(func() {
				if err := k.run(ctx, pod); err != nil && ctx.Err() == nil {
					k.fails(fmt.Errorf("running pod %s: %w", pod.Name, err))
				}
			})
		}
	})
	DeferCleanup(func() {
		end()
		pods.Stop()
		running.Wait()
		Expect(errors.Join(k.failed...)).NotTo(HaveOccurred())
	})
	return k
}

// isHeld says that a pod has come to the node, and that kwok leaves it to us.
func isHeld(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending && len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil })
}

// takes says that a pod was not run yet.
func (k *kubelet) takes(uid types.UID) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	_, taken := k.access[uid]
	if !taken {
		k.access[uid] = ""
	}
	return !taken
}

func (k *kubelet) fails(err error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.failed = append(k.failed, err)
}

// ran is how many pods were run.
func (k *kubelet) ran() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.access)
}

// run runs all containers of a pod, and stores how they have ended.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	mounts := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		mounts[volume.Name] = filepath.Join(k.folder, pod.Name, volume.Name)
		if err := k.mount(ctx, pod, volume, mounts[volume.Name]); err != nil {
			return fmt.Errorf("mounting volume %s: %w", volume.Name, err)
		}
	}
	ended := make([]corev1.ContainerStatus, len(pod.Spec.Containers))
	var running sync.WaitGroup
	for i, of := range pod.Spec.Containers {
		running.Go(func() {
			code := int32(0)
			if err := k.start(ctx, of, mounts); err != nil {
				code = 1
				GinkgoWriter.Printf("container %s of pod %s: %s\n", of.Name, pod.Name, err)
			}
			ended[i] = corev1.ContainerStatus{
				Name: of.Name, Image: of.Image, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Ended"}},
			}
		})
	}
	running.Wait()
	phase := corev1.PodSucceeded
	if slices.ContainsFunc(ended, func(s corev1.ContainerStatus) bool { return s.State.Terminated.ExitCode != 0 }) {
		phase = corev1.PodFailed
	}
	return k.store(ctx, pod, phase, ended)
}

func (k *kubelet) store(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, ended []corev1.ContainerStatus) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	is, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	is.ResourceVersion = "" // nobody else says how a container has ended
	is.Status.Phase, is.Status.ContainerStatuses = phase, ended
	_, err = pods.UpdateStatus(ctx, is, metav1.UpdateOptions{})
	return err
}

// start runs one container to its end. Every folder that it mounts has another name here, in all that it is told.
func (k *kubelet) start(ctx context.Context, of corev1.Container, mounts map[string]string) error {
	var names []string
	for _, mount := range of.VolumeMounts {
		names = append(names, mount.MountPath, mounts[mount.Name])
	}
	here := strings.NewReplacer(names...)
	command := append(slices.Clone(of.Command), of.Args...)
	if len(of.Command) == 0 {
		command = append([]string{filepath.Join(bin, "capstan-provider")}, of.Args...)
		for _, mount := range of.VolumeMounts {
			if kubeconfig := filepath.Join(mounts[mount.Name], "kubeconfig"); exists(kubeconfig) {
				command = append(command, "--kubeconfig="+kubeconfig)
			}
		}
	}
	for i := range command {
		command[i] = here.Replace(command[i])
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Env = []string{"PATH=" + k.installers + ":/usr/bin:/bin"}
	for _, variable := range of.Env {
		process.Env = append(process.Env, variable.Name+"="+here.Replace(variable.Value))
	}
	if output, err := process.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output[max(0, len(output)-1000):])
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mount writes a volume as a kubelet does: files of a projection are links to a folder beside them.
func (k *kubelet) mount(ctx context.Context, pod *corev1.Pod, volume corev1.Volume, at string) error {
	if volume.Projected == nil {
		return os.MkdirAll(at, 0o700)
	}
	files := map[string][]byte{}
	for _, source := range volume.Projected.Sources {
		found, err := k.files(ctx, pod, source)
		if err != nil {
			return err
		}
		maps.Copy(files, found)
	}
	for name, content := range files {
		path := filepath.Join(at, dataOf, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			return err
		}
		first, _, _ := strings.Cut(name, "/")
		if err := os.Symlink(filepath.Join(dataLink, first), filepath.Join(at, first)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if _, is := files[tokenFile]; is {
		if err := k.admit(pod, files, filepath.Join(at, "kubeconfig")); err != nil {
			return err
		}
	}
	return os.Symlink(dataOf, filepath.Join(at, dataLink))
}

// files are those of one source of a projection, by their paths.
func (k *kubelet) files(ctx context.Context, pod *corev1.Pod, source corev1.VolumeProjection) (map[string][]byte, error) {
	core := k.client.CoreV1()
	files := map[string][]byte{}
	switch {
	case source.Secret != nil:
		secret, err := core.Secrets(pod.Namespace).Get(ctx, source.Secret.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range source.Secret.Items {
			files[item.Path] = secret.Data[item.Key]
		}
	case source.ConfigMap != nil:
		config, err := core.ConfigMaps(pod.Namespace).Get(ctx, source.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range source.ConfigMap.Items {
			files[item.Path] = []byte(config.Data[item.Key])
		}
	case source.ServiceAccountToken != nil:
		asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: source.ServiceAccountToken.ExpirationSeconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
		}}
		got, err := core.ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, asked, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		files[source.ServiceAccountToken.Path] = []byte(got.Status.Token)
	case source.DownwardAPI != nil:
		for _, item := range source.DownwardAPI.Items {
			files[item.Path] = []byte(pod.Namespace) // the only field that is asked for
		}
	}
	return files, nil
}

// admit writes a kubeconfig with what a client finds in a pod, since a process has not the folder in which one looks for that.
func (k *kubelet) admit(pod *corev1.Pod, files map[string][]byte, path string) error {
	const here = "pod"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{here: {Server: world.Cluster.Config().Host, CertificateAuthorityData: files["ca.crt"]}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{here: {Token: string(files[tokenFile])}},
		Contexts:       map[string]*clientcmdapi.Context{here: {Cluster: here, AuthInfo: here, Namespace: pod.Namespace}},
		CurrentContext: here,
	}, path)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.access[pod.UID] = path
	return err
}

// accesses are the kubeconfigs of the pods that were run.
func (k *kubelet) accesses() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return slices.Collect(maps.Values(k.access))
}

// holdJobs has kwok leave the pods of a cluster's Jobs alone until the spec is over.
func holdJobs(ctx context.Context, name string) {
	GinkgoHelper()
	labels := map[string]string{clusterv1.ClusterNameLabel: name}
	Expect(world.Cluster.HoldPods(ctx, labels)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(world.Cluster.ReleasePods(ctx, labels)).To(Succeed()) })
}
