package contract

// IsWellKnown reports whether a full name is that of a well-known type: one of
// google.protobuf that has a JSON form of its own.
func IsWellKnown(fullName string) bool {
	switch fullName {
	case "google.protobuf.Any",
		"google.protobuf.BoolValue",
		"google.protobuf.BytesValue",
		"google.protobuf.DoubleValue",
		"google.protobuf.Duration",
		"google.protobuf.Empty",
		"google.protobuf.FieldMask",
		"google.protobuf.FloatValue",
		"google.protobuf.Int32Value",
		"google.protobuf.Int64Value",
		"google.protobuf.ListValue",
		"google.protobuf.NullValue",
		"google.protobuf.StringValue",
		"google.protobuf.Struct",
		"google.protobuf.Timestamp",
		"google.protobuf.UInt32Value",
		"google.protobuf.UInt64Value",
		"google.protobuf.Value":
		return true
	default:
		return false
	}
}

// IsBuiltIn reports whether every target has a type of its own for the full
// name, so that a contract names it and does not describe it.
func IsBuiltIn(fullName string) bool { return fullName == ChatMessage || IsWellKnown(fullName) }
