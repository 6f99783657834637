package langgraph

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRustPattern(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`^[A-Z]{2,3}$`:    `^[A-Z]{2,3}$`,
		`^\d+$`:           `^[0-9]+$`,
		`\W|\S`:           `[^0-9A-Za-z_]|[^\t\n\f\r ]`,
		`[\w.-]+`:         `[0-9A-Za-z_.-]+`,
		`[^\D]`:           `[0-9]`,
		`\p{Greek}\x{41}`: `\p{Greek}\x{41}`,
		`\bfoo\b`:         `(?-u:\b)foo(?-u:\b)`,
		`\\b`:             `\\b`,
		`(?i)abc`:         `(?i:ABC)`,
		`(?:a|b)`:         `(?:a|b)`,
		`a{`:              `a\{`,
		`[a&&b]`:          `[&ab]`,
		`[]a]`:            `[\]a]`,
		`\Qa.b\E`:         `a\.b`,
		`\07`:             `\a`,
		`ß\.`:             `ß\.`,
		`[[:alpha:]]`:     `[A-Za-z]`,
		`(?P<name>a)`:     `(?P<name>a)`,
		`not ( a pattern`: `not ( a pattern`,
		`^a$|^$`:          `^a$|^$`,
	} {
		assert.Equal(t, want, rustPattern(pattern), pattern)
	}
}
