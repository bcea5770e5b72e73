package cluster

import (
	"net/url"
	"strings"
)

// redact takes secrets out of a message that others wrote.
func redact(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "(hidden)")
			s = strings.ReplaceAll(s, url.QueryEscape(secret), "(hidden)")
		}
	}
	const longest = 512
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return s
}
