package main

import "github.com/spf13/cobra"

func privateCAPICommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "private-capi",
		Short: "Gives hosted clusters Cluster API types of their own",
		Long: `Works on the private types of Cluster API: those of hosted clusters, in the group cluster.hypershift.openshift.io
and the groups below it, beside the platform's own in cluster.x-k8s.io.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		privateManifestsCommand(), privateStatusCommand(), privateExplainCommand(),
		privatePauseCommand(), privateResumeCommand(), privateRetryCommand(), privateRevertCommand(),
	)
	return cmd
}
