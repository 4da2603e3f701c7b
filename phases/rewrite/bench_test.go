package rewrite_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// machine is a Machine as the server stores it, of about 4 KB.
func machine(name string) string {
	private := rewrite.Private
	return `{"apiVersion":"` + private + `/v1beta2","kind":"Machine","metadata":{"annotations":{"note":"` + strings.Repeat("text ", 40) + `"},` +
		`"creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["machine.cluster.x-k8s.io"],"generation":3,` +
		`"labels":{"cluster.x-k8s.io/cluster-name":"c","cluster.x-k8s.io/deployment-name":"d"},"name":"` + name + `","namespace":"clusters-c",` +
		`"ownerReferences":[{"apiVersion":"` + private + `/v1beta2","blockOwnerDeletion":true,"controller":true,"kind":"MachineSet","name":"ms","uid":"8c5e1a4e-6d2f-4b87-9d7a-3f6a3f1f2c11"}],` +
		`"managedFields":[` + strings.TrimSuffix(strings.Repeat(`{"apiVersion":"`+private+`/v1beta2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:note":{}},"f:labels":{".":{},"f:cluster.x-k8s.io/cluster-name":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"8c5e1a4e-6d2f-4b87-9d7a-3f6a3f1f2c11\"}":{}}},"f:spec":{".":{},"f:bootstrap":{".":{},"f:configRef":{}},"f:clusterName":{},"f:infrastructureRef":{}}},"manager":"manager","operation":"Update","time":"2026-01-01T00:00:00Z"},`, 3), ",") + `],` +
		`"resourceVersion":"123456","uid":"0b1f6a52-7a6f-4a3b-8a79-5d5d0d0d0d0d"},"spec":{"bootstrap":{"configRef":{"apiGroup":"bootstrap.` + private + `","kind":"KubeadmConfig","name":"x"},"dataSecretName":"x"},` +
		`"clusterName":"c","infrastructureRef":{"apiGroup":"infrastructure.` + private + `","kind":"AWSMachine","name":"x"},"providerID":"aws:///us-east-1a/i-0123456789abcdef0","version":"v1.31.0"},` +
		`"status":{"addresses":[{"address":"10.0.0.1","type":"InternalIP"}],"conditions":[` +
		strings.TrimSuffix(strings.Repeat(`{"lastTransitionTime":"2026-01-01T00:00:00Z","message":"","observedGeneration":3,"reason":"Ready","status":"True","type":"Ready"},`, 8), ",") +
		`],"phase":"Running"}}`
}

// endless gives the same text again and again, in chunks as a network does.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// perSecond reports how much text a second of a processor's time is enough for:
// other work on the machine does not count.
func perSecond(b *testing.B, size int) {
	b.Helper()
	before := processorTime(b)
	b.Cleanup(func() {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorTime(b)-before).Seconds(), "MB/cpu-s")
	})
	b.ReportAllocs()
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkWatchEvent(b *testing.B) {
	for _, class := range []rewrite.Class{rewrite.MappedKinds, rewrite.OtherKinds} {
		b.Run(class.String(), func(b *testing.B) {
			event := []byte(`{"type":"MODIFIED","object":` + machine("m") + "}\n")
			reader := rewrite.NewReader(&endless{text: event}, rewrite.ToClient, class, "watch")
			buffer := make([]byte, 32<<10)
			perSecond(b, len(event))
			for range b.N {
				n, err := reader.Read(buffer)
				if err != nil || buffer[n-1] != '\n' {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	var list bytes.Buffer
	list.WriteString(`{"apiVersion":"` + rewrite.Private + `/v1beta2","items":[`)
	for i := range 1000 {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(machine(fmt.Sprint("m", i)))
	}
	list.WriteString(`],"kind":"MachineList","metadata":{"resourceVersion":"1"}}`)
	for _, class := range []rewrite.Class{rewrite.MappedKinds, rewrite.OtherKinds} {
		b.Run(class.String(), func(b *testing.B) {
			perSecond(b, list.Len())
			for range b.N {
				reader := rewrite.NewReader(bytes.NewReader(list.Bytes()), rewrite.ToClient, class, "list")
				if _, err := io.Copy(io.Discard, reader); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
