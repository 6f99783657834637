module github.com/ameideio/protoc-gen-ameide-agent

go 1.26

require (
	github.com/bufbuild/protoplugin v0.0.0-20260414125817-25d1d281b46b
	github.com/google/go-cmp v0.7.0
	github.com/stretchr/testify v1.12.1
	google.golang.org/protobuf v1.36.12
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
