// The harness of protovalidate's conformance suite, pinned apart from the module
// so that its users do not inherit it.
module github.com/ameideio/protoc-gen-ameide-agent/conformance/validate

go 1.26.0

tool github.com/bufbuild/protovalidate/tools/protovalidate-conformance

require (
	github.com/bufbuild/protovalidate/tools v1.2.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
