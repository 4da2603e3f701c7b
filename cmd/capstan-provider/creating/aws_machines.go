package creating

import (
	"cmp"
	"fmt"
)

// awsPool is a group of machines of an install-config. What it does not say of them is in platform.aws.defaultMachinePlatform.
type awsPool struct {
	given   any
	at      string
	profile string
}

// defaultAWSInstances are by architecture; there is none of another one on AWS.
var defaultAWSInstances = map[string]string{"amd64": "m6i.xlarge", "arm64": "m6g.xlarge"}

// awsMachine is what a machine is made as; storage is where its Ignition config lies.
func (c *creation) awsMachine(p awsPool, storage string) map[string]any {
	return map[string]any{
		"instanceType":         c.awsText(p, c.awsInstance(p), "type"),
		"ami":                  map[string]any{"id": c.awsImage(p)},
		"iamInstanceProfile":   c.awsText(p, p.profile, "iamProfile"),
		"sshKeyName":           "",
		"uncompressedUserData": true,
		"ignition":             map[string]any{"version": "3.2", "storageType": storage},
		"rootVolume":           c.awsVolume(p),
	}
}

func (c *creation) awsInstance(p awsPool) string {
	given, _ := at(p.given, "architecture").(string)
	instance, is := defaultAWSInstances[cmp.Or(given, "amd64")]
	if !is {
		c.problem(p.at+".architecture", "there are no machines of it on AWS; set it to amd64 or arm64")
	}
	return instance
}

// awsImage is the image of the pool, of all pools, or that which is given beside the install-config.
func (c *creation) awsImage(p awsPool) string {
	given, _ := at(c.in.Raw, "platform", "aws", "amiID").(string)
	if given == "" {
		given = c.AWS.AMI
	}
	image := c.awsText(p, given, "amiID")
	if image == "" {
		c.problem("platform.aws.defaultMachinePlatform.amiID", "it is missing, and only the release knows it; set it to the image of the release in this region, or say --aws-ami")
	}
	return image
}

// smallestVolume is what the provider takes, in GiB.
const smallestVolume = 8

func (c *creation) awsVolume(p awsPool) map[string]any {
	const root = "rootVolume"
	volume := map[string]any{
		"size": c.awsNumber(p, 120, smallestVolume, root, "size"), "type": c.awsText(p, "gp3", root, "type"), "encrypted": true,
	}
	if iops := c.awsNumber(p, 0, 0, root, "iops"); iops > 0 {
		volume["iops"] = iops
	}
	if key := c.awsText(p, "", root, "kmsKeyARN"); key != "" {
		volume["encryptionKey"] = key
	}
	return volume
}

// awsZones are those that a pool is to be in, none for any.
func (c *creation) awsZones(p awsPool) (zones []string) {
	given, field := c.awsField(p, "zones")
	listed, is := given.([]any)
	if given != nil && !is {
		c.problem(field, "it should be a list; write it as the installer documents it")
	}
	for _, one := range listed {
		zone, is := one.(string)
		if !is || zone == "" {
			c.problem(field, "it has something else than names of zones; leave only those")
			continue
		}
		zones = append(zones, zone)
	}
	return zones
}

// awsText is a text of a pool's platform, or else.
func (c *creation) awsText(p awsPool, otherwise string, path ...string) string {
	given, field := c.awsField(p, path...)
	text, is := given.(string)
	if given != nil && !is {
		c.problem(field, "it should be a text; write it as the installer documents it")
	}
	return cmp.Or(text, otherwise)
}

// awsNumber is a number of a pool's platform that is not below the least, or else.
func (c *creation) awsNumber(p awsPool, otherwise, least int64, path ...string) int64 {
	given, field := c.awsField(p, path...)
	if given == nil {
		return otherwise
	}
	number, is := given.(int64)
	if !is || number < least {
		c.problem(field, fmt.Sprintf("it should be a whole number from %d on; write it as the installer documents it", least))
	}
	return number
}

// awsField is a field of a pool's platform, or the same of all pools, and where it stands.
func (c *creation) awsField(p awsPool, path ...string) (value any, field string) {
	field = p.at + ".platform.aws"
	value = at(at(p.given, "platform", "aws"), path...)
	if value == nil {
		field = "platform.aws.defaultMachinePlatform"
		value = at(at(c.in.Raw, "platform", "aws", "defaultMachinePlatform"), path...)
	}
	for _, name := range path {
		field += "." + name
	}
	return value, field
}

// at is a field of a tree, nil if it is not there.
func at(tree any, path ...string) any {
	for _, name := range path {
		fields, is := tree.(map[string]any)
		if !is {
			return nil
		}
		tree = fields[name]
	}
	return tree
}
