package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/collecting"
)

func collectCommand() *cobra.Command {
	var kubeconfig, work, assets, namespace, secret string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Stores what the installer has made beside it, in the Secret of its Job",
		Long: `Runs beside the installer in the pod of a Job. Waits until the installer has ended, checks the Ignition
configs that it has written, and stores them in one Secret. Where the installer has failed, the end of
its log is stored instead, without what is secret.

Exit codes: 0 if the configs are stored; 1 if the installer has failed, or they are not right or could not be stored.`,
		Example: `  capstan-provider collect --work=/work --assets=/assets --namespace=fleet --secret=a-ignition-0123456789`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if work == "" || assets == "" || namespace == "" || secret == "" {
				return errors.New("--work, --assets, --namespace and --secret are needed")
			}
			config, err := restConfig(kubeconfig)
			if err != nil {
				return err
			}
			client, err := corev1client.NewForConfig(config)
			if err != nil {
				return err
			}
			return collect(cmd.Context(), client, work, assets, namespace, secret)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", kubeconfigUsage)
	flags.StringVar(&work, "work", "", "`folder` that the installer works in")
	flags.StringVar(&assets, "assets", "", "`folder` with what the installer was given; what is secret in it is taken out of the log")
	flags.StringVar(&namespace, "namespace", "", "`namespace` of the Secret")
	flags.StringVar(&secret, "secret", "", "`name` of the Secret, which is there")
	return cmd
}

func collect(ctx context.Context, client corev1client.SecretsGetter, work, assets, namespace, secret string) error {
	return collecting.Collector{
		Work: os.DirFS(work), Assets: os.DirFS(assets), Secrets: client.Secrets(namespace), Name: secret,
	}.Run(ctx)
}
