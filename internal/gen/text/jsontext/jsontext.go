// Package jsontext prints JSON files.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Document is a whole JSON file.
type Document struct{ source []byte }

// Bytes returns the file.
func (d Document) Bytes() []byte { return d.source }

// Of is a value as a JSON file: two spaces of indentation, a line break at the
// end, keys in the order of the struct or sorted. Characters that HTML or
// JavaScript reads in its own way are escaped.
func Of(value any) (Document, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return Document{}, fmt.Errorf("print JSON: %w", err)
	}
	return Document{b.Bytes()}, nil
}
