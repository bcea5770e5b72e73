package auth

import (
	"cmp"
	"slices"
	"strings"
)

// domainPath turns the labels in front of a domain into a path, nearest label
// first: a.b.cdn.example under cdn.example is b/a. domains are as sortDomains
// leaves them. A name under none of them gives "".
func domainPath(name string, domains []string) string {
	name = canonicalHost(name)
	for _, domain := range domains {
		if name == domain {
			return ""
		}
		if front, ok := strings.CutSuffix(name, "."+domain); ok {
			labels := strings.Split(front, ".")
			slices.Reverse(labels)
			return strings.Join(labels, "/")
		}
	}
	return ""
}

// sortDomains puts longer domains first, so that the first match is the nearest.
func sortDomains(domains []string) []string {
	out := make([]string, len(domains))
	for i, d := range domains {
		out[i] = canonicalHost(d)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

func canonicalHost(name string) string {
	return strings.Trim(strings.ToLower(name), ".")
}
