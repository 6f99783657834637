// Package rules says what is wrong with a contract.
//
// A family of rules has a file. A rule is a method of checker that reports
// diagnostics; Check runs all of them, because a user wants to see every mistake
// at once. One mistake is one diagnostic: a rule stays silent where another one
// already reports the cause.
//
// What takes part in the output of an agent (its state, the tools it uses, the
// facts it may emit) is checked in full. Of the rest of the request only
// contradictions are reported: an option that another option or a role denies,
// an id that is declared twice.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/nearest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

const (
	// maxListed is how many names a message or candidates a diagnostic lists.
	maxListed = 8
	// maxSuggestions is for how many names a near one is looked up.
	maxSuggestions = 100
)

// Check returns everything that is wrong with the contract, in canonical order.
// A contract without agents is the contract of a request of which nothing is
// generated: nothing in it is wrong.
func Check(c *contract.Contract, p params.Parameters) []diag.Diagnostic {
	if len(c.Agents) == 0 {
		return nil
	}
	checker := newChecker(c, p)
	checker.checkAgents()
	checker.checkStates()
	checker.checkStateFields()
	checker.checkTools()
	checker.checkFacts()
	checker.checkPackages()
	checker.checkValidation()
	checker.checkToolSchemas()
	return diag.Canonical(checker.diagnostics)
}

// checker runs the rules over one contract. What several rules look up is looked
// up once, so that the time grows with the request and not with its square.
type checker struct {
	contract   *contract.Contract
	parameters params.Parameters

	// annotated are the messages of the request in which the options of fields
	// may stand, sorted by full name.
	annotated []*contract.Message
	// tools are, for each agent, the tools that it uses or means to use: a required
	// tool counts although its id is ambiguous.
	tools map[*contract.Agent][]*contract.Tool
	// used holds the tools that any agent uses, usedInputs their requests.
	used       map[*contract.Tool]bool
	usedInputs map[string]bool
	// toolIDs are the ids that the request declares, sorted. intendedToolIDs are
	// those that malformed or missing ids are probably meant to be.
	toolIDs         []string
	intendedToolIDs map[string]bool
	// toBytes says how many fields lie between a message and the nearest bytes.
	toBytes map[string]int

	suggestions int
	diagnostics []diag.Diagnostic
}

func newChecker(c *contract.Contract, p params.Parameters) *checker {
	checker := &checker{
		contract:        c,
		parameters:      p,
		annotated:       annotatedMessages(c),
		tools:           make(map[*contract.Agent][]*contract.Tool, len(c.Agents)),
		used:            make(map[*contract.Tool]bool),
		usedInputs:      make(map[string]bool),
		intendedToolIDs: make(map[string]bool),
		toBytes:         distancesToBytes(c.Messages),
		suggestions:     maxSuggestions,
	}
	byID := make(map[string][]*contract.Tool, len(c.Tools))
	for _, tool := range c.Tools {
		if id := tool.ID.Value; id != "" {
			byID[id] = append(byID[id], tool)
			checker.toolIDs = append(checker.toolIDs, id)
		}
		if !validToolID(tool.ID.Value) {
			checker.intendedToolIDs[suggestedToolID(tool)] = true
		}
	}
	slices.Sort(checker.toolIDs)
	checker.toolIDs = slices.Compact(checker.toolIDs)
	for _, agent := range c.Agents {
		tools := toolsOf(agent, byID)
		checker.tools[agent] = tools
		for _, tool := range tools {
			checker.used[tool] = true
			if tool.Input != nil {
				checker.usedInputs[tool.Input.FullName] = true
			}
		}
	}
	return checker
}

// toolsOf returns the tools that the agent uses and those whose id it requires,
// as a reader meets them.
func toolsOf(agent *contract.Agent, byID map[string][]*contract.Tool) []*contract.Tool {
	tools := slices.Clone(agent.Tools)
	seen := make(map[*contract.Tool]bool, len(tools))
	for _, tool := range tools {
		seen[tool] = true
	}
	for _, required := range agent.RequiredToolIDs {
		for _, tool := range byID[required.Value] {
			if !seen[tool] {
				seen[tool] = true
				tools = append(tools, tool)
			}
		}
	}
	return inOrder(tools)
}

