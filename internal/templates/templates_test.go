package templates

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"github.com/stretchr/testify/require"
)

// TestTemplatesOnlyPrintFields keeps decisions and encodings out of templates.
func TestTemplatesOnlyPrintFields(t *testing.T) {
	seen := 0
	require.NoError(t, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		seen++
		require.True(t, strings.HasSuffix(path, ".tmpl"), path)
		source, err := files.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, scan(path, string(source)))
		return nil
	}))
	require.NotZero(t, seen)
}

func TestScanRefuses(t *testing.T) {
	for _, source := range []string{
		`{{printf "%s" .X}}`, `{{.X | html}}`, `{{$x := .X}}`, `{{range $i, $x := .X}}{{end}}`, `{{template "x"}}`,
		`{{define "x"}}{{end}}`, `{{block "x" .}}{{end}}`, `{{if eq .X 1}}{{end}}`, `{{"x"}}`, `{{1}}`, `{{.X 1}}`, `{{(.X).Y}}`, `{{len .X}}`, `{{break}}`,
	} {
		require.Error(t, scan("test", source), source)
	}
	require.NoError(t, scan("test", `a {{- range .X}}{{if .Y}}{{.Z.W}}{{else}}{{$.A}}{{end}}{{end}}{{with .B}}{{.}}{{else with .C}}{{.}}{{end}}{{/* c */}}`))
}

func scan(name, source string) error {
	t, err := template.New(name).Parse(source)
	if err != nil {
		return err
	}
	if len(t.Templates()) > 1 {
		return fmt.Errorf("%s defines templates", name)
	}
	if t.Tree == nil || t.Root == nil {
		return fmt.Errorf("%s is empty", name)
	}
	return scanNode(name, t.Root)
}

func scanNode(name string, node parse.Node) error {
	switch node := node.(type) {
	case *parse.ListNode:
		if node == nil {
			return nil
		}
		for _, child := range node.Nodes {
			if err := scanNode(name, child); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode, *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return scanPipe(name, node.Pipe)
	case *parse.IfNode:
		return scanBranch(name, &node.BranchNode)
	case *parse.RangeNode:
		return scanBranch(name, &node.BranchNode)
	case *parse.WithNode:
		return scanBranch(name, &node.BranchNode)
	default:
		return fmt.Errorf("%s: %s is not allowed", name, node)
	}
}

func scanBranch(name string, branch *parse.BranchNode) error {
	if err := scanPipe(name, branch.Pipe); err != nil {
		return err
	}
	if err := scanNode(name, branch.List); err != nil {
		return err
	}
	return scanNode(name, branch.ElseList)
}

func scanPipe(name string, pipe *parse.PipeNode) error {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return fmt.Errorf("%s: %s is not the name of a field", name, pipe)
	}
	switch arg := pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode, *parse.DotNode:
		return nil
	case *parse.VariableNode:
		if arg.Ident[0] == "$" {
			return nil
		}
	}
	return fmt.Errorf("%s: %s is not the name of a field", name, pipe)
}
