package bootimages_test

import "github.com/capstan-capi/capstan/e2e/bootworld"

// The suite's short words for what its world is made of.
type object = bootworld.Object

const (
	infrastructureName = bootworld.InfrastructureName
	installed          = bootworld.Installed
	region             = bootworld.Region
	goldenName         = bootworld.GoldenName
	stub, oldStub      = bootworld.Stub, bootworld.OldStub
	providerSpec       = bootworld.ProviderSpec
	amiID              = bootworld.AMIID
	templateName       = bootworld.TemplateName
	templateAMI        = bootworld.TemplateAMI
	cloneOf            = bootworld.CloneOf
	bySets             = bootworld.BySets
	byDeployments      = bootworld.ByDeployments
)

var (
	parse                = bootworld.Parse
	put                  = bootworld.Put
	field                = bootworld.Field
	with                 = bootworld.With
	labelled             = bootworld.Labelled
	owned                = bootworld.Owned
	machineConfiguration = bootworld.MachineConfiguration
	manages              = bootworld.Manages
	machineSet           = bootworld.MachineSet
	onAWS                = bootworld.OnAWS
	onAWSIn              = bootworld.OnAWSIn
	awsTemplate          = bootworld.AWSTemplate
	ami                  = bootworld.AMI
	amiOf                = bootworld.AMIOf
	gcpImage             = bootworld.GCPImage
	marketplace          = bootworld.Marketplace
)
