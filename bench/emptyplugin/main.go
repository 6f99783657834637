// emptyplugin is a plugin that reads a request and does nothing: what every
// plugin on protoplugin costs at least. The benchmarks compare with it.
package main

import (
	"context"

	"github.com/bufbuild/protoplugin"
	"google.golang.org/protobuf/types/descriptorpb"
)

func main() {
	protoplugin.Main(protoplugin.HandlerFunc(func(
		_ context.Context, _ protoplugin.PluginEnv, response protoplugin.ResponseWriter, _ protoplugin.Request,
	) error {
		response.SetFeatureProto3Optional()
		response.SetFeatureSupportsEditions(descriptorpb.Edition_EDITION_PROTO2, descriptorpb.Edition_EDITION_2024)
		return nil
	}))
}
