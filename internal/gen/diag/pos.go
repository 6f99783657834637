package diag

// Pos is a place in a proto file. Line and Col are 1-based; zero means that the
// request has no source information for the element.
type Pos struct {
	Path string
	Line int
	Col  int
	// Element is the full name of the protobuf element at the position.
	Element string
}
