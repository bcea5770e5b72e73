package transport

import "github.com/moqmesh/moqmesh/moq/wire/lite"

// ALPNs lists the protocol names of versions, in their order, each once: 01 and
// 02 share one.
func ALPNs(versions []lite.Version) []string {
	var names []string
	seen := make(map[string]bool)
	for _, v := range versions {
		if name := v.ALPN(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// Legacy picks the versions that SETUP negotiates.
func Legacy(versions []lite.Version) []lite.Version {
	legacy := []lite.Version{}
	for _, v := range versions {
		if v <= lite.V02 {
			legacy = append(legacy, v)
		}
	}
	return legacy
}

// Finished are the versions offered unless told otherwise, best first.
var Finished = []lite.Version{lite.V06, lite.V05, lite.V04, lite.V03, lite.V02, lite.V01}

// VersionOf is the version an ALPN names; zero for the empty name, which leaves
// it to SETUP.
func VersionOf(alpn string) (lite.Version, error) {
	if alpn == "" {
		return 0, nil
	}
	return lite.ParseVersion(alpn)
}
