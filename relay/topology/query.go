package topology

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// How many broadcasts are listed.
const (
	DefaultLimit = 1000
	MaxLimit     = 10_000
)

// Query is what to describe.
type Query struct {
	Prefix string // list the broadcasts at and below it; "" = all
	Limit  int    // at most so many, 1 to MaxLimit
	Why    string // explain this one; "" = none
}

// ParseQuery reads the query of a URL: prefix, limit and why, each at most once;
// format is the caller's. The error names what is wrong with it.
func ParseQuery(values url.Values) (q Query, err error) {
	q.Limit = DefaultLimit
	for field, list := range values {
		if len(list) != 1 {
			return q, fmt.Errorf("%s is given %d times", strconv.Quote(field), len(list))
		}
		switch value := list[0]; field {
		case "prefix":
			q.Prefix, err = wire.CleanPath(value)
		case "why":
			q.Why, err = wire.CleanPath(value)
		case "limit":
			q.Limit, err = strconv.Atoi(value)
			if err != nil || q.Limit < 1 || q.Limit > MaxLimit {
				err = fmt.Errorf("want 1 to %d", MaxLimit)
			}
		case "format":
		default:
			return q, fmt.Errorf("unknown field: %s", strconv.Quote(field))
		}
		if err != nil {
			return q, fmt.Errorf("invalid %s: %w", field, err)
		}
	}
	return q, nil
}

// Values is q as the query of a URL.
func (q Query) Values() url.Values {
	v := url.Values{}
	for field, value := range map[string]string{"prefix": q.Prefix, "why": q.Why} {
		if value != "" {
			v.Set(field, value)
		}
	}
	if q.Limit != DefaultLimit {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}
