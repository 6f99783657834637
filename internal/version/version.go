// Package version says which version of the plugin this is.
package version

import "runtime/debug"

// Number is the version of the plugin. It is a constant, and not taken from the
// build, so that equal sources generate equal files however they are built.
const Number = "0.1.0"

// String is the version for people: the name of the plugin, its number and, when
// the build knows it, the revision of its sources.
func String() string {
	text := "protoc-gen-ameide-agent v" + Number
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" && setting.Value != "" {
				text += " (" + setting.Value[:min(len(setting.Value), 12)] + ")"
			}
		}
	}
	return text
}
