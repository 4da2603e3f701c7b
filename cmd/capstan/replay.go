package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/replay"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/phases/recorder"
)

func replayCommand() *cobra.Command {
	var output string
	var from fromFlag
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Steps through a flight recorder's file and decides everything again",
		Long: `Steps through a flight recorder's file, oldest entry first: what was done to which object, what went
wrong, and of each transition the state, what every guard answered and why, and which move the table
of its machine, in this release, decides for from that. No cluster is needed.

The operator keeps its last 512 entries in ConfigMap capstan-recorder of its namespace. FILE is that
ConfigMap as kubectl prints it with -o yaml or -o json, its binaryData entries.jsonl.gz, or that
unpacked; - reads from standard input. With --from it is the one in an archive of capstan support.

The exit code is 1 if a decision differs from the recorded one, or if the file cannot be read.`,
		Example: `  kubectl -n openshift-cluster-api-operator get configmap capstan-recorder -o yaml > flight.yaml
  capstan replay flight.yaml
  kubectl -n openshift-cluster-api-operator get configmap capstan-recorder -o json | capstan replay - -o json | jq .differ
  capstan replay --from capstan-support.tar.gz`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := terminal.CheckOutput(output); err != nil {
				return err
			}
			if (len(args) == 1) == (from.from != "") {
				return errors.New("name the recorder's file, or an archive with --from")
			}
			if from.from != "" {
				log, err := from.recorded()
				if err != nil {
					return err
				}
				return replayed(log, output, cmd.OutOrStdout())
			}
			log, err := readRecorder(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return replayed(log, output, cmd.OutOrStdout())
		},
	}
	from.add(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func readRecorder(name string, in io.Reader) ([]recorder.Entry, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading the recorder's file: %w", err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	log, err := recorder.ReadFrom(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return log, nil
}

func replayed(log []recorder.Entry, output string, out io.Writer) (err error) {
	result := replay.Run(log, controllers.Views())
	if output == "json" {
		err = terminal.JSON(out, result)
	} else {
		err = result.Write(out)
	}
	if err == nil && result.Differ > 0 {
		return fmt.Errorf("%s differ from what was recorded; this release decides otherwise than the one that ran", count(result.Differ, "decision"))
	}
	return err
}
