package bootimage

import (
	"errors"
	"slices"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// What an API server answers in the place of a write.
var (
	ofSets      = schema.GroupResource{Group: "machine.openshift.io", Resource: "machinesets"}
	invalid     = apierrors.NewInvalid(schema.GroupKind{Kind: "MachineSet"}, "a", nil)
	bad         = apierrors.NewBadRequest("")
	conflict    = apierrors.NewConflict(ofSets, "a", nil)
	errNotFound = apierrors.NewNotFound(ofSets, "a")
	forbidden   = apierrors.NewForbidden(ofSets, "a", nil)
	throttled   = apierrors.NewTooManyRequests("", 1)
	broken      = apierrors.NewInternalError(errors.New("etcd"))
	slow        = apierrors.NewTimeoutError("", 1)
)

func TestWriteImage_tells_by_a_read_what_it_means_that_a_write_is_refused(t *testing.T) {
	const again, failed, forGood = "again", "failed", "for good"
	for name, row := range map[string]struct {
		answer error
		// meanwhile is what somebody else changes before that.
		meanwhile string
		want      string
	}{
		"it is taken":                           {nil, "", again},
		"it is invalid":                         {invalid, "", forGood},
		"it is a bad request":                   {bad, "", forGood},
		"a test fails":                          {nil, `{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-x}}}}}}}`, again},
		"a test would fail, and it is refused":  {invalid, `{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-x}}}}}}}`, again},
		"somebody has given it the image":       {invalid, `{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-new}}}}}}}`, again},
		"somebody has changed something else":   {invalid, `{spec: {template: {spec: {providerSpec: {value: {instanceType: large}}}}}}`, forGood},
		"it conflicts":                          {conflict, "", again},
		"the target is gone":                    {errNotFound, "", again},
		"it is forbidden":                       {forbidden, "", failed},
		"there are too many requests":           {throttled, "", failed},
		"the API server breaks":                 {broken, "", failed},
		"it breaks, and the target has changed": {broken, `{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-x}}}}}}}`, again},
		"it takes too long":                     {slow, "", failed},
		"there is no answer, and nothing done":  {errLost, "", failed},
		"there is no answer, and it was done":   {errLost, `{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-new}}}}}}}`, again},
	} {
		t.Run(name, func(t *testing.T) {
			set := onAWS("a", "ami-old")
			c := newCluster(t, configv1.AWSPlatformType, set, secretIn(MachineAPINamespace, newStub))
			pass := c.plans(KeyOf(golden.MachineSets, "a"))
			c.meddles = func(string, client.Object) error {
				if row.meanwhile != "" {
					c.edits(set, row.meanwhile)
				}
				return row.answer
			}
			_, err := WriteImage.Run(t.Context(), pass)
			if got := map[bool]string{true: forGood, false: failed}[isTerminal(err)]; err != nil && got != row.want || err == nil && row.want != again {
				t.Errorf("it ends with %v, want %s", err, row.want)
			}
			if c.writes() != "patch MachineSet a" {
				t.Errorf("sent is %q", c.sent)
			}
		})
	}
}

// What a patch tests is more than the image that is there.
func TestWriteImage_what_a_test_fails_for_with_the_same_image_is_looked_at_again(t *testing.T) {
	deployment := ofCAPI("MachineDeployment", "a", "first")
	disks := setOn("a", `disks: [{boot: true, image: projects/rhcos-cloud/global/images/old}, {boot: false, image: data}]`)
	for name, row := range map[string]struct {
		platform configv1.PlatformType
		kind     golden.Kind
		object   string
		before   string
		then     string
	}{
		"another template with the same image": {
			configv1.AWSPlatformType, golden.CAPIMachineSets, ofCAPI("MachineSet", "a", "first"), "",
			`{spec: {template: {spec: {infrastructureRef: {name: second}}}}}`,
		},
		"another strategy": {
			configv1.AWSPlatformType, golden.MachineDeployments, deployment,
			`{metadata: {annotations: {capi-operator.openshift.io/boot-image-allow-rollout: "true"}}, spec: {rollout: {strategy: {type: OnDelete}}}}`,
			`{spec: {rollout: {strategy: {type: RollingUpdate}}}}`,
		},
		"a rollout is not allowed any more": {
			configv1.AWSPlatformType, golden.MachineDeployments, deployment,
			`{metadata: {annotations: {capi-operator.openshift.io/boot-image-allow-rollout: "true"}}, spec: {rollout: {strategy: {type: RollingUpdate}}}}`,
			`{metadata: {annotations: {capi-operator.openshift.io/boot-image-allow-rollout: null}}}`,
		},
		"the disks have changed places": {
			configv1.GCPPlatformType, golden.MachineSets, disks, "",
			`{spec: {template: {spec: {providerSpec: {value: {disks: [{boot: false, image: data}, {boot: true, image: projects/rhcos-cloud/global/images/old}]}}}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, row.platform, shop, templateOn("first", "ami-old", "small"), templateOn("second", "ami-old", "large"),
				row.object, secretIn(MachineAPINamespace, newStub), secretIn(capi, newStub))
			if row.before != "" {
				c.edits(row.object, row.before)
			}
			pass := c.plans(KeyOf(row.kind, "a"))
			c.meddles = func(string, client.Object) error {
				c.edits(row.object, row.then)
				return nil
			}
			if result, err := WriteImage.Run(t.Context(), pass); err != nil || result.Did != "" {
				t.Errorf("it ends with %v and has done %q", err, result.Did)
			}
			if len(c.sent) != 1 {
				t.Errorf("sent is %q", c.sent)
			}
		})
	}
}

func TestWriteImage_looks_again_at_a_clone_that_somebody_else_writes_and_counts_no_other_attempt(t *testing.T) {
	key := KeyOf(golden.CAPIMachineSets, "a")
	c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, newStub))
	clone := templateOn(c.plans(key).Judged.CloneName, "ami-new", "small")
	c.has(clone)
	c.edits(clone, `{metadata: {labels: {capi-operator.openshift.io/boot-image-clone-of: a}}}`)
	answer := error(conflict)
	c.meddles = func(string, client.Object) error { return answer }
	for _, want := range []int{1, 3} { // the claim alone, and then it is taken, and the target written
		pass := c.plans(key)
		for _, one := range []machine.Action[*Pass]{CloneTemplate, WriteImage} {
			if _, err := one.Run(t.Context(), pass); err != nil {
				t.Errorf("%s ends with %v", one.Name, err)
			}
		}
		if len(c.sent) != want {
			t.Errorf("sent is %q", c.sent)
		}
		if pass, _ := c.sees(key); pass.attempts.Made != 1 {
			t.Errorf("%d attempts count", pass.attempts.Made)
		}
		answer = nil
	}
}

func TestTrying_what_has_failed_is_tried_as_a_dry_run_every_two_minutes_or_so(t *testing.T) {
	key := KeyOf(golden.MachineSets, "a")
	c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), secretIn(MachineAPINamespace, newStub))
	c.plans(key)
	c.memory.of(key, func(r *remembered) { r.state = Failed })
	answer := error(forbidden)
	c.meddles = func(string, client.Object) error { return answer }
	try := func() (machine.Result, error) {
		t.Helper()
		pass, _ := c.sees(key)
		return WriteImage.Run(t.Context(), pass)
	}
	begun := c.now
	var tried []time.Duration
	for range 600 {
		before := len(c.sent)
		result, err := try()
		if !apierrors.IsForbidden(err) {
			t.Fatalf("after %s it ends with %v", c.now.Sub(begun), err)
		}
		if len(c.sent) > before {
			tried = append(tried, c.now.Sub(begun))
		} else if wait := result.LookAgain; wait <= 0 || wait > tryEvery*5/4 {
			t.Fatalf("it is looked at again after %s", wait)
		}
		c.now = c.now.Add(time.Second)
	}
	if len(tried) < 4 || len(tried) > 7 || slices.ContainsFunc(c.sent, func(one string) bool { return one != "patch MachineSet a?" }) {
		t.Errorf("tried is after %s: %q", tried, c.sent)
	}
	for i := 1; i < len(tried); i++ {
		if pause := tried[i] - tried[i-1]; pause < tryEvery*3/4 || pause > tryEvery*5/4+time.Second {
			t.Errorf("after %s it is tried again", pause)
		}
	}
	answer = nil
	c.now = c.now.Add(tryEvery * 5 / 4)
	if _, err := try(); err != nil {
		t.Errorf("once it passes, it ends with %v", err)
	}
	if pass, _ := c.sees(key); present(pass.Judged) != "ami-old" || len(c.kept.by) > 0 {
		t.Errorf("the image is %s, and %d attempts are stored", present(pass.Judged), len(c.kept.by))
	}
}

func TestSpread_is_a_quarter_of_the_pause_at_most_and_not_the_same_for_all(t *testing.T) {
	seen := map[time.Duration]bool{}
	for i := range 100 {
		by := spread(KeyOf(golden.MachineSets, string(rune('a'+i))))
		if seen[by] = true; by < -tryEvery/4 || by > tryEvery/4 {
			t.Errorf("it is %s", by)
		}
	}
	if len(seen) < 20 {
		t.Errorf("of a hundred targets, %d are tried at times of their own", len(seen))
	}
}
