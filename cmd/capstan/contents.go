package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// contents are the flags that say what images may contain.
type contents struct {
	namespaces []string
	file       string
	exceptions []policy.Exception
}

func (c *contents) flags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.namespaces, "namespace", []string{"openshift-cluster-api"}, "`namespace` that objects may be in (repeatable)")
	flags.StringVar(&c.file, "exceptions", "", "`file` with the ConfigMap of exceptions from what images may contain")
}

// readExceptions reads them from the file.
func (c *contents) readExceptions() (err error) {
	c.exceptions, err = exceptionsIn(c.file)
	return err
}

// exceptionsIn are those that the ConfigMap in a file has; none without a file.
func exceptionsIn(file string) ([]policy.Exception, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the exceptions: %w", err)
	}
	var kind metav1.TypeMeta
	list := &corev1.ConfigMap{}
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("reading the exceptions in %s: %w", file, err)
	}
	if kind.Kind != "ConfigMap" {
		return nil, fmt.Errorf("reading the exceptions in %s: it has no ConfigMap, but %s", file, cmp.Or(kind.Kind, "nothing of a kind"))
	}
	if err := yaml.UnmarshalStrict(text, list); err != nil {
		return nil, fmt.Errorf("reading the exceptions in %s: %w", file, err)
	}
	exceptions, err := policy.ParseExceptions(list.Data)
	if err != nil {
		return nil, fmt.Errorf("reading the exceptions in %s: %w", file, err)
	}
	return exceptions, nil
}

// policy is what images may contain. All exceptions are for the folders too, by the references that stand for them.
func (c *contents) policy(folders map[string]string) *policy.Policy {
	all := slices.Clone(c.exceptions)
	for _, e := range c.exceptions {
		for made := range folders {
			e.Image = made
			all = append(all, e)
		}
	}
	return &policy.Policy{Namespaces: c.namespaces, Exceptions: all}
}
