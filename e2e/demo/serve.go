package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	// serveCommand is how up starts this program again, detached.
	serveCommand = "serve"
	stateFile    = "state.json"
	serveLog     = "demo-runner.log"
	// restartAfter is how long an operator that has ended stays so.
	restartAfter = 2 * time.Second
)

// state is what up and down need to know of a cluster that is left running.
// All of its processes are children of one, and end with that.
type state struct {
	PID         int    `json:"pid"`
	Kubeconfig  string `json:"kubeconfig"`
	Registry    string `json:"registry"`
	OperatorPID int    `json:"operatorPID"`
	OperatorLog string `json:"operatorLog"`
	Images      int    `json:"images"`
}

func readState(dir string) (state, error) {
	var s state
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

// write replaces the file as a whole, so that nobody reads half of it.
func (s state) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the state file: %w", err)
	}
	path := filepath.Join(dir, stateFile)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the state file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("writing the state file: %w", err)
	}
	return nil
}

// serve runs the cluster, the registry and the operator until it is told to
// stop, in the folder that up has claimed for it; then it leaves nothing behind. After a failure its folder stays.
func serve(ctx context.Context, arguments []string) error {
	if len(arguments) != 2 {
		return errors.New("only up runs this command")
	}
	bin, dir := arguments[0], arguments[1]
	claim, err := inherit(dir)
	if err != nil {
		return err
	}
	defer claim.release()
	stage, err := harness.Start(ctx, harness.Options{Bin: bin, Dir: filepath.Join(dir, "cluster"), ServiceCA: true})
	if err != nil {
		return err
	}
	if err := serveOn(ctx, stage, dir); err != nil && ctx.Err() == nil {
		return errors.Join(err, stage.Stop())
	}
	return errors.Join(stage.Stop(), claim.clear())
}

func serveOn(ctx context.Context, stage *harness.Environment, dir string) error {
	references, err := stage.Push(ctx, providers.ReleaseOne)
	if err != nil {
		return err
	}
	if err := stage.Begin(ctx, harness.World{Platform: platform, Images: references}); err != nil {
		return err
	}
	for {
		operator, err := stage.StartOperator(harness.OperatorOptions{LeaderElect: true})
		if err != nil {
			return err
		}
		s := state{
			PID: os.Getpid(), Kubeconfig: stage.Cluster.Kubeconfig(), Registry: stage.Registry.Host(),
			OperatorPID: operator.PID(), OperatorLog: operator.Log, Images: len(references),
		}
		if err := s.write(dir); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-operator.Exited():
			fmt.Fprintf(os.Stderr, "the operator has ended (%v) and is started again; see %s\n", operator.Failure(), operator.Log)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartAfter):
		}
	}
}
