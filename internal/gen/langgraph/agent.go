package langgraph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// moduleView is what templates show that depend on little.
type moduleView struct {
	Doc     py.Code
	AgentID py.Code
	ToolIDs py.Code
}

func newModuleView(a *contract.Agent, doc string) *moduleView {
	ids := make([]py.Expr, len(a.Tools))
	for i, t := range a.Tools {
		ids[i] = py.Str(t.ID.Value)
	}
	return &moduleView{
		Doc:     py.Doc(0, "", fmt.Sprintf(doc, a.ID.Value)),
		AgentID: py.Assign(0, mustIdent("AGENT_ID"), py.Str(a.ID.Value)),
		ToolIDs: py.Assign(0, mustIdent("TOOL_IDS"), py.Tuple(ids...)),
	}
}

// factsView is what facts_generated.py shows.
type factsView struct {
	Doc     py.Code
	Local   []py.Code
	Exports py.Code
	Facts   []factView
	All     py.Code
}

type factView struct {
	Spec py.Code
	Doc  py.Code
}

func newFactsView(a *contract.Agent, types *types) (*factsView, error) {
	var local imports
	local.add("..support.facts", "Envelope", "FactSink", "FactSpec", "InMemoryFactSink")
	v := &factsView{Doc: py.Doc(0, "", fmt.Sprintf("Facts and events that agent `%s` may emit.", a.ID.Value))}
	exports := []string{"FACTS", "Envelope", "FactSink", "FactSpec", "InMemoryFactSink"}
	var all []py.Expr
	naming := newNaming(a)
	for _, f := range a.Facts {
		named := types.models[f.Message.FullName]
		if named == nil {
			return nil, fmt.Errorf("fact %s has no model", f.Message.FullName)
		}
		local.addFrom(2, mustModule("state.generated"), named.class)
		constant, err := naming.fact(f.Message)
		if err != nil {
			return nil, fmt.Errorf("name fact %s: %w", f.Message.FullName, err)
		}
		spec := []py.Arg{
			py.Key(mustIdent("model"), py.Name(named.class)),
			py.Key(mustIdent("type"), py.Str(factType(f))),
		}
		for _, text := range []struct{ key, value string }{
			{"schema_subject", f.SchemaSubject.Value}, {"stream_ref", f.StreamRef.Value},
		} {
			if text.value != "" {
				spec = append(spec, py.Key(mustIdent(text.key), py.Str(text.value)))
			}
		}
		for _, key := range []struct {
			name   string
			fields []contract.Opt[string]
		}{{"partition_key", f.PartitionKeyFields}, {"idempotency_key", f.IdempotencyKeyFields}} {
			if len(key.fields) == 0 {
				continue
			}
			values, err := keyValues(key.fields)
			if err != nil {
				return nil, fmt.Errorf("name the %s of fact %s: %w", key.name, f.Message.FullName, err)
			}
			spec = append(spec, py.Key(mustIdent(key.name), py.Lambda(mustIdent("fact"), values...)))
		}
		exports = append(exports, constant.String())
		all = append(all, py.Name(constant))
		v.Facts = append(v.Facts, factView{
			Spec: py.Assign(0, constant, py.Call(py.Ref("FactSpec"), spec...)),
			Doc:  py.Doc(0, f.Message.Comment, "Fact `"+factType(f)+"`."),
		})
	}
	slices.SortFunc(exports, py.CompareNames)
	names := make([]py.Expr, len(exports))
	for i, name := range exports {
		names[i] = py.Str(name)
	}
	v.Exports = py.Assign(0, mustIdent("__all__"), py.List(names...))
	v.All = py.DeclareAs(0, mustIdent("FACTS"),
		py.Index(py.Ref("tuple"), py.Index(py.Ref("FactSpec"), py.Ref("Any")), py.Ellipsis), py.Tuple(all...))
	v.Local = local.code()
	return v, nil
}

func keyValues(fields []contract.Opt[string]) ([]py.Expr, error) {
	values := make([]py.Expr, len(fields))
	for i, f := range fields {
		name, err := fieldName(f.Value)
		if err != nil {
			return nil, err
		}
		values[i] = py.Attr(py.Ref("fact"), name)
	}
	return values, nil
}

// factType is the stable type of a fact: without an option, its full name.
func factType(f *contract.Fact) string {
	if f.Type.Value != "" {
		return f.Type.Value
	}
	return f.Message.FullName
}

// factConstant is the constant of a fact: `ANSWER_FOUND` for `AnswerFound`. A
// name that is not made of such words stays as it is, with `_fact` behind it.
func factConstant(m *contract.Message) string {
	if !fullWords.MatchString(m.Name) || m.Name == "Facts" {
		return typeName(m.Name) + "_fact"
	}
	var b strings.Builder
	for i, r := range m.Name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// fullWords are words that begin with a capital and have more than that: only
// then do capitals say where words begin.
var fullWords = regexp.MustCompile(`^([A-Z][a-z0-9]+)+$`)
