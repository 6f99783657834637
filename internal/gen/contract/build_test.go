package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/gentest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
)

func build(t *testing.T, r *pluginpb.CodeGeneratorRequest, parameter string) *contract.Contract {
	t.Helper()
	p, diagnostics := params.Parse(parameter)
	require.Empty(t, diagnostics)
	v, diagnostics := source.Open(r, p.AnnotationsPackage)
	require.Empty(t, diag.Render(diagnostics))
	c, diagnostics := contract.Build(v, p)
	require.Empty(t, diag.Render(diagnostics))
	return c
}

func buildCase(t *testing.T, name, parameter string) *contract.Contract {
	t.Helper()
	return build(t, gentest.Load(t, name).Request(t, ""), parameter)
}

func agentOf(t *testing.T, c *contract.Contract, id string) *contract.Agent {
	t.Helper()
	for _, a := range c.Agents {
		if a.ID.Value == id {
			return a
		}
	}
	t.Fatalf("no agent %s", id)
	return nil
}

func fullNames(messages []*contract.Message) []string {
	var names []string
	for _, m := range messages {
		names = append(names, m.FullName)
	}
	return names
}

func toolIDs(tools []*contract.Tool) []string {
	var ids []string
	for _, tool := range tools {
		ids = append(ids, tool.ID.Value)
	}
	return ids
}

func factNames(facts []*contract.Fact) []string {
	var names []string
	for _, fact := range facts {
		names = append(names, fact.Message.FullName)
	}
	return names
}

func TestAgents(t *testing.T) {
	t.Parallel()
	c := buildCase(t, "multi", "")
	require.Len(t, c.Agents, 2)
	alpha, beta := c.Agents[0], c.Agents[1]

	require.Equal(t, "alpha", alpha.ID.Value)
	require.Equal(t, contract.Pos{Path: "multi/alpha/v1/alpha.proto", Line: 12, Col: 5, Element: "multi.alpha.v1.AlphaAgent"}, alpha.ID.Pos)
	require.Equal(t, "begin", alpha.EntryNode.Value)
	require.Equal(t, "AlphaAgent requires both tools.", alpha.Comment)
	require.Equal(t, 15, alpha.RequiredToolIDs[1].Pos.Line)
	require.Equal(t, []string{"search", "store"}, toolIDs(alpha.Tools))
	require.Equal(t, []string{"multi.facts.v1.Stored"}, factNames(alpha.Facts))

	require.Equal(t, "beta-agent", beta.ID.Value)
	require.Equal(t, []string{"store"}, toolIDs(beta.Tools))
	require.Empty(t, beta.Facts, "neither of its package nor imported")
	require.Equal(t, []string{
		"multi.beta.v1.BetaState", "multi.tools.v1.StoreRequest", "multi.tools.v1.StoreResponse",
	}, fullNames(beta.Messages))

	all := agentOf(t, buildCase(t, "multi", "tools=all"), "beta-agent")
	require.Equal(t, []string{"search", "store"}, toolIDs(all.Tools))
	require.Contains(t, fullNames(all.Messages), "multi.tools.v1.SearchResponse.Hit")

	require.Equal(t, []string{"multi.alpha.v1.AlphaState", "multi.beta.v1.BetaState", "multi.beta.v1.SpareState"}, fullNames(c.States))
	require.Equal(t, []string{"search", "store"}, toolIDs(c.Tools))
}

// The state of an agent is what its methods take and return, else the only state
// of its package.
func TestStateDiscovery(t *testing.T) {
	t.Parallel()
	c := buildCase(t, "multi", "")
	require.Equal(t, "multi.beta.v1.BetaState", agentOf(t, c, "beta-agent").State.FullName, "the request itself")
	require.Equal(t, "multi.alpha.v1.AlphaState", agentOf(t, c, "alpha").State.FullName, "the only one of the package")
	imported := agentOf(t, buildCase(t, "imported", ""), "imported-agent")
	require.Equal(t, "imported.state.v1.ImportedState", imported.State.FullName, "a field of the request, in another package")

	change := func(method *descriptorpb.MethodDescriptorProto) *contract.Agent {
		r := gentest.Load(t, "multi").Request(t, "")
		for _, fd := range r.GetSourceFileDescriptors() {
			if fd.GetPackage() == "multi.beta.v1" {
				proto.Merge(fd.Service[0].Method[0], method)
			}
		}
		return agentOf(t, build(t, r, ""), "beta-agent")
	}
	several := change(&descriptorpb.MethodDescriptorProto{OutputType: proto.String(".multi.beta.v1.SpareState")})
	require.Nil(t, several.State)
	require.Equal(t, []string{"multi.beta.v1.BetaState", "multi.beta.v1.SpareState"}, fullNames(several.StateCandidates))
	one := change(&descriptorpb.MethodDescriptorProto{
		InputType: proto.String(".multi.beta.v1.SpareState"), OutputType: proto.String(".multi.beta.v1.SpareState"),
	})
	require.Equal(t, "multi.beta.v1.SpareState", one.State.FullName)
	require.Equal(t, []string{"multi.beta.v1.SpareState"}, fullNames(one.StateCandidates))
}

