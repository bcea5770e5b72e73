// Package route decides which way a relay pulls each broadcast, and which way it
// tells its readers of.
package route
