package release_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// pod is one that runs. Its volumes and its log lie in dir.
type pod struct {
	object  *corev1.Pod
	address string
	dir     string
	process *cluster.Process
	// late are the volumes of Secrets and ConfigMaps that were not there yet, and may come.
	late []corev1.Volume
}

func (p *pod) log() string { return filepath.Join(p.dir, "log") }

// number is the last one of its address.
func (p *pod) number() (number int) {
	_, _ = fmt.Sscanf(p.address, "127.0.77.%d", &number)
	return number
}

// ownPort is a port of the pod's own in an argument.
var ownPort = regexp.MustCompile(`=:(\d+)$`)

// run starts the one container of a pod, with nothing of this process's own
// environment, and with the token of its account, bound to the pod. images are the
// files of those that it may mount, by reference.
func run(ctx context.Context, object *corev1.Pod, address string, images map[string]map[string][]byte) (*pod, error) {
	p := &pod{object: object, address: address, dir: filepath.Join(env.Cluster.Dir(), "pod-"+string(object.UID))}
	if len(object.Spec.Containers) != 1 {
		return nil, errors.New("it has not one container")
	}
	container := object.Spec.Containers[0]
	access, err := p.account(ctx)
	if err != nil {
		return nil, err
	}
	command := []string{"/usr/bin/env", "-i", "KUBECONFIG=" + access}
	for _, variable := range container.Env {
		if from := variable.ValueFrom; from != nil {
			if from.FieldRef == nil || from.FieldRef.FieldPath != "metadata.name" {
				return nil, fmt.Errorf("variable %s is taken from elsewhere, which this kubelet cannot do", variable.Name)
			}
			variable.Value = object.Name
		}
		command = append(command, variable.Name+"="+variable.Value)
	}
	binary, err := filepath.Abs(filepath.Join(bin, container.Command[0]))
	if err != nil {
		return nil, err
	}
	command = append(command, binary)
	folders, err := p.volumes(ctx, images)
	if err != nil {
		return nil, err
	}
	for _, argument := range slices.Concat(container.Command[1:], container.Args) {
		for _, mount := range container.VolumeMounts {
			argument = strings.ReplaceAll(argument, mount.MountPath, folders[mount.Name])
		}
		command = append(command, ownPort.ReplaceAllString(argument, "="+address+":$1"))
	}
	p.process, err = env.Cluster.Spawn("pod "+object.Name, p.log(), command...)
	return p, err
}

// account asks for a token as a kubelet does, and writes the access that a pod has
// by it.
func (p *pod) account(ctx context.Context) (string, error) {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = p.object.Namespace, p.object.Spec.ServiceAccountName
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To(int64(3607)),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.object.Name, UID: p.object.UID},
	}}
	if err := env.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("asking for a token: %w", err)
	}
	token := filepath.Join(p.dir, "account", "token")
	if err := write(token, []byte(request.Status.Token)); err != nil {
		return "", err
	}
	const here = "cluster"
	path := filepath.Join(p.dir, "kubeconfig")
	return path, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{here: {Server: env.Cluster.Config().Host, CertificateAuthorityData: env.Cluster.Config().CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{here: {TokenFile: token}},
		Contexts:       map[string]*clientcmdapi.Context{here: {Cluster: here, AuthInfo: here}},
		CurrentContext: here,
	}, path)
}

// volumes are folders by the names of the volumes that they stand for. The operator
// is told by the Pod where an image is mounted, so that this is where its files lie.
func (p *pod) volumes(ctx context.Context, images map[string]map[string][]byte) (map[string]string, error) {
	folders := map[string]string{}
	for _, volume := range p.object.Spec.Volumes {
		folder := p.folderOf(volume)
		if volume.Image != nil {
			folder = p.mountPath(volume.Name)
		}
		folders[volume.Name] = folder
		if err := p.mount(ctx, volume, folder, images); err != nil {
			return nil, err
		}
	}
	return folders, nil
}

func (p *pod) folderOf(volume corev1.Volume) string {
	return filepath.Join(p.dir, "volumes", volume.Name)
}

// mount writes the files of a volume, or notes that they are late.
func (p *pod) mount(ctx context.Context, volume corev1.Volume, folder string, images map[string]map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	files, err := p.files(ctx, volume, images)
	if err != nil {
		return fmt.Errorf("mounting volume %s: %w", volume.Name, err)
	}
	if files == nil && (volume.Secret != nil || volume.ConfigMap != nil) {
		p.late = append(p.late, volume)
	}
	for name, data := range files {
		if err := write(filepath.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}

// mountLate mounts what has come since the pod was started, as a kubelet does.
func (p *pod) mountLate(ctx context.Context) error {
	late := p.late
	p.late = nil
	for _, volume := range late {
		if err := p.mount(ctx, volume, p.folderOf(volume), nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *pod) mountPath(volume string) string {
	for _, mount := range p.object.Spec.Containers[0].VolumeMounts {
		if mount.Name == volume {
			return mount.MountPath
		}
	}
	return ""
}

// files are those of a volume; none for what is empty, or optional and not there.
func (p *pod) files(ctx context.Context, volume corev1.Volume, images map[string]map[string][]byte) (map[string][]byte, error) {
	var optional *bool
	var files map[string][]byte
	var err error
	switch namespace := p.object.Namespace; {
	case volume.Image != nil:
		if files = images[volume.Image.Reference]; files == nil {
			err = fmt.Errorf("there is no image %s", volume.Image.Reference)
		}
	case volume.Secret != nil:
		secret := &corev1.Secret{}
		optional = volume.Secret.Optional
		err = env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: volume.Secret.SecretName}, secret)
		files = secret.Data
	case volume.ConfigMap != nil:
		configMap := &corev1.ConfigMap{}
		optional = volume.ConfigMap.Optional
		err = env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: volume.ConfigMap.Name}, configMap)
		files = map[string][]byte{}
		for name, text := range configMap.Data {
			files[name] = []byte(text)
		}
	}
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	return files, err
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
