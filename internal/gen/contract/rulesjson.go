package contract

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
)

type jsonRules struct {
	Required bool             `json:"required,omitempty"`
	Ignore   Ignore           `json:"ignore,omitempty"`
	Type     string           `json:"type,omitempty"`
	Standard []jsonRule       `json:"standard,omitempty"`
	CEL      []jsonExpression `json:"cel,omitempty"`
	Items    *jsonRules       `json:"items,omitempty"`
	Keys     *jsonRules       `json:"keys,omitempty"`
	Values   *jsonRules       `json:"values,omitempty"`
}

type jsonRule struct {
	Name string `json:"name"`
	// Value is in the form of ProtoJSON.
	Value any              `json:"value"`
	CEL   []jsonExpression `json:"cel,omitempty"`
}

type jsonExpression struct {
	ID         string `json:"id,omitempty"`
	Message    string `json:"message,omitempty"`
	Expression string `json:"expression"`
}

type jsonMessageRules struct {
	CEL    []jsonExpression `json:"cel,omitempty"`
	Oneofs []jsonOneofRule  `json:"oneofs,omitempty"`
}

type jsonOneofRule struct {
	Fields   []string `json:"fields"`
	Required bool     `json:"required,omitempty"`
}

func rulesJSON(r *Rules) *jsonRules {
	if r == nil {
		return nil
	}
	return &jsonRules{
		Required: r.Required,
		Ignore:   r.Ignore,
		Type:     r.Type,
		Standard: convert(r.Standard, func(r Rule) jsonRule {
			return jsonRule{Name: r.Name, Value: protoJSON(r.Value), CEL: convert(r.CEL, expressionJSON)}
		}),
		CEL:    convert(r.CEL, expressionJSON),
		Items:  rulesJSON(r.Items),
		Keys:   rulesJSON(r.Keys),
		Values: rulesJSON(r.Values),
	}
}

func messageRulesJSON(r *MessageRules) *jsonMessageRules {
	if r == nil {
		return nil
	}
	return &jsonMessageRules{
		CEL: convert(r.CEL, expressionJSON),
		Oneofs: convert(r.Oneofs, func(o OneofRule) jsonOneofRule {
			return jsonOneofRule{Fields: o.Fields, Required: o.Required}
		}),
	}
}

func expressionJSON(e Expression) jsonExpression {
	return jsonExpression{ID: e.ID, Message: e.Message, Expression: e.Expression}
}

// protoJSON is the value of a rule as ProtoJSON writes it.
func protoJSON(value any) any {
	switch value := value.(type) {
	case []any:
		return convert(value, protoJSON)
	case int64:
		return strconv.FormatInt(value, 10)
	case uint64:
		return strconv.FormatUint(value, 10)
	case float32:
		if special := specialFloat(float64(value)); special != "" {
			return special
		}
		return value
	case float64:
		if special := specialFloat(value); special != "" {
			return special
		}
		return value
	case []byte:
		return base64.StdEncoding.EncodeToString(value)
	case Duration:
		return value.String()
	case Timestamp:
		return value.String()
	case Paths:
		return strings.Join(value, ",")
	default:
		return value
	}
}

func specialFloat(value float64) string {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 1):
		return "Infinity"
	case math.IsInf(value, -1):
		return "-Infinity"
	default:
		return ""
	}
}

// String is the form of ProtoJSON, such as `1.5s`.
func (d Duration) String() string {
	sign := ""
	seconds, nanos := d.Seconds, d.Nanos
	if seconds < 0 || nanos < 0 {
		sign, seconds, nanos = "-", -seconds, -nanos
	}
	return sign + strconv.FormatInt(seconds, 10) + fraction(nanos) + "s"
}

// String is the form of ProtoJSON, such as `2024-05-01T12:00:00Z`.
func (t Timestamp) String() string {
	return time.Unix(t.Seconds, 0).UTC().Format("2006-01-02T15:04:05") + fraction(t.Nanos) + "Z"
}

// fraction is a number of nanoseconds with 0, 3, 6 or 9 digits.
func fraction(nanos int32) string {
	if nanos == 0 {
		return ""
	}
	digits := strconv.FormatInt(1_000_000_000+int64(nanos), 10)[1:]
	for strings.HasSuffix(digits, "000") {
		digits = digits[:len(digits)-3]
	}
	return "." + digits
}
