package house

import (
	"slices"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// loggers are what the passes of a machine log with, as controller-runtime names them: it makes one for each pass, and most passes log
// nothing.
func loggers(log logr.Logger, machine string) func(*ctrl.Request) logr.Logger {
	log = logr.New(&lateSink{LogSink: log.WithValues("controller", machine).GetSink()})
	return func(request *ctrl.Request) logr.Logger {
		if request == nil {
			return log
		}
		return log.WithValues("namespace", request.Namespace, "name", request.Name)
	}
}

// lateSink gives values to the sink below with what is logged, and not before: that may encode them at once.
type lateSink struct {
	logr.LogSink
	values []any
}

// Init is not the sink's below, which knows already how deep it is called.
func (s *lateSink) Init(logr.RuntimeInfo) {}

func (s *lateSink) Info(level int, message string, values ...any) {
	s.LogSink.Info(level, message, slices.Concat(s.values, values)...)
}

func (s *lateSink) Error(err error, message string, values ...any) {
	s.LogSink.Error(err, message, slices.Concat(s.values, values)...)
}

func (s *lateSink) WithValues(values ...any) logr.LogSink {
	return &lateSink{LogSink: s.LogSink, values: slices.Concat(s.values, values)}
}

func (s *lateSink) WithName(name string) logr.LogSink {
	return &lateSink{LogSink: s.LogSink.WithName(name), values: s.values}
}
