package toolschema

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

// Breach is a limit of a provider that a tool, or all tools of an agent, exceed.
type Breach struct {
	Profile Profile
	// Tool is nil where the limit is one of the whole agent.
	Tool  *contract.Tool
	Limit Limit
	// Found is the number that is too large; Name is the name that does not match.
	Found int
	Name  string
}

// Check measures the tools of an agent against the limits of a profile. The limits
// that only strict tools have count where strict says so.
func (g *Generator) Check(tools []*contract.Tool, profile Profile, strict bool) []Breach {
	var breaches []Breach
	var sum measure
	p := g.table.Profiles[profile]
	for _, tool := range tools {
		if tool.Input == nil {
			continue
		}
		m := measured(g.Input(tool, profile))
		sum.optional += m.optional
		sum.unions += m.unions
		for _, limit := range p.Limits {
			breach := Breach{Profile: profile, Tool: tool, Limit: limit}
			switch limit.Name {
			case "tool_name":
				if !limit.pattern.MatchString(tool.Name) {
					breach.Name = tool.Name
					breaches = append(breaches, breach)
				}
			case "property_name":
				for _, name := range m.names {
					if !limit.pattern.MatchString(name) {
						breach.Name = name
						breaches = append(breaches, breach)
						break
					}
				}
			default:
				if breach.Found = m.of(limit.Name); breach.Found > limit.Max {
					breaches = append(breaches, breach)
				}
			}
		}
	}
	for _, limit := range p.Limits {
		breach := Breach{Profile: profile, Limit: limit}
		switch limit.Name {
		case "agent_tools":
			breach.Found = len(tools)
		case "agent_optional":
			breach.Found = sum.optional
		case "agent_unions":
			breach.Found = sum.unions
		}
		if breach.Found > limit.Max && (strict || !limit.Strict) {
			breaches = append(breaches, breach)
		}
	}
	return breaches
}

// Advice says what would keep a limit.
func (b Breach) Advice() string {
	return map[string]string{
		"tool_name":       "choose a shorter tool_id, which starts with a letter",
		"property_name":   "set json_name of the field",
		"depth":           "move the inner messages up, or give what is inside as a google.protobuf.Struct",
		"properties":      "split the tool, or give a part of the request as a google.protobuf.Struct",
		"enum_values":     "use a string for the enum with most values",
		"name_characters": "shorten the names of fields and enum values, or split the tool",
		"max_items":       "lower max_items of the lists, or leave the rule out",
		"agent_tools":     "require fewer tools, or split the agent",
		"agent_optional":  "make parameters required, fill them from the state, or require fewer tools",
		"agent_unions":    "use fewer oneofs, or require fewer tools",
	}[b.Limit.Name]
}

// What names what a limit counts.
func (l Limit) What() string {
	return map[string]string{
		"depth":           "levels of nesting",
		"properties":      "properties",
		"enum_values":     "enum values",
		"name_characters": "characters of names",
		"max_items":       "in the sum of maxItems",
		"agent_tools":     "tools",
		"agent_optional":  "optional properties in all tools",
		"agent_unions":    "unions in all tools",
	}[l.Name]
}

// measure is the size of a schema.
type measure struct {
	depth, properties, optional, unions, enumValues, nameCharacters, maxItems int
	names                                                                     []string
}

func (m measure) of(limit string) int {
	switch limit {
	case "depth":
		return m.depth
	case "properties":
		return m.properties
	case "enum_values":
		return m.enumValues
	case "name_characters":
		return m.nameCharacters
	case "max_items":
		return m.maxItems
	default:
		return 0
	}
}

func measured(root *Schema) measure {
	var m measure
	m.count(root)
	for _, d := range root.Defs.All() {
		m.nameCharacters += len(d.Name)
		m.count(d.Schema)
	}
	m.depth = extentOf(root).depth
	return m
}

func (m *measure) count(s *Schema) {
	if len(s.AnyOf) > 0 || len(s.Type) > 1 {
		m.unions++
	}
	m.enumValues += len(s.Enum)
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			m.nameCharacters += len(text)
		}
	}
	if s.MaxItems != nil {
		m.maxItems += int(min(*s.MaxItems, 1<<30))
	}
	properties := s.Properties.All()
	m.properties += len(properties)
	m.optional += len(properties) - len(s.Required)
	for _, property := range properties {
		m.names = append(m.names, property.Name)
		m.nameCharacters += len(property.Name)
	}
	for _, child := range s.children() {
		m.count(child)
	}
}

// extent is how large a schema is with every reference written out, as some
// clients send it.
type extent struct{ depth, nodes int }

// extentOf measures a schema; a message that holds itself counts once.
func extentOf(root *Schema) extent {
	defs := make(map[string]*Schema)
	for _, d := range root.Defs.All() {
		defs["#/$defs/"+d.Name] = d.Schema
	}
	known := make(map[string]extent)
	var of func(s *Schema) extent
	of = func(s *Schema) extent {
		if s.Ref != "" {
			if _, ok := known[s.Ref]; !ok && defs[s.Ref] != nil {
				known[s.Ref] = extent{}
				known[s.Ref] = of(defs[s.Ref])
			}
			return known[s.Ref]
		}
		e := extent{nodes: 1}
		for _, child := range s.children() {
			inner := of(child)
			e.depth = max(e.depth, inner.depth)
			e.nodes = min(e.nodes+inner.nodes, unlimited)
		}
		if s.Properties != nil {
			e.depth++
		}
		return e
	}
	return of(root)
}
