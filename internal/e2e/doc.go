// Package e2e tests the plugin as its users run it: as a binary, through buf,
// through protoc, and locked away as a remote plugin.
package e2e
