package params

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/nearest"
)

// A parameter knows its key and how its value is checked and stored.
type parameter struct {
	key string
	// accepts says in words which values there are.
	accepts string
	// set stores the value; it returns what is wrong with the value, or "".
	set func(p *Parameters, value string) (problem string)
	// values are the valid values where there is a list of them.
	values []string
}

// parameters lists every parameter, in the order of the documentation.
func parameters() []parameter {
	return []parameter{
		choice("target", func(p *Parameters) *string { return &p.Target },
			TargetLangGraph, TargetEino, TargetContract),
		{
			key:     "annotations_package",
			accepts: "a proto package such as " + diag.Code(DefaultAnnotationsPackage),
			set: func(p *Parameters, value string) string {
				p.AnnotationsPackage = value
				return dottedProblem(value)
			},
		},
		pythonPackage("generated_package", func(p *Parameters) *string { return &p.GeneratedPackage }),
		pythonPackage("impl_package", func(p *Parameters) *string { return &p.ImplPackage }),
		{
			key:     "sdk_package",
			accepts: "a Python package such as `acme.sdk`, or nothing",
			set: func(p *Parameters, value string) string {
				p.SDKPackage = value
				if value == "" {
					return ""
				}
				return PackageProblem(value)
			},
		},
		choice("tools", func(p *Parameters) *string { return &p.Tools }, ToolsRequired, ToolsAll),
		choice("layout", func(p *Parameters) *string { return &p.Layout }, LayoutPackage, LayoutDotted),
		choice("starters", func(p *Parameters) *string { return &p.Starters }, StartersTemplates, StartersOnly),
		{
			key:     "providers",
			accepts: list(Providers(), "or") + ", or several of them with `+` between",
			values:  Providers(),
			set: func(p *Parameters, value string) string {
				for provider := range strings.SplitSeq(value, "+") {
					if !slices.Contains(Providers(), provider) {
						return "has a part that is not " + list(Providers(), "or")
					}
					if !slices.Contains(p.Providers, provider) {
						p.Providers = append(p.Providers, provider)
					}
				}
				return ""
			},
		},
		{
			key:     "allow_empty",
			accepts: "`true` or `false`",
			values:  []string{"true", "false"},
			set: func(p *Parameters, value string) string {
				p.AllowEmpty = value == "true"
				if value == "true" || value == "false" {
					return ""
				}
				return "is not `true` or `false`"
			},
		},
	}
}

func choice(key string, field func(*Parameters) *string, values ...string) parameter {
	return parameter{
		key:     key,
		accepts: list(values, "or"),
		values:  values,
		set: func(p *Parameters, value string) string {
			if !slices.Contains(values, value) {
				return "is not " + list(values, "or")
			}
			*field(p) = value
			return ""
		},
	}
}

func pythonPackage(key string, field func(*Parameters) *string) parameter {
	return parameter{
		key:     key,
		accepts: "a Python package, in which `{agent}` stands for the agent id as an identifier",
		set: func(p *Parameters, value string) string {
			*field(p) = value
			// Every agent id becomes lower-case letters, digits and `_`, so one
			// letter shows whether the rest of the template is right.
			return PackageProblem(strings.ReplaceAll(value, agentPlaceholder, "a"))
		},
	}
}

// Parse reads a parameter string: `key=value` pairs, separated by commas. It
// reports everything that is wrong with it; then the parameters are not usable.
//
// Empty pairs are ignored: build tools leave them behind when they join options.
func Parse(text string) (Parameters, []diag.Diagnostic) {
	p := Default()
	known := parameters()
	seen := map[string]bool{}
	var diagnostics []diag.Diagnostic
	report := func(help, format string, args ...any) {
		diagnostics = append(diagnostics, diag.New(diag.BadParameter, diag.Pos{}, format, args...).WithHelp("%s", help))
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		key, value, hasValue := strings.Cut(pair, "=")
		i := slices.IndexFunc(known, func(k parameter) bool { return k.key == key })
		if i < 0 {
			report(suggestion(key, keys(known), "the parameters are "+list(keys(known), "and")),
				"unknown parameter %s", diag.Code(key))
			continue
		}
		if seen[key] {
			report("give it once", "parameter %s is given more than once", diag.Code(key))
			continue
		}
		seen[key] = true
		if !hasValue {
			report(fmt.Sprintf("write `%s=VALUE`: %s", key, known[i].accepts),
				"parameter %s has no value", diag.Code(key))
			continue
		}
		if problem := known[i].set(&p, value); problem != "" {
			report(suggestion(value, known[i].values, fmt.Sprintf("%s takes %s", diag.Code(key), known[i].accepts)),
				"parameter %s: the value %s %s", diag.Code(key), diag.Code(value), problem)
		}
	}
	if len(diagnostics) == 0 && p.GeneratedPackage == p.ImplPackage {
		report("give them different names, or leave both out: the defaults are `{agent}_generated` and `{agent}`",
			"`generated_package` and `impl_package` are both %s, so that generated files would hide the files that people own",
			diag.Code(p.GeneratedPackage))
	}
	return p, diagnostics
}

func suggestion(name string, candidates []string, otherwise string) string {
	if found, ok := nearest.Of(name, candidates); ok {
		return fmt.Sprintf("did you mean %s? %s", diag.Code(found), otherwise)
	}
	return otherwise
}

func keys(known []parameter) []string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.key
	}
	return names
}

func list(values []string, conjunction string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = diag.Code(value)
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " " + conjunction + " " + quoted[last]
}

// maxPackageLength keeps package names, which become paths and imports, within
// what file systems take.
const maxPackageLength = 200

// PackageProblem says why a name is not a Python package, such as `acme.agents`,
// in words that continue "the name ..."; it returns "" when it is one.
func PackageProblem(name string) string {
	if problem := dottedProblem(name); problem != "" {
		return problem
	}
	for part := range strings.SplitSeq(name, ".") {
		if slices.Contains(pythonKeywords(), part) {
			return fmt.Sprintf("contains the Python keyword %s", diag.Code(part))
		}
	}
	return ""
}

// dottedProblem says why a name is not a dotted identifier, or "".
func dottedProblem(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxPackageLength:
		return fmt.Sprintf("is longer than %d characters", maxPackageLength)
	}
	for part := range strings.SplitSeq(name, ".") {
		switch {
		case part == "":
			return "has an empty part"
		case !isIdentifier(part):
			return fmt.Sprintf("is not made of identifiers and dots: %s is no identifier", diag.Code(part))
		}
	}
	return ""
}

func isIdentifier(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// pythonKeywords are the words that Python refuses in an import.
func pythonKeywords() []string {
	return []string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
		"continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
		"if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
		"try", "while", "with", "yield",
	}
}