// nearest is the candidate that somebody who wrote the name probably meant. It
// gives up after many misses: no one reads that many, and a hostile request must
// not buy time with them.
func (c *checker) nearest(name string, candidates []string) (string, bool) {
	if c.suggestions == 0 {
		return "", false
	}
	c.suggestions--
	return nearest.Of(name, candidates)
}

func (c *checker) report(d diag.Diagnostic) {
	c.diagnostics = append(c.diagnostics, d)
}

// option is the name of an option of the annotations as a proto file writes it.
func (c *checker) option(name string) string {
	return "(" + c.parameters.AnnotationsPackage + "." + name + ")"
}

// roleOption is the statement that gives a message a role.
func (c *checker) roleOption(role contract.Role) string {
	return fmt.Sprintf("option %s = { role: %s };", c.option("msg_role"), role)
}

func annotatedMessages(c *contract.Contract) []*contract.Message {
	byName := make(map[string]*contract.Message, len(c.Messages))
	for _, message := range c.Annotated {
		byName[message.FullName] = message
	}
	for name, message := range c.Messages {
		byName[name] = message
	}
	return sortedByName(byName)
}

func sortedByName(messages map[string]*contract.Message) []*contract.Message {
	sorted := make([]*contract.Message, 0, len(messages))
	for _, message := range messages {
		sorted = append(sorted, message)
	}
	slices.SortFunc(sorted, func(a, b *contract.Message) int { return cmp.Compare(a.FullName, b.FullName) })
	return sorted
}

// at is the best of the places, the preferred one first: the first with a line,
// else the first that says anything.
func at(places ...contract.Pos) contract.Pos {
	for _, place := range places {
		if place.Line > 0 {
			return place
		}
	}
	for _, place := range places {
		if place != (contract.Pos{}) {
			return place
		}
	}
	return contract.Pos{}
}

// byPlace orders elements as a reader meets them, so that of two that collide
// the later one is reported and the earlier one noted.
func byPlace(a, b contract.Pos) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Col, b.Col),
		cmp.Compare(a.Element, b.Element),
	)
}

// list prints names, each quoted: "`a`, `b` and `c`".
func list(names []string) string {
	quoted := make([]string, 0, maxListed+1)
	for i, name := range names {
		if i == maxListed {
			quoted = append(quoted, fmt.Sprintf("%d more", len(names)-maxListed))
			break
		}
		quoted = append(quoted, diag.Code(name))
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// simpleName is the last part of a full name.
func simpleName(fullName string) string {
	return fullName[strings.LastIndexByte(fullName, '.')+1:]
}

// words splits a name of any style into lower-case words of letters and digits:
// `WebSearch`, `web-search` and `web search` give "web" and "search".
func words(name string) []string {
	var found []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			found = append(found, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for i := 0; i < len(name); i++ {
		switch b := name[i]; {
		case isUpper(b):
			// A word starts at a capital after a small letter, and at the last
			// capital of an abbreviation: HTTPFetch.
			if i > 0 && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])) {
				flush()
			}
			word.WriteByte(b)
		case isLower(b) || isDigit(b):
			word.WriteByte(b)
		default:
			flush()
		}
	}
	flush()
	return found
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// suggest makes an identifier-like name out of any text: its words from the
// first that starts with a letter, joined, at most max bytes. Empty when the
// text has none.
func suggest(text, separator string, maxLength int) string {
	if len(text) > 4*maxLength {
		text = text[:4*maxLength]
	}
	parts := words(text)
	for len(parts) > 0 && isDigit(parts[0][0]) {
		parts = parts[1:]
	}
	name := strings.Join(parts, separator)
	if len(name) > maxLength {
		name = strings.TrimRight(name[:maxLength], separator)
	}
	return name
}
