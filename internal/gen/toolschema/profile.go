package toolschema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// Profile is the form of a schema that a provider of models takes.
type Profile string

// The profiles.
const (
	// MCP is plain JSON Schema, draft 2020-12, of the ProtoJSON of the request: for
	// the Model Context Protocol, and for providers that have no profile.
	MCP Profile = "mcp"
	// OpenAIStrict is for OpenAI's strict mode, and fits the other one.
	OpenAIStrict Profile = "openai-strict"
	// Anthropic fits Anthropic's strict tools, and the others.
	Anthropic Profile = "anthropic"
	// Gemini fits the Schema type of the Gemini API.
	Gemini Profile = "gemini"
)

// Profiles returns every profile, the neutral one first.
func Profiles() []Profile { return []Profile{MCP, OpenAIStrict, Anthropic, Gemini} }

// providersJSON is what providers take and where that is written: data, because it
// changes more often than code.
//
//go:embed providers.json
var providersJSON []byte

type providers struct {
	AsOf     string                `json:"as_of"`
	Profiles map[Profile]*provider `json:"profiles"`
}

// provider is what a profile may use.
type provider struct {
	Sources  []string `json:"sources"`
	Keywords []string `json:"keywords"`
	Formats  []string `json:"formats"`
	// Refs says which messages may be references: all, acyclic or none.
	Refs string `json:"refs"`
	// BareRefs says that nothing may stand beside a $ref.
	BareRefs bool `json:"bare_refs"`
	// AllRequired says that every property is required, and null where it is unset.
	AllRequired bool `json:"all_required"`
	// Closed says that objects say that they have no other properties.
	Closed bool `json:"closed"`
	// Native says that the schema is that of ProtoJSON: maps are objects, members of
	// a oneof stand beside each other, Struct and the like are any JSON.
	Native bool    `json:"native"`
	Limits []Limit `json:"limits"`
}

// Limit is a limit of a provider.
type Limit struct {
	Name string `json:"name"`
	// Max is the largest number; Pattern is what a name must match.
	Max     int    `json:"max"`
	Pattern string `json:"pattern"`
	// Strict says that the limit is one of strict tools only.
	Strict bool   `json:"strict"`
	Source string `json:"source"`

	pattern *regexp.Regexp
}

// table is the table, which is read once.
var table = sync.OnceValues(loadProviders)

func loadProviders() (*providers, error) {
	var table providers
	if err := json.Unmarshal(providersJSON, &table); err != nil {
		return nil, fmt.Errorf("read the table of providers: %w", err)
	}
	for _, profile := range Profiles() {
		p := table.Profiles[profile]
		if p == nil {
			return nil, fmt.Errorf("the table of providers lacks %s", profile)
		}
		for i := range p.Limits {
			if p.Limits[i].Pattern == "" {
				continue
			}
			pattern, err := regexp.Compile(p.Limits[i].Pattern)
			if err != nil {
				return nil, fmt.Errorf("limit %s of %s: %w", p.Limits[i].Name, profile, err)
			}
			p.Limits[i].pattern = pattern
		}
	}
	return &table, nil
}

// maxDepth is how deep objects may nest.
func (p *provider) maxDepth() int {
	for _, limit := range p.Limits {
		if limit.Name == "depth" {
			return limit.Max
		}
	}
	return unlimited
}

func (p *provider) has(keyword string) bool { return slices.Contains(p.Keywords, keyword) }

func (p *provider) hasFormat(format string) bool { return slices.Contains(p.Formats, format) }
