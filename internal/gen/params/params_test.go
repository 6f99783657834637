package params_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

func TestParse(t *testing.T) {
	t.Parallel()
	with := func(change func(*params.Parameters)) params.Parameters {
		p := params.Default()
		change(&p)
		return p
	}
	tests := map[string]params.Parameters{
		"":                 params.Default(),
		",":                params.Default(),
		"target=langgraph": params.Default(),
		"target=eino":      with(func(p *params.Parameters) { p.Target = params.TargetEino }),
		"target=contract,": with(func(p *params.Parameters) { p.Target = params.TargetContract }),
		"tools=all":        with(func(p *params.Parameters) { p.Tools = params.ToolsAll }),
		"layout=dotted":    with(func(p *params.Parameters) { p.Layout = params.LayoutDotted }),
		"starters=only":    with(func(p *params.Parameters) { p.Starters = params.StartersOnly }),
		"providers=gemini": with(func(p *params.Parameters) { p.Providers = []string{"gemini"} }),
		"providers=openai-strict+mcp+mcp": with(func(p *params.Parameters) {
			p.Providers = []string{"openai-strict", "mcp"}
		}),
		"allow_empty=true":  with(func(p *params.Parameters) { p.AllowEmpty = true }),
		"allow_empty=false": params.Default(),
		"sdk_package=":      params.Default(),
		"sdk_package=a.b":   with(func(p *params.Parameters) { p.SDKPackage = "a.b" }),
		"annotations_package=acme.annotations.v1,generated_package=x.{agent}.gen,impl_package=my_{agent}": with(func(p *params.Parameters) {
			p.AnnotationsPackage = "acme.annotations.v1"
			p.GeneratedPackage = "x.{agent}.gen"
			p.ImplPackage = "my_{agent}"
		}),
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, diagnostics := params.Parse(text)
			require.Empty(t, diagnostics)
			require.Empty(t, cmp.Diff(want, got))
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		message string
		help    string
	}{
		{"tagret=eino", "unknown parameter `tagret`", "did you mean `target`? the parameters are `target`, `annotations_package`,"},
		{"Target=eino", "unknown parameter `Target`", "did you mean `target`?"},
		{"paths=source_relative", "unknown parameter `paths`", "the parameters are"},
		{"Mx.proto=example.com/x", "unknown parameter `Mx.proto`", "the parameters are"},
		{" target=eino", "unknown parameter ` target`", "did you mean `target`?"},
		{"=x", "unknown parameter ``", "the parameters are"},
		{"target=eino,target=eino", "parameter `target` is given more than once", "give it once"},
		{"target=langraph", "the value `langraph` is not `langgraph`, `eino` or `contract`", "did you mean `langgraph`? `target` takes `langgraph`, `eino` or `contract`"},
		{"target=", "the value `` is not `langgraph`, `eino` or `contract`", "`target` takes"},
		{"tools=none", "the value `none` is not `required` or `all`", "`required` or `all`"},
		{"providers=antropic", "the value `antropic` has a part that is not", "did you mean `anthropic`?"},
		{"providers=gemini+", "the value `gemini+` has a part that is not", "with `+` between"},
		{"allow_empty=yes", "the value `yes` is not `true` or `false`", "`true` or `false`"},
		{"allow_empty", "parameter `allow_empty` has no value", "write `allow_empty=VALUE`"},
		{"annotations_package=", "the value `` is empty", "a proto package"},
		{"annotations_package=a..b", "has an empty part", ""},
		{"annotations_package=a-b", "`a-b` is no identifier", ""},
		{"generated_package={agnt}", "`{agnt}` is no identifier", "`{agent}` stands for"},
		{"generated_package={agent}.class", "contains the Python keyword `class`", ""},
		{"generated_package=1{agent}", "is no identifier", ""},
		{"impl_package=../x", "has an empty part", ""},
		{"impl_package=" + strings.Repeat("x", 201), "is longer than 200 characters", ""},
		{"impl_package=ﬁle", "is no identifier", ""},
		{"sdk_package={agent}", "is no identifier", ""},
		{"sdk_package=a\nb", "`a\\nb` is no identifier", ""},
		{"generated_package={agent}", "are both `{agent}`", "different names"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			_, diagnostics := params.Parse(test.text)
			require.Len(t, diagnostics, 1)
			require.Equal(t, diag.BadParameter.Code, diagnostics[0].Code)
			require.Contains(t, diagnostics[0].Message, test.message)
			require.Contains(t, diagnostics[0].Help, test.help)
		})
	}
}

func TestParseReportsEverything(t *testing.T) {
	t.Parallel()
	_, diagnostics := params.Parse("tagret=x,target=y,layout,tools=z,tools=all")
	var messages []string
	for _, d := range diagnostics {
		messages = append(messages, d.Message)
	}
	require.Equal(t, []string{
		"unknown parameter `tagret`",
		"parameter `target`: the value `y` is not `langgraph`, `eino` or `contract`",
		"parameter `layout` has no value",
		"parameter `tools`: the value `z` is not `required` or `all`",
		"parameter `tools` is given more than once",
	}, messages)
}

func TestPackages(t *testing.T) {
	t.Parallel()
	p := params.Default()
	require.Equal(t, "research_agent_generated", p.GeneratedPackageFor("research-agent"))
	require.Equal(t, "research_agent", p.ImplPackageFor("research-agent"))
	p.GeneratedPackage = "acme.{agent}.{agent}_gen"
	require.Equal(t, "acme.x.x_gen", p.GeneratedPackageFor("x"))
}

func FuzzParameters(f *testing.F) {
	for _, seed := range []string{
		"", "target=eino", "tools=all,layout=dotted", "a=b=c", "generated_package={agent}.{agent}",
		"sdk_package=a.b,sdk_package=c", "impl_package=\xff", "allow_empty,=,==",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, diagnostics := params.Parse(text)
		again, more := params.Parse(text)
		require.Empty(t, cmp.Diff(p, again))
		require.Empty(t, cmp.Diff(diagnostics, more))
		if len(diagnostics) > 0 {
			require.NotEmpty(t, diag.Render(diagnostics))
			return
		}
		for _, id := range []string{"a", "research-agent", "x9"} {
			require.Empty(t, params.PackageProblem(p.GeneratedPackageFor(id)))
			require.Empty(t, params.PackageProblem(p.ImplPackageFor(id)))
		}
	})
}
