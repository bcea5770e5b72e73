package conf

// Version is the name of one protocol version, such as "moq-lite-05".
type Version string

// Choices lists the versions, newest first in each family. A name that ends
// in "-wip" is never on by default.
func (Version) Choices() []string {
	return []string{
		"moq-lite-07-wip", "moq-lite-06", "moq-lite-06-wip", "moq-lite-05", "moq-lite-04", "moq-lite-03", "moq-lite-02", "moq-lite-01",
		"moq-transport-22", "moq-transport-21", "moq-transport-20", "moq-transport-19", "moq-transport-18",
		"moq-transport-17", "moq-transport-16", "moq-transport-15", "moq-transport-14",
	}
}

// Congestion is a family of congestion control: "loss" or "delay".
type Congestion string

// Choices lists both families.
func (Congestion) Choices() []string { return []string{"delay", "loss"} }

// Redirect is what the URI in a GOAWAY may change: the port and scheme only
// ("same-host"), the host too ("follow"), nothing ("ignore").
type Redirect string

// Choices lists the three policies.
func (Redirect) Choices() []string { return []string{"same-host", "follow", "ignore"} }

// Level is the least severe log level that is written.
type Level string

// Choices lists the levels, most severe first. "trace" is as "debug".
func (Level) Choices() []string { return []string{"error", "warn", "info", "debug", "trace"} }

// Format is the form of a log line.
type Format string

// Choices lists the forms.
func (Format) Choices() []string { return []string{"text", "json"} }
