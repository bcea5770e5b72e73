// Package config turns a TOML file, environment variables and command line
// flags into one struct, with one struct field per setting.
//
// A field carries the TOML key in its tag; the flag and the environment name
// follow from the key, or from the flag's tag where it has one, so the three spellings
// cannot drift apart:
//
//	type Quic struct {
//		IdleTimeout time.Duration `key:"idle_timeout" help:"close a silent connection after this long"`
//	}
//
// below a field tagged key:"quic" is the key quic.idle_timeout, the flag
// --quic-idle-timeout and the variable MOQ_QUIC_IDLE_TIMEOUT. Tags:
//
//	key     the TOML key; a struct so tagged is a table
//	flag    the flag without its dashes, "-" for none; the variable follows it
//	help    one line for people
//	reload  "live" when a change needs no restart; on a table, for all below it
//	secret  "yes" hides the value, "url" hides its user info and query
//	inert   on a table: accepted without effect, and why
//
// [New] reads the struct and its defaults once, [Schema.Load] merges the
// sources (flag over environment over file over default, decided key by key:
// an explicit false, 0 or [] is a value) and reports every problem it finds,
// each with its place, what was found and what is accepted. [Report] tells
// where each value came from. Nothing here reads a file or the environment by
// itself: the caller passes both as functions.
package config
