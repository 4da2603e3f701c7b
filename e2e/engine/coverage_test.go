package engine_test

import (
	"regexp"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// lastCase is the number of acceptance cases in the contract, counted from 1.
const lastCase = 85

// withoutSpec are cases of the contract that the engine leaves out. Of a paused mode (27) the operator has no use.
var withoutSpec = map[int]bool{27: true}

// caseName is how the name of a spec begins: with the case that it proves.
var caseName = regexp.MustCompile(`^case ([0-9]+): `)

var _ = ReportAfterSuite("every acceptance case has a spec", func(report Report) {
	if config := report.SuiteConfig; len(config.FocusStrings)+len(config.SkipStrings) > 0 || config.LabelFilter != "" {
		return // whoever runs some specs while working asks nothing about the others
	}
	proved := map[int]bool{}
	for i := range report.SpecReports {
		if found := caseName.FindStringSubmatch(report.SpecReports[i].LeafNodeText); found != nil {
			number, err := strconv.Atoi(found[1])
			Expect(err).NotTo(HaveOccurred())
			proved[number] = true
		}
	}
	var missing, unknown []int
	for number := range proved {
		if number < 1 || number > lastCase {
			unknown = append(unknown, number)
		}
	}
	for number := 1; number <= lastCase; number++ {
		if !proved[number] && !withoutSpec[number] {
			missing = append(missing, number)
		}
	}
	Expect(missing).To(BeEmpty(), "cases without a spec")
	Expect(unknown).To(BeEmpty(), "specs of cases that the contract does not have")
})
