# Needs Go and make, nothing else. `make help` lists the targets.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# A go.work or a version control system around this tree changes nothing here.
export GOWORK := off
BUILD := go build -buildvcs=false
# gRPC's tracing, which nobody here turns on, has templates call any method by its name: with it the linker keeps every method
# of every type, a quarter of the binary.
LEAN := grpcnotrace

# Runs a go build and says how far it is when it takes long.
PROGRESS := bin/progress
LINT := $(CURDIR)/bin/golangci-lint
# Modules of their own: what the product does not need is not in its graph.
OWN_MODULES := cmd/capi-shim cmd/manifests-gen packaging e2e e2e/alerts e2e/capi tools
# What the proof of private types needs: two releases of Cluster API, whole.
WORLD_MODULES := e2e/private/worlds/private e2e/private/worlds/standard
# What only `make conformance` needs: suites of others, whole.
SUITE_MODULES := $(addprefix e2e/conformance/suites/,controllerruntime clusterapi apimachinery)
EACH_MODULE := for module in . $(OWN_MODULES) e2e/controlplane $(WORLD_MODULES) $(SUITE_MODULES); do cd $(CURDIR)/$$module;
CONTROL_PLANE := $(wildcard e2e/controlplane/go.* e2e/controlplane/*.go)
# Every folder of machine/ but the tests' own is a machine with a table.
TABLES := $(filter-out ./machine/machinetest/,$(wildcard ./machine/*/))

# The race detector needs a C compiler; without one the tests run all the same.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

.PHONY: help
help: ## Show this list.
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r target intent; do printf '  %-16s %s\n' "$$target" "$$intent"; done

.PHONY: build
build: $(PROGRESS) ## Build bin/capstan, bin/capstan-provider, bin/capstan-stub, bin/capi-proxy, bin/capi-shim and bin/manifests-gen, and bin/capstan-e2e and bin/capstan-provider-e2e, whose clocks tests can set.
	@$(PROGRESS) capstan $(BUILD) -tags=$(LEAN) -o=bin/ ./cmd/capstan
	@$(PROGRESS) capstan-provider $(BUILD) -tags=$(LEAN) -o=bin/ ./cmd/capstan-provider
	@$(PROGRESS) capstan-stub $(BUILD) -o=bin/ ./cmd/capstan-stub
	@$(PROGRESS) capi-proxy $(BUILD) -tags=$(LEAN) -o=bin/ ./cmd/capi-proxy
	@$(PROGRESS) capi-shim go build -C=cmd/capi-shim -buildvcs=false -tags=$(LEAN) -o=../../bin/ .
	@$(PROGRESS) manifests-gen go build -C=cmd/manifests-gen -buildvcs=false -o=../../bin/ .
	@$(PROGRESS) capstan-e2e $(BUILD) -tags=e2e,$(LEAN) -o=bin/capstan-e2e ./cmd/capstan
	@$(PROGRESS) capstan-provider-e2e $(BUILD) -tags=e2e,$(LEAN) -o=bin/capstan-provider-e2e ./cmd/capstan-provider

