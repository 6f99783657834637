// Package gen is the generator: it takes a request through its steps, from the
// parameters over the contract and its rules to the files of a target. The steps
// themselves are in the packages below.
package gen

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bufbuild/protoplugin"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/rules"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/version"
)

// NewHandler makes the plugin of the targets. It must be run with the options of
// RunOptions.
func NewHandler(targets Targets) protoplugin.Handler {
	return protoplugin.HandlerFunc(func(
		_ context.Context, env protoplugin.PluginEnv, response protoplugin.ResponseWriter, request protoplugin.Request,
	) (err error) {
		// What the plugin supports comes first: without it, compilers report that
		// instead of the mistakes that follow.
		response.SetFeatureProto3Optional()
		response.SetFeatureSupportsEditions(descriptorpb.Edition_EDITION_PROTO2, source.MaximumEdition)
		defer func() {
			if reason := recover(); reason != nil {
				_, _ = env.Stderr.Write(debug.Stack())
				err = internalError(fmt.Errorf("panic: %v", reason))
			}
		}()
		files, diagnostics, err := generate(targets, request)
		if err != nil {
			return internalError(err)
		}
		if len(diagnostics) > 0 {
			response.AddError(diag.Render(diagnostics))
			return nil
		}
		for _, file := range files {
			response.AddFile(file.Name, file.Content)
		}
		return nil
	})
}

// RunOptions are the options that the handler needs from protoplugin.
func RunOptions() []protoplugin.RunOption {
	return []protoplugin.RunOption{
		protoplugin.WithVersion(version.String()),
		protoplugin.WithExtensionTypeResolver(source.Resolver{}),
	}
}

func internalError(err error) error {
	return fmt.Errorf("internal error in %s, please report it with the files that cause it: %w", version.String(), err)
}

// generate gives the files of a request, sorted by name, or the mistakes in it.
func generate(targets Targets, request protoplugin.Request) ([]emit.File, []diag.Diagnostic, error) {
	p, diagnostics := params.Parse(request.Parameter())
	if len(diagnostics) > 0 {
		return nil, diagnostics, nil
	}
	emitter := targets[p.Target]
	if emitter == nil {
		return nil, []diag.Diagnostic{unavailable(targets, p.Target)}, nil
	}
	view, diagnostics := source.Open(request.CodeGeneratorRequest(), p.AnnotationsPackage)
	if len(diagnostics) > 0 {
		return nil, diagnostics, nil
	}
	c, diagnostics := contract.Build(view, p)
	if stripped, found := view.Stripped(); found {
		diagnostics = append(diagnostics, stripped)
	} else if len(c.Agents) == 0 && !p.AllowEmpty {
		diagnostics = append(diagnostics, view.NoAgent())
	}
	diagnostics = append(diagnostics, rules.Check(c, p)...)
	if len(diagnostics) > 0 || len(c.Agents) == 0 {
		return nil, diagnostics, nil
	}
	files, err := emitter.Emit(c, p)
	if err != nil {
		return nil, nil, fmt.Errorf("target %s: %w", p.Target, err)
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b emit.File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil, checkFiles(files)
}

func unavailable(targets Targets, target string) diag.Diagnostic {
	names := make([]string, 0, len(targets))
	for name := range targets {
		names = append(names, diag.Code(name))
	}
	slices.Sort(names)
	return diag.New(diag.TargetUnavailable, diag.Pos{},
		"the target %s is not available in this version of the plugin", diag.Code(target)).
		WithHelp("the available targets are %s", strings.Join(names, ", "))
}

var safeOutputName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)

// checkFiles is the last guard before files leave the plugin: whatever the rules
// and the target let through, nothing is written outside the output directory,
// and no file over another.
func checkFiles(files []emit.File) error {
	seen := map[string]string{}
	for _, file := range files {
		if !safeOutputName.MatchString(file.Name) || strings.Contains(file.Name, "..") {
			return fmt.Errorf("the generated file name %q is not safe", file.Name)
		}
		if !utf8.ValidString(file.Content) {
			return fmt.Errorf("the generated file %q is not UTF-8", file.Name)
		}
		folded := strings.ToLower(file.Name)
		if other, found := seen[folded]; found {
			return fmt.Errorf("the generated files %q and %q have the same name", other, file.Name)
		}
		seen[folded] = file.Name
	}
	return nil
}
