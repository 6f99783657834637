package contract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Mandatory reports whether the rules of a field refuse a message that does not
// set it. Expressions are not evaluated: they are taken to allow it.
//
// The enum is that of the field's type, nil for any other type.
func (f *Field) Mandatory(enum *Enum) bool {
	r := f.Rules
	switch {
	case f.Presence == Required:
		return true
	case r == nil || r.Ignore == IgnoreAlways:
		return false
	case r.Required:
		return true
	case f.Presence == Explicit || r.Ignore == IgnoreZero:
		return false
	default:
		return !r.allowZero(zeroNumber(enum))
	}
}

// AllowNumber reports whether the rules of an enum allow a number.
func (r *Rules) AllowNumber(number int64) bool {
	return r == nil || r.Type != "enum" || r.allowValue(number)
}

// zeroNumber is the number of an enum's zero value.
func zeroNumber(enum *Enum) int64 {
	if enum == nil || !enum.Closed || len(enum.Values) == 0 {
		return 0
	}
	return int64(enum.Values[0].Number)
}

// allowZero reports whether the standard rules of a set allow the zero value.
func (r *Rules) allowZero(zeroEnum int64) bool {
	switch r.Type {
	case "repeated", "map":
		return r.atMost("min_items", 0) && r.atMost("min_pairs", 0)
	case "string":
		return r.allowText("")
	case "bytes":
		return r.allowText([]byte{})
	case "bool":
		return r.allowValue(false)
	case "enum":
		return r.allowValue(zeroEnum)
	case "float":
		return r.allowValue(float32(0)) && inRange(r, float32(0))
	case "double":
		return r.allowValue(float64(0)) && inRange(r, float64(0))
	case "uint32", "uint64", "fixed32", "fixed64":
		return r.allowValue(uint64(0)) && inRange(r, uint64(0))
	case "int32", "int64", "sint32", "sint64", "sfixed32", "sfixed64":
		return r.allowValue(int64(0)) && inRange(r, int64(0))
	default:
		return true
	}
}

// atMost reports whether a rule is a number up to a limit, or missing.
func (r *Rules) atMost(name string, limit uint64) bool {
	rule := r.Find(name)
	if rule == nil {
		return true
	}
	number, _ := rule.Value.(uint64)
	return number <= limit
}

// allowValue applies const, in and not_in.
func (r *Rules) allowValue(zero any) bool {
	equal := func(value any) bool { return same(value, zero) }
	for _, rule := range r.Standard {
		switch values, _ := rule.Value.([]any); {
		case rule.Name == "const" && !equal(rule.Value),
			rule.Name == "in" && !slices.ContainsFunc(values, equal),
			rule.Name == "not_in" && slices.ContainsFunc(values, equal):
			return false
		}
	}
	return true
}

func same(a, b any) bool {
	if left, ok := a.([]byte); ok {
		right, ok := b.([]byte)
		return ok && string(left) == string(right)
	}
	return a == b
}

// allowText applies the rules of an empty text, or of no bytes.
func (r *Rules) allowText(zero any) bool {
	for _, rule := range r.Standard {
		switch rule.Name {
		case "len", "min_len", "len_bytes", "min_bytes":
			if !r.atMost(rule.Name, 0) {
				return false
			}
		case "pattern":
			text, _ := rule.Value.(string)
			if pattern, err := regexp.Compile(text); err == nil && !pattern.MatchString("") {
				return false
			}
		case "prefix", "suffix", "contains":
			if !same(rule.Value, zero) {
				return false
			}
		case "well_known_regex":
			// The name of a header is not empty, its value may be.
			if rule.Value == int64(1) {
				return false
			}
		case "uri_ref", "strict":
		default:
			// The forms of text, none of which is empty.
			if rule.Value == true && !strings.HasPrefix(rule.Name, "[") {
				return false
			}
		}
	}
	return r.allowValue(zero)
}

// inRange applies lt, lte, gt and gte: where the ends are swapped, what lies
// outside of them is allowed.
func inRange[T cmp.Ordered](r *Rules, zero T) bool {
	var above, below *bool
	var low, high T
	for _, rule := range r.Standard {
		bound, ok := rule.Value.(T)
		if !ok {
			continue
		}
		allowed := false
		switch rule.Name {
		case "gt":
			allowed, low, above = zero > bound, bound, &allowed
		case "gte":
			allowed, low, above = zero >= bound, bound, &allowed
		case "lt":
			allowed, high, below = zero < bound, bound, &allowed
		case "lte":
			allowed, high, below = zero <= bound, bound, &allowed
		}
	}
	switch {
	case above == nil && below == nil:
		return true
	case above == nil:
		return *below
	case below == nil:
		return *above
	case high < low:
		return *above || *below
	default:
		return *above && *below
	}
}

// IsOutside reports whether the rules of a number or a time allow what lies
// outside of their ends: the upper one is the lower number.
func (r *Rules) IsOutside() bool {
	low, high := r.Find("gt"), r.Find("lt")
	if low == nil {
		low = r.Find("gte")
	}
	if high == nil {
		high = r.Find("lte")
	}
	if low == nil || high == nil {
		return false
	}
	switch a := low.Value.(type) {
	case int64:
		b, ok := high.Value.(int64)
		return ok && b < a
	case uint64:
		b, ok := high.Value.(uint64)
		return ok && b < a
	case float32:
		b, ok := high.Value.(float32)
		return ok && b < a
	case float64:
		b, ok := high.Value.(float64)
		return ok && b < a
	case Duration:
		b, ok := high.Value.(Duration)
		return ok && cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Nanos, a.Nanos)) < 0
	case Timestamp:
		b, ok := high.Value.(Timestamp)
		return ok && cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Nanos, a.Nanos)) < 0
	default:
		return false
	}
}
