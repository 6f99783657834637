// Package nearest finds what somebody who mistyped a name probably meant.
package nearest

import (
	"slices"
	"strings"
)

// maxLength bounds the names that are compared, because a comparison takes time
// proportional to the product of the lengths.
const maxLength = 128

// Of returns the candidate that is nearest to the name, and whether one is near
// enough to be suggested. Case and the difference between `-`, `_` and `.` do
// not count. Of candidates that are equally near the alphabetically first wins,
// so the order of the candidates has no influence.
func Of(name string, candidates []string) (string, bool) {
	if name == "" || len(name) > maxLength {
		return "", false
	}
	folded := fold(name)
	limit := limit(folded)
	best, bestDistance := "", limit+1
	for _, candidate := range candidates {
		if candidate == "" || candidate == name || len(candidate) > maxLength {
			continue
		}
		distance := Distance(folded, fold(candidate), limit)
		if distance < bestDistance || distance == bestDistance && best != "" && candidate < best {
			best, bestDistance = candidate, distance
		}
	}
	return best, best != ""
}

// limit is the largest distance at which a suggestion still helps: a third of
// the name, so that short names need a close match, and never many edits.
func limit(name string) int {
	return min(max(1, len(name)/3), 4)
}

var separators = strings.NewReplacer("-", "_", ".", "_")

func fold(name string) string {
	return separators.Replace(strings.ToLower(name))
}

// Distance is the number of edits that turn a into b: insertions, deletions,
// substitutions of a byte and swaps of two neighbours, no byte edited twice.
// Distances above the limit are not told apart: they are limit+1.
func Distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	// Three rows of the dynamic programme: a swap looks two rows back.
	width := len(b) + 1
	cells := make([]int, 3*width)
	before, previous, current := cells[:width], cells[width:2*width], cells[2*width:]
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		// An edit path passes every row, or leaps over one with a swap.
		if slices.Min(current) > limit && slices.Min(previous) > limit {
			return limit + 1
		}
		before, previous, current = previous, current, before
	}
	return min(previous[len(b)], limit+1)
}
