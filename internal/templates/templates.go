// Package templates holds the text of the generated files, one template an
// output file.
//
// Templates range, branch and print fields of their view, and nothing else: what
// a field may hold is decided by the types of the views, which only the encoders
// of a language can make.
package templates

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
)

//go:embed all:langgraph
var files embed.FS

var parsed = struct {
	sync.Mutex
	byName map[string]*template.Template
}{byName: map[string]*template.Template{}}

// Render fills a template, named by its path without `.tmpl`, with a view.
func Render(name string, view any) ([]byte, error) {
	t, err := lookup(name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return nil, fmt.Errorf("render template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

func lookup(name string) (*template.Template, error) {
	parsed.Lock()
	defer parsed.Unlock()
	if t, ok := parsed.byName[name]; ok {
		return t, nil
	}
	source, err := files.ReadFile(name + ".tmpl")
	if err != nil {
		return nil, fmt.Errorf("read template %s: %w", name, err)
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(source))
	if err != nil {
		return nil, fmt.Errorf("parse template %s: %w", name, err)
	}
	parsed.byName[name] = t
	return t, nil
}

// Names are the names of the templates in a folder, sorted.
func Names(folder string) ([]string, error) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list templates of %s: %w", folder, err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".tmpl")
	}
	return names, nil
}
