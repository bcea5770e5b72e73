package source

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// locations is where a source reads: files, or one address.
type locations struct {
	files []string // absolute
	url   string
	shown string
}

// Redact returns location as it may be logged: without the query, fragment and credentials of a URL.
func Redact(location string) string {
	scheme, _, ok := strings.Cut(location, "://")
	if !ok {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		return scheme + "://"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func parseLocations(all []string) (at locations, err error) {
	if len(all) == 0 {
		return at, errors.New("source without a location")
	}
	shown := make([]string, 0, len(all))
	for _, l := range all {
		shown = append(shown, Redact(l))
		if err := at.add(l); err != nil {
			return locations{}, fmt.Errorf("location %s: %w", Redact(l), err)
		}
	}
	at.shown = strings.Join(shown, ", ")
	if at.url != "" && len(all) > 1 {
		return locations{}, fmt.Errorf("locations %s: an address cannot be read together with others", at.shown)
	}
	return at, nil
}

func (at *locations) add(location string) error {
	scheme, _, ok := strings.Cut(location, "://")
	switch scheme = strings.ToLower(scheme); {
	case location == "":
		return errors.New("empty")
	case !ok:
		return at.addFile(location)
	case scheme == "file":
		return at.addFileURL(location)
	case scheme == "http", scheme == "https":
		return at.addURL(location)
	default:
		return fmt.Errorf("scheme %q is not file, http or https", scheme)
	}
}

func (at *locations) addFile(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at.files = append(at.files, abs)
	return nil
}

func (at *locations) addFileURL(location string) error {
	u, err := url.Parse(location)
	switch {
	case err != nil:
		return errors.New("not a URL")
	case u.Host != "" && u.Host != "localhost":
		return errors.New("not a local file")
	case u.Path == "":
		return errors.New("no path")
	}
	return at.addFile(u.Path)
}

// addURL does not repeat the parser's error: it quotes the whole URL.
func (at *locations) addURL(location string) error {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return errors.New("not a URL with a host")
	}
	u.Fragment = ""
	at.url = u.String()
	return nil
}
