// Package corpus holds the articles that the tool server searches.
package corpus

import "embed"

// Files holds an article in each file. A file begins with a front matter of
// `title` and `topics` between two lines of three dashes; its text follows, in
// paragraphs.
//
//go:embed *.md
var Files embed.FS
