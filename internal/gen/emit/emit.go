// Package emit is the seam between the generator and its targets.
package emit

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

// File is a generated file.
type File struct {
	// Name is the path of the file below the output directory, slash-separated,
	// relative and clean.
	Name    string
	Content string
}

// Emitter turns a contract without errors into the files of a target.
//
// An emitter is a pure function: equal contracts and parameters give equal
// files. The order of the files does not matter.
type Emitter interface {
	Emit(c *contract.Contract, p params.Parameters) ([]File, error)
}
