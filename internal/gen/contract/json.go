package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// SchemaVersion is the version of the JSON form of a contract. It grows when a
// reader of the old form would misunderstand the new one.
const SchemaVersion = 1

// JSON is the canonical JSON form of the contract of one agent: equal contracts
// give equal bytes. It holds no positions, so that moving a declaration within
// its file changes nothing.
func (a *Agent) JSON() ([]byte, error) {
	document := jsonDocument{
		Version:  SchemaVersion,
		Agent:    agentJSON(a),
		Tools:    convert(a.Tools, toolJSON),
		Facts:    convert(a.Facts, factJSON),
		Messages: convert(a.Messages, messageJSON),
		Enums:    convert(a.Enums, enumJSON),
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("encode the contract of %s: %w", a.Service, err)
	}
	return escapeInvisible(b.Bytes()), nil
}

// escapeInvisible writes what a reader of the file could not see as escapes.
// Such runes stand only within strings: the rest of the JSON is ASCII.
func escapeInvisible(text []byte) []byte {
	invisible := func(r rune) bool {
		return r > unicode.MaxASCII && (unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) || r == '\uFEFF')
	}
	if bytes.IndexFunc(text, invisible) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case !invisible(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

type jsonDocument struct {
	Version  int           `json:"version"`
	Agent    jsonAgent     `json:"agent"`
	Tools    []jsonTool    `json:"tools"`
	Facts    []jsonFact    `json:"facts"`
	Messages []jsonMessage `json:"messages"`
	Enums    []jsonEnum    `json:"enums"`
}

type jsonAgent struct {
	ID              string       `json:"id"`
	EntryNode       string       `json:"entryNode"`
	RequiredToolIDs []string     `json:"requiredToolIds"`
	Service         string       `json:"service"`
	Package         string       `json:"package"`
	Comment         string       `json:"comment,omitempty"`
	Deprecated      bool         `json:"deprecated,omitempty"`
	State           string       `json:"state"`
	Methods         []jsonMethod `json:"methods"`
}

type jsonMethod struct {
	Name            string `json:"name"`
	Comment         string `json:"comment,omitempty"`
	Input           string `json:"input"`
	Output          string `json:"output"`
	ClientStreaming bool   `json:"clientStreaming,omitempty"`
	ServerStreaming bool   `json:"serverStreaming,omitempty"`
}

type jsonTool struct {
	ID               string           `json:"id"`
	Name             string           `json:"name"`
	DisplayName      string           `json:"displayName,omitempty"`
	Description      string           `json:"description,omitempty"`
	Idempotent       bool             `json:"idempotent"`
	IdempotencyLevel IdempotencyLevel `json:"idempotencyLevel,omitempty"`
	DefaultTimeoutMS uint32           `json:"defaultTimeoutMs,omitempty"`
	Service          string           `json:"service"`
	Method           string           `json:"method"`
	Input            string           `json:"input"`
	Output           string           `json:"output"`
	Deprecated       bool             `json:"deprecated,omitempty"`
}

type jsonFact struct {
	Message              string   `json:"message"`
	Role                 Role     `json:"role"`
	Type                 string   `json:"type,omitempty"`
	SchemaSubject        string   `json:"schemaSubject,omitempty"`
	StreamRef            string   `json:"streamRef,omitempty"`
	PartitionKeyFields   []string `json:"partitionKeyFields"`
	IdempotencyKeyFields []string `json:"idempotencyKeyFields"`
}

type jsonMessage struct {
	Name       string            `json:"name"`
	Role       Role              `json:"role,omitempty"`
	Comment    string            `json:"comment,omitempty"`
	Deprecated bool              `json:"deprecated,omitempty"`
	Fields     []jsonField       `json:"fields"`
	Oneofs     []jsonOneof       `json:"oneofs,omitempty"`
	Rules      *jsonMessageRules `json:"rules,omitempty"`
}

type jsonOneof struct {
	Name     string   `json:"name"`
	Comment  string   `json:"comment,omitempty"`
	Fields   []string `json:"fields"`
	Required bool     `json:"required,omitempty"`
}

type jsonField struct {
	Name        string      `json:"name"`
	JSONName    string      `json:"jsonName"`
	Number      int32       `json:"number"`
	Cardinality Cardinality `json:"cardinality"`
	Kind        Kind        `json:"kind"`
	Type        string      `json:"type,omitempty"`
	Key         Kind        `json:"key,omitempty"`
	Presence    Presence    `json:"presence"`
	Oneof       string      `json:"oneof,omitempty"`
	// Default is in the text form of protobuf: bytes with C escapes, enums by name.
	Default    *string         `json:"default,omitempty"`
	Delimited  bool            `json:"delimited,omitempty"`
	Comment    string          `json:"comment,omitempty"`
	Deprecated bool            `json:"deprecated,omitempty"`
	State      *jsonStateField `json:"state,omitempty"`
	Tool       *jsonToolField  `json:"tool,omitempty"`
	Behaviors  []Behavior      `json:"behaviors,omitempty"`
	Rules      *jsonRules      `json:"rules,omitempty"`
}

type jsonStateField struct {
	Reducer Reducer `json:"reducer"`
	// Exclusive refuses two writers in one superstep.
	Exclusive    bool `json:"exclusive,omitempty"`
	Checkpoint   bool `json:"checkpoint"`
	PublicInput  bool `json:"publicInput"`
	PublicOutput bool `json:"publicOutput"`
}

type jsonToolField struct {
	InjectFromState string `json:"injectFromState"`
}

type jsonEnum struct {
	Name       string          `json:"name"`
	Closed     bool            `json:"closed"`
	Comment    string          `json:"comment,omitempty"`
	Deprecated bool            `json:"deprecated,omitempty"`
	Values     []jsonEnumValue `json:"values"`
}

type jsonEnumValue struct {
	Name       string `json:"name"`
	Number     int32  `json:"number"`
	Comment    string `json:"comment,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
}

// convert never gives nil, which JSON would show as null.
func convert[From, To any](from []From, one func(From) To) []To {
	to := make([]To, 0, len(from))
	for _, f := range from {
		to = append(to, one(f))
	}
	return to
}

func valueOf[T any](o Opt[T]) T { return o.Value }

func agentJSON(a *Agent) jsonAgent {
	j := jsonAgent{
		ID:              a.ID.Value,
		EntryNode:       a.EntryNode.Value,
		RequiredToolIDs: convert(a.RequiredToolIDs, valueOf),
		Service:         a.Service,
		Package:         a.Package,
		Comment:         a.Comment,
		Deprecated:      a.Deprecated,
		Methods: convert(a.Methods, func(m *Method) jsonMethod {
			return jsonMethod{
				Name:            m.Name,
				Comment:         m.Comment,
				Input:           m.Input,
				Output:          m.Output,
				ClientStreaming: m.ClientStreaming,
				ServerStreaming: m.ServerStreaming,
			}
		}),
	}
	if a.State != nil {
		j.State = a.State.FullName
	}
	return j
}

func toolJSON(t *Tool) jsonTool {
	return jsonTool{
		ID:               t.ID.Value,
		Name:             t.Name,
		DisplayName:      t.DisplayName.Value,
		Description:      t.Text(),
		Idempotent:       t.IsIdempotent(),
		IdempotencyLevel: t.IdempotencyLevel,
		DefaultTimeoutMS: t.DefaultTimeoutMS.Value,
		Service:          t.Service,
		Method:           t.Method,
		Input:            t.Input.FullName,
		Output:           t.Output.FullName,
		Deprecated:       t.Deprecated,
	}
}

func factJSON(f *Fact) jsonFact {
	return jsonFact{
		Message:              f.Message.FullName,
		Role:                 f.Message.Role.Value,
		Type:                 f.Type.Value,
		SchemaSubject:        f.SchemaSubject.Value,
		StreamRef:            f.StreamRef.Value,
		PartitionKeyFields:   convert(f.PartitionKeyFields, valueOf),
		IdempotencyKeyFields: convert(f.IdempotencyKeyFields, valueOf),
	}
}

func messageJSON(m *Message) jsonMessage {
	return jsonMessage{
		Name:       m.FullName,
		Role:       m.Role.Value,
		Comment:    m.Comment,
		Deprecated: m.Deprecated,
		Fields:     convert(m.Fields, fieldJSON),
		Oneofs: convert(m.Oneofs, func(o *Oneof) jsonOneof {
			return jsonOneof{Name: o.Name, Comment: o.Comment, Fields: o.Fields, Required: o.Required}
		}),
		Rules: messageRulesJSON(m.Rules),
	}
}

func fieldJSON(f *Field) jsonField {
	j := jsonField{
		Name:        f.Name,
		JSONName:    f.JSONName,
		Number:      f.Number,
		Cardinality: f.Cardinality,
		Kind:        f.Kind,
		Type:        f.Type,
		Key:         f.Key,
		Presence:    f.Presence,
		Oneof:       f.Oneof,
		Delimited:   f.Delimited,
		Comment:     f.Comment,
		Deprecated:  f.Deprecated,
	}
	if f.Default.Set {
		j.Default = &f.Default.Value
	}
	if s := f.State; s != nil {
		j.State = &jsonStateField{
			Reducer:      s.Reducer.Value,
			Checkpoint:   s.Checkpoint.Value,
			PublicInput:  s.PublicInput.Value,
			PublicOutput: s.PublicOutput.Value,
		}
		if s.Reducer.Value == ReducerUnset {
			j.State.Reducer, j.State.Exclusive = Replace, true
		}
	}
	if t := f.Tool; t != nil {
		j.Tool = &jsonToolField{InjectFromState: t.InjectFromState.Value}
	}
	j.Behaviors = f.Behaviors
	j.Rules = rulesJSON(f.Rules)
	return j
}

func enumJSON(e *Enum) jsonEnum {
	return jsonEnum{
		Name:       e.FullName,
		Closed:     e.Closed,
		Comment:    e.Comment,
		Deprecated: e.Deprecated,
		Values: convert(e.Values, func(v *EnumValue) jsonEnumValue {
			return jsonEnumValue{Name: v.Name, Number: v.Number, Comment: v.Comment, Deprecated: v.Deprecated}
		}),
	}
}