$(PROGRESS): $(wildcard tools/progress/*.go)
	@go build -C tools -buildvcs=false -o ../$@ ./progress
	@touch $@

bin/golangci-lint: tools/go.mod tools/go.sum | $(PROGRESS)
	@$(PROGRESS) golangci-lint go build -C=tools -o=../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

# The image's binaries are static, have the same bytes in every folder, and name their commit.
IMAGE ?= bin/image
.PHONY: image
image: payload | $(PROGRESS) ## Write the operator's image, its SBOM and its provenance to bin/image, and print its digest last.
	@CGO_ENABLED=0 $(PROGRESS) 'the static capstan' go build -trimpath -buildvcs=true -tags=$(LEAN) -o=bin/static/capstan ./cmd/capstan
	@CGO_ENABLED=0 $(PROGRESS) 'the static capstan-stub' go build -trimpath -buildvcs=true -o=bin/static/capstan-stub ./cmd/capstan-stub
	@CGO_ENABLED=0 $(PROGRESS) 'the static capi-proxy' go build -trimpath -buildvcs=true -tags=$(LEAN) -o=bin/static/capi-proxy ./cmd/capi-proxy
	@CGO_ENABLED=0 $(PROGRESS) 'the static capi-shim' go build -C=cmd/capi-shim -trimpath -buildvcs=true -tags=$(LEAN) -o=../../bin/static/capi-shim .
	@go run -C packaging . -binary=$(CURDIR)/bin/static/capstan -binary=$(CURDIR)/bin/static/capstan-stub -binary=$(CURDIR)/bin/static/capi-proxy -binary=$(CURDIR)/bin/static/capi-shim -payload=$(CURDIR)/bin/payload -o=$(abspath $(IMAGE))

PROVIDER_IMAGE ?= bin/provider-image
.PHONY: provider-image
provider-image: | $(PROGRESS) ## Write the image of the provider of OpenShift clusters to bin/provider-image, and print its digest last.
	@CGO_ENABLED=0 $(PROGRESS) 'the static capstan-provider' go build -trimpath -buildvcs=true -tags=$(LEAN) -o=bin/static/capstan-provider ./cmd/capstan-provider
	@rm -rf bin/profiles && go run -C cmd/manifests-gen . --name openshift-install --install-order 20 --kustomize-dir $(CURDIR)/config/default --manifests-path $(CURDIR)/bin/profiles \
		--self-image-ref registry.ci.openshift.org/openshift:capstan-provider --attribute type=control-plane --attribute version=$$(git describe --tags --always)
	@go run -C packaging . -binary=$(CURDIR)/bin/static/capstan-provider -profiles=$(CURDIR)/bin/profiles -o=$(abspath $(PROVIDER_IMAGE))

.PHONY: image-twice
image-twice: ## Make the image of the commit that is checked out in two clones, and fail when their digests differ.
	@tools/image-twice.sh

.PHONY: controlplane
controlplane: bin/controlplane/controlplane ## Build the embedded control plane: minutes the first time.

# Without symbols: half the size, and half the time to link. An API server that
# does not know its own version turns features off.
bin/controlplane/controlplane: $(CONTROL_PLANE) | $(PROGRESS)
	@version=$$(sed -n 's/.*k8s.io\/kubernetes v/v/p' e2e/controlplane/go.mod) && \
	$(PROGRESS) 'control plane' go build -C=e2e/controlplane -buildvcs=false -o=../../bin/controlplane/ -ldflags="-s -w \
		-X k8s.io/component-base/version.gitVersion=$$version -X k8s.io/client-go/pkg/version.gitVersion=$$version" \
		. sigs.k8s.io/kwok/cmd/kwok
	@touch $@

# Managers of Cluster API, unmodified. The dev provider is of one release in both worlds, since no other can be had as a module;
# the standard one has ports of its own.
WORLDS := $(addprefix bin/worlds/private/,core bootstrap controlplane dev) $(addprefix bin/worlds/standard/,core bootstrap controlplane dev)
bin/worlds/%/bootstrap: PROGRAM = sigs.k8s.io/cluster-api/bootstrap/kubeadm
bin/worlds/%/controlplane: PROGRAM = sigs.k8s.io/cluster-api/controlplane/kubeadm
bin/worlds/private/core: PROGRAM = sigs.k8s.io/cluster-api
bin/worlds/private/dev: PROGRAM = sigs.k8s.io/cluster-api/test/infrastructure/docker
bin/worlds/standard/core: PROGRAM = sigs.k8s.io/cluster-api/core
bin/worlds/standard/dev: PROGRAM = ./otherports
WORLD_MODULE = e2e/private/worlds/$(if $(filter ./otherports,$(PROGRAM)),private,$(*D))

.PHONY: worlds
worlds: $(WORLDS) ## Build the managers of Cluster API that the proof of private types runs: minutes the first time.

$(WORLDS): bin/worlds/%: $(wildcard $(addsuffix /go.*,$(WORLD_MODULES)) e2e/private/worlds/private/otherports/*.go) | $(PROGRESS)
	@$(PROGRESS) 'world $*' go build -C=$(WORLD_MODULE) -buildvcs=false -o=../../../../$@ -ldflags='-s -w' $(PROGRAM)
	@touch $@

# The same for clusters of OpenShift: Cluster API's manager, unmodified, and its dev provider with guests that look like OpenShift.
CAPI := bin/capi/core bin/capi/devinfra
bin/capi/core: PROGRAM = sigs.k8s.io/cluster-api
bin/capi/devinfra: PROGRAM = ./devinfra

.PHONY: capi
capi: $(CAPI) ## Build the managers that the proof of OpenShift clusters runs: minutes the first time.

$(CAPI): bin/capi/%: $(wildcard e2e/capi/go.* e2e/capi/*/*.go e2e/private/worlds/private/inmemory/*.go) | $(PROGRESS)
	@$(PROGRESS) 'capi $*' go build -C=e2e/capi -buildvcs=false -o=../../$@ -ldflags='-s -w' $(PROGRAM)
	@touch $@

.PHONY: payload
payload: ## Write bin/payload, the manifests that a release carries.
	@rm -rf bin/payload && go run ./deploy/payload/write bin/payload

.PHONY: fmt
fmt: bin/golangci-lint ## Format every Go file.
	@set -e; $(EACH_MODULE) $(LINT) fmt; done

.PHONY: fmt-check
fmt-check: bin/golangci-lint ## Fail when a Go file is not formatted, showing the difference.
	@set -e; $(EACH_MODULE) $(LINT) fmt --diff; done

.PHONY: lint
lint: bin/golangci-lint ## Run the linters; the import arrows are among them.
	@set -e; for module in . $(OWN_MODULES); do (cd $$module && $(LINT) run); done
	@# One small main package on top of all of Kubernetes: the linters that want
	@# types would read all of it first.
	@cd e2e/controlplane && $(LINT) run --fast-only

# The proof of a table tries millions of situations one after the other in one goroutine, and
# whole moves end at each of their writes: the race detector has nothing to look at there but much to do.
PROOF := ^(TestTable|TestMigration_.*)$$
# So do the long tests of these, which start nothing that would run beside them: tools/alone_test.go looks.
ALONE := cmd/capstan/payload deploy deploy/payload deploy/privatecapi machine/clusterapi phases/crdschema phases/openshiftcontrolplane/inputs phases/openshiftcontrolplane/machines phases/payload phases/payload/builtin phases/payload/job phases/render/admission phases/render/policy

# Without vet, of which the linters have all.
UNIT = go test -vet=off -timeout 30m
.PHONY: unit
unit: ## Run all tests but the end-to-end suite, with the race detector where something runs beside something else.
	@$(UNIT) $(RACE) -skip '$(PROOF)' $$(go list ./... | grep -v -x -F $(ALONE:%=-e github.com/capstan-capi/capstan/%))
	@$(UNIT) $(ALONE:%=./%)
	@$(UNIT) -run '$(PROOF)' $(filter-out $(ALONE:%=./%/),$(TABLES))
	@set -e; for module in cmd/manifests-gen cmd/capi-shim packaging tools e2e/alerts e2e/capi; do (cd $$module && $(UNIT) ./...); done

# How many inputs of each content type are made.
INPUTS ?= 10000000
.PHONY: flood
flood: ## Make INPUTS (10000000) inputs of each content type for the law of rewriting, without looking at what code they reach. Hours.
	@go test ./phases/rewrite ./phases/rewrite/protobuf -run '^TestEveryInput$$' -v -timeout 0 -args -inputs=$(INPUTS)

# Two at a time, each with one worker, since more would not find more on two cores.
FUZZTIME ?= 30s
.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (30s), two beside each other; what crashes one becomes a corpus file.
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		sed -n "s|^func \(Fuzz[A-Za-z0-9]*\)(.*|\1 $$(dirname "$$file")|p" "$$file"; \
	done | xargs -P 2 -L 1 sh -c 'tools/fuzz.sh "$$0" "$$1" $(FUZZTIME)'

# The public database, or a folder of OSV files.
VULNDB ?= https://vuln.go.dev
.PHONY: vulncheck
vulncheck: ## Fail when a binary calls something that VULNDB, a database of vulnerabilities, knows; see tools/vulncheck/exceptions.txt.
	@go run -C tools ./vulncheck -db '$(VULNDB)' -exceptions vulncheck/exceptions.txt $(CURDIR)=./cmd/... $(CURDIR)/cmd/manifests-gen=./... $(CURDIR)/cmd/capi-shim=./... $(CURDIR)/packaging=./...

.PHONY: tidy
tidy: ## Bring go.mod and go.sum of every module up to date; the product's first, since e2e requires it.
	@set -e; $(EACH_MODULE) go mod tidy; done

.PHONY: modules
modules: ## Fail when a downloaded module is not what go.sum says.
	@go run -C tools ./sums $(addprefix $(CURDIR)/,. $(OWN_MODULES) e2e/controlplane $(WORLD_MODULES) $(SUITE_MODULES))

.PHONY: diagrams
diagrams: ## Write docs/state-diagrams from the machines' tables.
	@go test -vet=off $(TABLES) -run '/the_generated_diagram' -update

.PHONY: new-machine
new-machine: ## Write an empty machine, NAME=x in lowercase letters.
	@go run -C tools ./newmachine "$(CURDIR)" "$(NAME)"
	@go test ./machine/$(NAME) -run '/the_generated_diagram' -update
	@go test ./controllers -run TestTheAlerts -update

.PHONY: generate
generate: ## Write all other generated files.
	@go generate ./...
	@go generate -C e2e ./openshiftcontrolplane ./... # the first is read by another one

# What docs/tutorial.md takes.
TUTORIAL := build controlplane bin/kubectl bin/crane bin/demo-runner
.PHONY: e2e
e2e: $(TUTORIAL) worlds capi ## Run the end-to-end suite against an embedded control plane, and print the slowest specs and what failed.
	@tools/e2e.sh

.PHONY: test-tutorial
test-tutorial: $(TUTORIAL) ## Type every command of docs/tutorial.md, in order, and compare what is shown; `make e2e` does so too.
	@go test -C e2e -v -count=1 -timeout 20m ./tutorial

.PHONY: bench
bench: build controlplane capi bin/bench-runner ## Measure what Capstan costs, beside a bare client; BENCH="--scenario restart" for some of it.
	@bin/bench-runner $(BENCH)

# How long the soak lasts for each of SEEDS, one after the other: numbers or the
# word random, with commas between. /busy after one lets other work take half of
# the processor. The seeds are printed, and can be given again.
test-faults: SOAK ?= 30m
test-faults: SEEDS ?= random,random,random/busy
soak: SOAK ?= 5m
soak: SEEDS ?= random
FAULTS = go test -C e2e -v -count=1 -timeout 6h ./faults -run TestFaults -args -soak $(SOAK) -seeds $(SEEDS)

.PHONY: test-faults
test-faults: build controlplane ## Try every fault in every state, every kill point and the soak of three SEEDS, SOAK (30m) each; write bin/faults/report.json and docs.
	@$(FAULTS) -full
	@go generate -C e2e ./faults

# How many random releases are planned and then installed; PLAN_SEED repeats a run.
PLAN_RELEASES ?= 200
.PHONY: test-plan
test-plan: build controlplane ## Plan PLAN_RELEASES (200) random releases and install each: what is said is what happens.
	@PLAN_RELEASES=$(PLAN_RELEASES) go test -C e2e -v -count=1 -timeout 3h ./clusterapi -args -ginkgo.label-filter plan

.PHONY: page-libs
page-libs: ## Copy the libraries of the dashboard's page from their npm packages: what is committed is what the lock file pins.
	@tools/page/libs.sh

# A browser is needed, and nobody who has none is kept from `make test`.
PAGE = go test -C e2e -tags page -v -count=1 -timeout 20m ./page -args -ginkgo.no-color
.PHONY: test-page
test-page: build controlplane ## See the dashboard's page in Debian's chromium, which tools/page/needs.sh installs.
	@$(PAGE)

PRIVATE = go test -C e2e -v -count=1 -timeout 2h ./private -args -ginkgo.no-color
# What happens to moves of hosted clusters, one after the other; what is quick of it is part of `make e2e`.
MOVES = go test -C e2e -v -count=1 -timeout 2h ./migration -args -ginkgo.no-color -whole
.PHONY: test-private
test-private: build controlplane worlds ## Prove that unmodified managers of Cluster API work with private types, beside others with the standard ones, and that moves end well whatever happens meanwhile.
	@$(PRIVATE) -whole
	@$(MOVES)

.PHONY: test-private-reduced
test-private-reduced: build controlplane worlds ## The same with one Cluster in each world, in minutes; `make e2e` does so too.
	@$(PRIVATE)

# A selection of it is part of `make e2e`.
.PHONY: test-openshift
test-openshift: build controlplane capi provider-image ## Prove that clusters of OpenShift are made, changed and removed, ten at once, whichever write the provider is killed after.
	@go test -C e2e -v -count=1 -timeout 2h ./openshiftcontrolplane -args -full -ginkgo.no-color

# How long the proxy of private types is under load; in `make test` it is 10 s, without the race detector.
LOAD ?= 10m
.PHONY: test-proxy-load
test-proxy-load: build controlplane ## Ask a proxy that has the race detector 200 times a second for LOAD (10m), beside 100 watches.
	@$(PROGRESS) 'capi-proxy, -race' $(BUILD) $(RACE) -tags=$(LEAN) -o=bin/race/capi-proxy ./cmd/capi-proxy
	@cp bin/capstan bin/race/
	@go test -C e2e $(RACE) -v -count=1 -timeout 3h ./privatecapi -args -ginkgo.no-color -ginkgo.label-filter=load -load=$(LOAD) -load.bin=../../bin/race

# Which suites are held against the proxy, by the beginnings of their names; all without it.
SUITES ?=
.PHONY: conformance
conformance: build controlplane bin/kubectl bin/conformance-runner ## Run suites of others direct and by capi-proxy, and fail when a spec passes direct only; SUITES="controllerruntime" for some of it. Hours.
	@tools/conformance.sh $(if $(SUITES),-suites='$(SUITES)')

.PHONY: screenshots
screenshots: build controlplane ## Take the docs' screenshots of the dashboard anew.
	@$(PAGE) -ginkgo.focus=screenshots -screenshots=$(CURDIR)/docs/screenshots

.PHONY: soak
soak: build controlplane ## Give the operator random trouble for SOAK (5m), and see it come to rest; test-faults does so too.
	@$(FAULTS) -ginkgo.label-filter soak

.PHONY: test
test: ## Run everything: generated files, format, lint, unit tests, end-to-end suite.
	@rm -rf bin/log && mkdir -p bin/log
	@start=$$(date +%s); $(MAKE) test-parts; code=$$?; \
	echo; cat bin/log/times; printf '%-14s %12d s\n' total $$(($$(date +%s) - start)); exit $$code

# The end-to-end suite mostly waits, and the checks of modules and code never do. Beside each other, with the processor for the suite
# whenever it wants it, they take no longer than the suite.
# `make test` alone calls these, and none is for people: they have no line in `make help`.
.PHONY: test-parts
test-parts:
	@$(MAKE) part-compile
	@$(MAKE) part-fresh
	@$(MAKE) -j2 part-e2e part-code

# What takes minutes the first time is compiled first, with its progress told; with
# the race detector all is compiled once more. A program would be linked, too.
LIBRARIES = $(shell go list $(1) -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./...)
.PHONY: compile
compile: $(TUTORIAL) worlds capi bin/golangci-lint
	@$(PROGRESS) tests go build -C=e2e $(call LIBRARIES,-C e2e)
	@$(PROGRESS) 'tests, -race' go build $(RACE) $(LIBRARIES)

.PHONY: part-compile part-fresh part-code part-lint part-unit part-modules part-e2e
# A program is linked by one thread: another one is compiled meanwhile.
part-compile:
	@tools/part.sh -live compile $(MAKE) -j2 compile
part-fresh:
	@tools/part.sh fresh tools/fresh.sh $(MAKE) -j2 generate diagrams
part-code:
	@nice -n 19 $(MAKE) part-lint
	@nice -n 19 $(MAKE) part-unit
	@nice -n 19 $(MAKE) part-modules
part-lint:
	@tools/part.sh format $(MAKE) fmt-check
	@tools/part.sh lint $(MAKE) lint
part-unit:
	@tools/part.sh unit $(MAKE) unit
part-modules:
	@tools/part.sh modules $(MAKE) modules
part-e2e:
	@tools/part.sh -live e2e $(MAKE) e2e

# What CI does besides. The browser, the soak and the second image wait more than they work, and fuzzing never waits: it has what they
# leave of the processor, and a third more of time for that.
.PHONY: part-beyond part-page part-fuzz
part-beyond:
	@$(MAKE) -j2 part-page part-fuzz
part-page:
	@tools/part.sh page $(MAKE) test-page
	@tools/part.sh soak $(MAKE) soak SOAK=1m
	@tools/part.sh image-twice $(MAKE) image-twice
part-fuzz:
	@nice -n 19 tools/part.sh fuzz $(MAKE) fuzz FUZZTIME=40s

bin/demo-runner bin/bench-runner bin/conformance-runner: bin/%-runner: $(PROGRESS) FORCE
	@$(PROGRESS) 'the $*' go build -C=e2e -buildvcs=false -o=../$@ ./$*
FORCE:

.PHONY: demo
demo: build controlplane bin/demo-runner ## Install Cluster API and upgrade it, on an embedded cluster.
	@bin/demo-runner

.PHONY: demo-crds
demo-crds: build controlplane bin/demo-runner ## Have two parties share a CRD of Cluster API, on an embedded cluster.
	@bin/demo-runner crds

.PHONY: demo-bootimages
demo-bootimages: build controlplane bin/demo-runner ## Have 222 MachineSets follow a release's boot image, on an embedded cluster.
	@bin/demo-runner bootimages

.PHONY: demo-private
demo-private: build controlplane bin/demo-runner ## Move hosted clusters to private types of Cluster API, on an embedded cluster.
	@bin/demo-runner private

.PHONY: demo-openshift
demo-openshift: build controlplane capi bin/demo-runner ## Make a cluster of OpenShift through Cluster API, on embedded clusters.
	@bin/demo-runner openshift

.PHONY: up
up: build controlplane bin/demo-runner ## Install Cluster API on an embedded cluster and leave it running.
	@bin/demo-runner up

.PHONY: down
down: bin/demo-runner ## End what `make up` left running.
	@bin/demo-runner down

.PHONY: man
man: build ## Write the manual pages of all commands to bin/man.
	@rm -rf bin/man && bin/capstan man bin/man

# What docs/tutorial.md takes besides Capstan, for those who have Go alone.
bin/kubectl: $(CONTROL_PLANE) | $(PROGRESS)
	@$(PROGRESS) kubectl go build -C=e2e/controlplane -buildvcs=false -o=../../$@ -ldflags='-s -w' k8s.io/kubernetes/cmd/kubectl
	@touch $@
bin/crane: e2e/go.mod e2e/go.sum | $(PROGRESS)
	@$(PROGRESS) crane go build -C=e2e -buildvcs=false -o=../$@ -ldflags='-s -w' github.com/google/go-containerregistry/cmd/crane
	@touch $@

.PHONY: tutorial-cluster
tutorial-cluster: $(TUTORIAL) ## Run an embedded cluster for docs/tutorial.md until ctrl-c.
	@bin/demo-runner tutorial

.PHONY: clean
clean: ## End what `make up` left running and remove everything that was built.
	@[ ! -x bin/demo-runner ] || bin/demo-runner down
	@rm -rf bin
