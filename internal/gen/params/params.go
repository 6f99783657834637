// Package params holds the parameters that a caller gives the plugin, and reads
// them from the parameter string of a request.
package params

import "strings"

// The values of the parameters that take one of a list.
const (
	TargetLangGraph = "langgraph"
	TargetEino      = "eino"
	TargetContract  = "contract"

	ToolsRequired = "required"
	ToolsAll      = "all"

	LayoutPackage = "package"
	LayoutDotted  = "dotted"

	StartersTemplates = "templates"
	StartersOnly      = "only"
)

// Providers are the profiles of tool schemas, in the order of the documentation.
func Providers() []string { return []string{"mcp", "openai-strict", "anthropic", "gemini"} }

// DefaultAnnotationsPackage is the package of the annotations that this
// repository publishes.
const DefaultAnnotationsPackage = "ameide_core_proto.annotations.v1"

// agentPlaceholder stands for the agent's identifier in package parameters.
const agentPlaceholder = "{agent}"

// Parameters are the parameters of one run. Every value is valid: Parse refuses
// all others.
type Parameters struct {
	// Target is what is generated: one of the Target constants.
	Target string
	// AnnotationsPackage is the proto package of the options.
	AnnotationsPackage string
	// GeneratedPackage is the import package of the generated code, a template in
	// which `{agent}` stands for the agent's identifier.
	GeneratedPackage string
	// ImplPackage is the import package of the human-owned code, a template too.
	ImplPackage string
	// SDKPackage is the prefix of the imported `*_pb2` modules; may be empty.
	SDKPackage string
	// Tools is the choice of an agent's tools: one of the Tools constants.
	Tools string
	// Layout is the shape of the generated tree: one of the Layout constants.
	Layout string
	// Starters is what becomes of the starters: one of the Starters constants.
	Starters string
	// Providers are the profiles of tool schemas that the agents must fit, their
	// strict modes included; without any, all of them, without strict modes.
	Providers []string
	// AllowEmpty accepts a request without any agent.
	AllowEmpty bool
}

// Default returns the parameters of an empty parameter string.
func Default() Parameters {
	return Parameters{
		Target:             TargetLangGraph,
		AnnotationsPackage: DefaultAnnotationsPackage,
		GeneratedPackage:   agentPlaceholder + "_generated",
		ImplPackage:        agentPlaceholder,
		Tools:              ToolsRequired,
		Layout:             LayoutPackage,
		Starters:           StartersTemplates,
	}
}

// AgentIdentifier is the agent id as an identifier: the id, a DNS label, with
// `_` for `-`.
func AgentIdentifier(agentID string) string {
	return strings.ReplaceAll(agentID, "-", "_")
}

// GeneratedPackageFor is the import package of the generated code of an agent.
func (p Parameters) GeneratedPackageFor(agentID string) string {
	return strings.ReplaceAll(p.GeneratedPackage, agentPlaceholder, AgentIdentifier(agentID))
}

// ImplPackageFor is the import package of the human-owned code of an agent.
func (p Parameters) ImplPackageFor(agentID string) string {
	return strings.ReplaceAll(p.ImplPackage, agentPlaceholder, AgentIdentifier(agentID))
}