func TestFields(t *testing.T) {
	t.Parallel()
	c := buildCase(t, "kinds", "")
	// The parts of a field that have a value of their own in the table.
	type shape struct {
		Cardinality contract.Cardinality
		Kind        contract.Kind
		Type        string
		Key         contract.Kind
		Presence    contract.Presence
		Oneof       string
		Default     string
		Delimited   bool
	}
	const singular, implicit, explicit = contract.Singular, contract.Implicit, contract.Explicit
	tests := map[string]shape{
		"Scalars.a_sfixed64":         {singular, contract.KindSfixed64, "", "", implicit, "", "", false},
		"Scalars.a_color":            {singular, contract.KindEnum, "kinds.v1.Color", "", implicit, "", "", false},
		"Optionals.a_bool":           {singular, contract.KindBool, "", "", explicit, "", "", false},
		"Optionals.scalars":          {singular, contract.KindMessage, "kinds.v1.Scalars", "", explicit, "", "", false},
		"Lists.floats":               {contract.Repeated, contract.KindFloat, "", "", implicit, "", "", false},
		"Maps.by_bool":               {contract.Map, contract.KindString, "", contract.KindBool, implicit, "", "", false},
		"Maps.scalars":               {contract.Map, contract.KindMessage, "kinds.v1.Scalars", contract.KindString, implicit, "", "", false},
		"Choice.number":              {singular, contract.KindInt64, "", "", explicit, "value", "", false},
		"Choice.label":               {singular, contract.KindString, "", "", implicit, "", "", false},
		"Tree.named":                 {contract.Map, contract.KindMessage, "kinds.v1.Tree", contract.KindString, implicit, "", "", false},
		"WellKnown.struct":           {singular, contract.KindMessage, "google.protobuf.Struct", "", explicit, "", "", false},
		"WellKnown.null_value":       {singular, contract.KindEnum, "google.protobuf.NullValue", "", implicit, "", "", false},
		"Defaults.some_bytes":        {singular, contract.KindBytes, "", "", explicit, "", `\000\377ab\'`, false},
		"Defaults.infinite":          {singular, contract.KindDouble, "", "", explicit, "", "-inf", false},
		"Defaults.grade":             {singular, contract.KindEnum, "kinds.v1.Grade", "", explicit, "", "GRADE_HIGH", false},
		"Requirements.name":          {singular, contract.KindString, "", "", contract.Required, "", "", false},
		"Requirements.extra":         {singular, contract.KindMessage, "kinds.v1.Requirements.Extra", "", explicit, "", "", true},
		"Featured.implicit":          {singular, contract.KindString, "", "", implicit, "", "", false},
		"Featured.required":          {singular, contract.KindString, "", "", contract.Required, "", "", false},
		"Featured.delimited":         {singular, contract.KindMessage, "kinds.v1.Part", "", explicit, "", "", true},
		"KindsState.messages":        {contract.Repeated, contract.KindMessage, contract.ChatMessage, "", implicit, "", "", false},
		"Outer.Inner.level":          {singular, contract.KindEnum, "kinds.v1.Outer.Level", "", implicit, "", "", false},
		"ConvertResponse.named":      {contract.Map, contract.KindBytes, "", contract.KindString, implicit, "", "", false},
		"KindsState.colors":          {contract.Map, contract.KindEnum, "kinds.v1.Color", contract.KindBool, implicit, "", "", false},
		"InspectResponse.forest":     {singular, contract.KindMessage, "kinds.v1.Forest", "", explicit, "", "", false},
		"Requirements.Extra.note":    {singular, contract.KindString, "", "", explicit, "", "", false},
		"Featured.with_default":      {singular, contract.KindInt32, "", "", explicit, "", "12", false},
		"Outer.with_json_name":       {singular, contract.KindString, "", "", implicit, "", "", false},
		"Requirements.right":         {singular, contract.KindString, "", "", explicit, "either", "", false},
		"Featured.shade":             {singular, contract.KindEnum, "kinds.v1.Shade", "", explicit, "", "", false},
		"KindsState.scratch":         {singular, contract.KindBytes, "", "", implicit, "", "", false},
		"Lists.colors":               {contract.Repeated, contract.KindEnum, "kinds.v1.Color", "", implicit, "", "", false},
		"WellKnown.timestamps":       {contract.Repeated, contract.KindMessage, "google.protobuf.Timestamp", "", implicit, "", "", false},
		"Maps.by_sfixed64":           {contract.Map, contract.KindString, "", contract.KindSfixed64, implicit, "", "", false},
		"Defaults.an_int64":          {singular, contract.KindInt64, "", "", explicit, "", "-9223372036854775808", false},
		"AnswerFound.tenant":         {singular, contract.KindString, "", "", implicit, "", "", false},
		"RoundStarted.at":            {singular, contract.KindMessage, "google.protobuf.Timestamp", "", explicit, "", "", false},
		"InvokeRequest.input":        {singular, contract.KindMessage, "kinds.v1.KindsState", "", explicit, "", "", false},
		"Defaults.a_string":          {singular, contract.KindString, "", "", explicit, "", "say \"hi\"\n\\ é", false},
		"Featured.expanded":          {contract.Repeated, contract.KindInt32, "", "", implicit, "", "", false},
		"KindsState.score":           {singular, contract.KindDouble, "", "", explicit, "", "", false},
		"Outer.Inner.Core.text":      {singular, contract.KindString, "", "", implicit, "", "", false},
		"ConvertRequest.featured":    {singular, contract.KindMessage, "kinds.v1.Featured", "", explicit, "", "", false},
		"ConvertResponse.chunks":     {contract.Repeated, contract.KindBytes, "", "", implicit, "", "", false},
		"InspectResponse.well_known": {singular, contract.KindMessage, "kinds.v1.WellKnown", "", explicit, "", "", false},
	}
	for name, want := range tests {
		at := strings.LastIndexByte(name, '.')
		message := c.Messages["kinds.v1."+name[:at]]
		require.NotNil(t, message, name)
		field := message.Field(name[at+1:])
		require.NotNil(t, field, name)
		require.Empty(t, cmp.Diff(want, shape{
			field.Cardinality, field.Kind, field.Type, field.Key, field.Presence, field.Oneof, field.Default.Value, field.Delimited,
		}), name)
	}

	outer := c.Messages["kinds.v1.Outer"]
	require.Equal(t, "renamed", outer.Field("with_json_name").JSONName)
	require.True(t, outer.Field("old").Deprecated)
	require.Equal(t, "Outer.Inner.Core", c.Messages["kinds.v1.Outer.Inner.Core"].Name)
	require.Equal(t, []string{"text", "number", "color", "scalars", "at"}, c.Messages["kinds.v1.Choice"].Oneofs[0].Fields)
	require.Empty(t, c.Messages["kinds.v1.Optionals"].Oneofs, "the oneofs of `optional` are none")

	color := c.Enums["kinds.v1.Color"]
	require.False(t, color.Closed)
	require.Len(t, color.Values, 4, "aliases included")
	require.Equal(t, "A warm one.", color.Values[1].Comment)
	require.Equal(t, int32(-7), color.Values[3].Number)
	require.True(t, color.Values[3].Deprecated)
	require.True(t, c.Enums["kinds.v1.Grade"].Closed)
	require.True(t, c.Enums["kinds.v1.Shade"].Closed)

	for name := range c.Messages {
		require.False(t, contract.IsBuiltIn(name), name)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	c := buildCase(t, "kinds", "")
	state := c.Agents[0].State
	require.Equal(t, contract.RoleState, state.Role.Value)

	round := state.Field("round").State
	require.False(t, round.Reducer.Set)
	require.Equal(t, contract.ReducerUnset, round.Reducer.Value)
	require.True(t, round.Checkpoint.Set && round.Checkpoint.Value)
	require.False(t, round.PublicInput.Set)
	require.Equal(t, 62, round.Checkpoint.Pos.Line)

	scratch := state.Field("scratch").State
	require.True(t, scratch.Checkpoint.Set)
	require.False(t, scratch.Checkpoint.Value)
	require.Equal(t, contract.AddMessages, state.Field("messages").State.Reducer.Value)
	require.Equal(t, "question", c.Messages["kinds.v1.ConvertRequest"].Field("question").Tool.InjectFromState.Value)
	require.Nil(t, c.Messages["kinds.v1.ConvertRequest"].Field("content").Tool)

	byID := map[string]*contract.Tool{}
	for _, tool := range c.Tools {
		byID[tool.ID.Value] = tool
	}
	convert, inspect, unused := byID["kinds.convert"], byID["kinds.inspect"], byID["kinds.unused"]
	require.Equal(t, "kinds_convert", convert.Name)
	require.Equal(t, "kinds.v1.KindsTools.Convert", convert.FullMethod())
	require.Equal(t, "Convert has its description in its comment.\nIt takes two lines.", convert.Text())
	require.False(t, convert.Idempotent.Set)
	require.False(t, convert.IsIdempotent())
	require.Equal(t, contract.NoSideEffects, inspect.IdempotencyLevel)
	require.True(t, inspect.IsIdempotent())
	require.Equal(t, "Inspects the forest.\nTakes nothing.", inspect.Text())
	require.Equal(t, uint32(2500), inspect.DefaultTimeoutMS.Value)
	require.True(t, unused.Idempotent.Set)
	require.False(t, unused.IsIdempotent())
	require.Equal(t, contract.RoleToolInput, convert.Input.Role.Value)

	require.Equal(t, []string{"kinds.v1.AnswerFound", "kinds.v1.RoundStarted"}, factNames(c.Facts))
	answer := c.Facts[0]
	require.Equal(t, "kinds.answer.found.v1", answer.Type.Value)
	require.Equal(t, "tenant", answer.PartitionKeyFields[0].Value)
	require.Len(t, answer.IdempotencyKeyFields, 2)
	require.Equal(t, contract.RoleEvent, c.Facts[1].Message.Role.Value)
	require.Contains(t, fullNames(c.Annotated), "kinds.v1.KindsState")
	require.Contains(t, fullNames(c.Annotated), "kinds.v1.ConvertRequest")

	stray := buildCase(t, "diagnostics/stray-event-fact", "")
	require.Len(t, stray.StrayFacts, 1)
}

// The JSON form says everything, has no null, and does not change with the place
// of a declaration.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := gentest.Load(t, "kinds").Request(t, "")
	want, err := build(t, r, "").Agents[0].JSON()
	require.NoError(t, err)
	require.True(t, json.Valid(want))
	require.False(t, strings.Contains(string(want), ": null"))
	require.True(t, strings.HasPrefix(string(want), "{\n  \"version\": 1,\n"))
	require.True(t, strings.HasSuffix(string(want), "}\n"))

	for _, fd := range r.GetSourceFileDescriptors() {
		for _, location := range fd.GetSourceCodeInfo().GetLocation() {
			location.Span[0] += 100
		}
	}
	moved, err := build(t, r, "").Agents[0].JSON()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), string(moved)))
}

// What cannot be seen is escaped, and comes back as it was.
func TestJSONEscapesTheInvisible(t *testing.T) {
	t.Parallel()
	const text = "a\u202eb\u2066c\u200bd\ufeffe\u0085f\u2028g\U000e0041h é 日本 \" \\ </script> \x01"
	agent := &contract.Agent{Comment: text}
	got, err := agent.JSON()
	require.NoError(t, err)
	for _, r := range "\u202e\u2066\u200b\ufeff\u0085\u2028\U000e0041\x01" {
		require.NotContains(t, string(got), string(r))
	}
	require.Contains(t, string(got), "é 日本")
	require.Contains(t, string(got), "</script>")
	var decoded struct{ Agent struct{ Comment string } }
	require.NoError(t, json.Unmarshal(got, &decoded))
	require.Equal(t, text, decoded.Agent.Comment)
}
